"""Tests for runs that start from a store: equal replications, days counted from its last day, and its recorded hash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from malsim import api
from malsim.base.errors import DataError, ScenarioError
from malsim.cli import main
from malsim.lab.studies.comparison import compare
from malsim.memory import Memory, admit, tick
from malsim.memory.gate.edit import annex
from malsim.memory.graph.replicate import replicated
from malsim.memory.push.ten_cells import WRITER
from malsim.memory.store import Store
from malsim.scenario.file.scenario_file import read
from malsim.scenario.rerun import rerun
from malsim.sim import bench

STALE = Path(__file__).parents[2] / "scenarios" / "stale_in_ninety_days.toml"


def claim(name: str, **more: Any) -> dict[str, Any]:
    return {"handle": f"obs_{name}", "writer": "ann", "title": f"claim {name}", "confidence": 0.7, **more}


def stored(path: Path) -> Memory:
    """Write a store with three cells, last ticked on day 20, and return its memory."""
    with Store(path) as store:
        store.admit([claim("aaaa", t=2.0, stability="volatile"), claim("bbbb", t=5.0, writer="ben", reverify=30.0)])
        edges = [{"relation": "contradicts", "target": "obs_aaaa"}, {"relation": "supersedes", "target": "obs_bbbb"}]
        store.admit([claim("cccc", t=12.0, writer="cyd", edges=edges)])
        store.save(annex(store.memory, "obs_cccc"), t=15.0)
        return store.tick(20.0)


def scenario(folder: Path, memory: str, more: str = "") -> Path:
    path = folder / "s.toml"
    path.write_text(f'why = "w"\n[memory]\n{memory}\n[run]\ndays = 4\nreplications = 3\n{more}', encoding="utf-8")
    return path


def test_run_continues_from_a_store(tmp_path: Path) -> None:
    memory = stored(tmp_path / "m.sqlite")
    run = bench.run(read(scenario(tmp_path, 'from = "m.sqlite"')))
    alone = memory
    for day in range(1, 5):
        alone = tick(alone, 20.0 + day)
    for rep in range(3):
        ours = run.memory.cells.filter(pl.col("rep") == rep)
        names = ["handle", "effective", "currency", "salience", "status", "version", "support_mass"]
        assert_frame_equal(ours.select(names), alone.cells.select(names), check_exact=False, abs_tol=1e-12, rel_tol=0.0)
        assert ours["created"].to_list() == [-18.0, -15.0, -8.0]
        assert ours["reverify"].to_list() == [None, 10.0, None]
        assert run.memory.head("obs_bbbb", rep=rep) == "obs_cccc"
    assert run.why("obs_aaaa", 2.0).startswith("obs_aaaa is worth")
    assert run.cells["t"].unique().sort().to_list() == [1.0, 2.0, 3.0, 4.0]


def test_claims_interact_with_cells_of_the_store(tmp_path: Path) -> None:
    stored(tmp_path / "m.sqlite")
    value = """[[claim]]
at = "1d"
writer = "dee"
handle = "obs_dddd"
title = "no"
confidence = 0.7
edges = [{ relation = "contradicts", target = "obs_aaaa" }]
"""
    run = bench.run(read(scenario(tmp_path, 'from = "m.sqlite"', value)))
    eff = run.cells.filter((pl.col("cell") == "obs_aaaa") & (pl.col("rep") == 1))["effective"].to_list()
    assert eff[0] == pytest.approx(0.7)
    assert eff[2] == pytest.approx(0.7 - 0.6 * pl.Series([0.7]).tanh()[0])


def test_rerun_requires_the_recorded_store(tmp_path: Path) -> None:
    stored(tmp_path / "m.sqlite")
    run = api.run(scenario(tmp_path, 'from = "m.sqlite"'))
    written = run.write(tmp_path / "out")[-1]
    assert list(json.loads(written.read_text())["stores"]) == ["m.sqlite"]
    assert rerun(written).same
    with Store(tmp_path / "m.sqlite") as store:
        store.tick(21.0)
    with pytest.raises(ScenarioError, match="the store is not the one that the recorded run used"):
        rerun(written)


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ('from = "gone.sqlite"', "memory.from: no such store"),
        ('from = "../m.sqlite"', "outside its scenario's folder"),
        ('from = "/etc/hostname"', "outside its scenario's folder"),
        ('from = "s.toml"', "not a memory in a known format"),
        ('primed_by = "inner"', "memory.primed_by: not a memory in a known format"),
        ('from = ""', "memory.from"),
        ('store = "m.sqlite"', "unknown key 'store'"),
    ],
)
def test_invalid_store_is_refused_with_its_line(tmp_path: Path, memory: str, message: str) -> None:
    (tmp_path / "inner").mkdir()
    stored(tmp_path / "m.sqlite")
    with pytest.raises(ScenarioError) as caught:
        read(scenario(tmp_path / "inner" if "../" in memory else tmp_path, memory))
    assert message in str(caught.value)
    assert "s.toml:3" in str(caught.value)


def test_priming_cells_get_default_confidence_and_are_unverified(tmp_path: Path) -> None:
    with Store(tmp_path / "global.sqlite") as store:
        store.admit([
            claim("aaaa", confidence=1.0, verification="external", object="pump", value=1.0),
            claim("bbbb", sensitivity="secret"),
        ])  # fmt: skip
        store.tick(1.0)
    memory = read(scenario(tmp_path, 'primed_by = "global.sqlite"')).initial_memory
    assert memory
    first = memory.replicate([0, 1], api.read(STALE).rules)
    lent = first.cells.filter(pl.col("handle") == "obs_aaaa")
    assert lent.select("rep", "writer", "object", "value", "stated", "verification", "created").rows() == [
        (rep, WRITER, "pump", 1.0, 0.7, "unverified", 0.0) for rep in (0, 1)
    ]
    # ten built-in cells and one claim per replication; the secret claim is left out
    assert first.cells.group_by("rep").len()["len"].to_list() == [11, 11]
    assert first.cells["writer"].unique().to_list() == [WRITER]
    assert first.edges.is_empty()


def test_primed_reader_acts_immediately_but_makes_errors() -> None:
    cold, primed = (read(STALE.with_name(f"start_{how}.toml")).replace(days=20.0) for how in ("cold", "primed"))
    acted, harm, init = (
        compare(cold, primed, metric=metric, replications=15) for metric in ("acted_share", "harm", "init_share")
    )
    assert (acted.differs, harm.differs, init.differs) == (True, True, True)
    assert acted.difference.low > 0.3
    assert harm.difference.low > 0.0
    assert init.each["a"].to_list() == [0.0] * 15
    assert init.difference.value > 0.5
    assert init.difference.low > 0.3


def test_store_with_several_replications_is_refused(tmp_path: Path) -> None:
    memory = replicated(admit(Memory.empty(), [claim("aaaa")]).memory, [0, 1])
    memory.save(tmp_path / "m.sqlite")
    script = read(scenario(tmp_path, 'from = "m.sqlite"'))
    with pytest.raises(DataError, match="only a memory with a single replication"):
        bench.run(script)


def test_set_option_changes_a_rule_of_a_run_from_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given, ends in (([], "0.493"), (["--set", "rules.challenge_ceiling=0.45"], "0.545")):
        assert main(["run", str(STALE), "-o", str(tmp_path), "--no-plots", *given]) == 0
        assert f"dec_b001         effective settled at {ends}" in capsys.readouterr().out


def test_staleness_figure_shows_each_cell(tmp_path: Path) -> None:
    run = api.run(STALE)
    names = {path.name for path in run.plot.save(tmp_path)}
    assert names == {"effective.png", "currency.png", "staleness.png"}
    value = [text.get_text().strip() for text in run.plot.staleness().axes[0].texts]
    assert value[:4] == ["day 7", "day 9", "day 10", "day 11"]
    assert value[-1] == "still current"
