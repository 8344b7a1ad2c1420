"""Updates within a run: a reader verifies what it acted on and saw to be right, and that reinforces, or does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import malsim as ms

POISONER = str(Path(__file__).parents[2] / "scenarios" / "poisoner.toml")
SCENARIO = ms.read(POISONER).replace(days=20.0, replications=3, record="all")


def made(*, reinforced_by: Any = "update", **changes: Any) -> ms.Run:
    assert SCENARIO.reader
    rules = SCENARIO.rules.replace(reinforced_by=reinforced_by)
    return ms.run(SCENARIO.replace(rules=rules, reader=replace(SCENARIO.reader, **changes)))


def test_reader_verifies_cells_it_found_right() -> None:
    run = made(updates=1.0)
    events = run.events.filter(pl.col("kind") == "updated")
    assert events.height
    assert events["detail"].unique().to_list() == ["verification: tested"]
    cells = run.memory.cells.join(events.select("rep", handle="subject"), on=["rep", "handle"], how="semi")
    assert cells.height
    assert cells["verification"].unique().to_list() == ["tested"]


@pytest.mark.parametrize(("reinforced_by", "touched"), [("update", True), ("nothing", False)])
def test_update_reinforces_under_the_rules(reinforced_by: str, *, touched: bool) -> None:
    run = made(updates=1.0, reinforced_by=reinforced_by)
    events = run.events.filter(pl.col("kind") == "updated").group_by("rep", handle="subject").agg(pl.col("t").max())
    cells = run.memory.cells.join(events, on=["rep", "handle"]).filter(pl.col("t") > pl.col("created"))
    assert cells.height
    assert ((cells["touched"] >= cells["t"]).all(), (cells["touched"] < cells["t"]).all()) == (touched, not touched)


def test_no_updates_change_nothing() -> None:
    assert made().manifest["sha256"] == ms.run(SCENARIO).manifest["sha256"]
    assert not made().events.filter(pl.col("kind") == "updated").height
