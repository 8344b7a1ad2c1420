"""An untrusted source passed on under other names: what laws that count writers make of it, alone and laundered."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from malsim.scenario.file.scenario_file import read
from malsim.sim import bench

LAUNDERING = Path(__file__).parents[2] / "scenarios" / "laundering.toml"
FRESH = 91


def told_right(law: str) -> dict[str, float]:
    """The share of answers told right in the second half, by how the source was passed on."""
    made = read(LAUNDERING).replace(law=law, seed=FRESH, replications=6)
    late = bench.run(made).signals.filter((pl.col("t") > 20.0) & (pl.col("signal") == "right"))
    by = late.group_by(pl.col("row").str.split("-").list.first()).agg(pl.col("value").mean())
    return dict(by.iter_rows())


@pytest.mark.parametrize("law", ["mal", "majority", "last_write", "truthfinder", "mem0_update"])
def test_laundering_succeeds_under_five_laws(law: str) -> None:
    right = told_right(law)
    assert right["alone"] > 0.3
    for way in ("summary", "echo", "corroborated"):
        assert right[way] < right["alone"] - 0.1


def test_summary_has_an_origin_edge_and_tool_echo_has_none() -> None:
    run = bench.run(read(LAUNDERING).replace(replications=1, days=20.0))
    writer = run.memory.cells["writer"]
    edges = run.memory.edges.select("relation", writer=writer.gather(run.memory.edges["source"]))
    told = edges.filter(pl.col("writer").str.starts_with("summary")).select("writer", "relation").unique().rows()
    assert {relation for writer, relation in told if writer != "summary-1"} >= {"derived_from"}
    assert "derived_from" not in {relation for writer, relation in told if writer == "summary-1"}
    echoed = edges.filter(pl.col("writer").str.starts_with("echo"))["relation"].unique().to_list()
    assert set(echoed) <= {"supersedes"}
