"""Tests of output checks, of audits by an external verifier, and of readers that verify cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from scipy import stats

import malsim as ms
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from malsim.sim.record.manifest import digest
from malsim.sim.record.metrics import by_replication

if TYPE_CHECKING:
    import numpy as np

    from malsim.sim.settings.scenario import Scenario

SCENARIO = Path(__file__).parents[2] / "scenarios" / "output_checks.toml"
OFF = {"sure_above": 1.0, "least_sources": 0.0, "reanchor_every": 0.0, "audit_every": 0.0}
FRESH = 77


def guarded(*layers: str, **changes: object) -> Scenario:
    """Return the scenario with a fresh seed and with only the named output checks enabled."""
    made = read(SCENARIO).replace(seed=FRESH, replications=16, days=60.0)
    assert made.reader
    off = {name: value for name, value in OFF.items() if name not in layers}
    return made.replace(reader=replace(made.reader, **off, **changes))  # type: ignore[arg-type]  # settings by name


def harm(*layers: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return by_replication(bench.run(guarded(*layers).replace(record="bands")))["harm"]


def test_output_checks_reduce_harm() -> None:
    none, pattern, every = harm(), harm("sure_above", "least_sources"), harm(*OFF)
    for less in (pattern, every):
        assert stats.ttest_rel(less, none, alternative="less").pvalue < 0.01


def test_banned_values_are_never_released() -> None:
    made = guarded(banned="2", observes=1.0)
    values = {str(value) for fact in made.facts for value in fact.values}
    word = min(values)
    assert made.reader
    run = bench.run(made.replace(reader=replace(made.reader, banned=word), replications=4, record="all"))
    acted = run.events.filter(pl.col("kind") == "acted")
    refused = run.events.filter((pl.col("kind") == "blocked") & pl.col("detail").str.contains("banned word"))
    assert acted.height > 0
    assert refused.height > 0
    text = acted.join(run.labels, left_on=["rep", "subject"], right_on=["rep", "cell"])
    assert text.height > 0
    assert text.filter(pl.col("title").str.ends_with(f" is {word}")).is_empty()


def test_verifier_writes_only_during_audits() -> None:
    run = bench.run(guarded("audit_every").replace(record="all", replications=4))
    value = run.memory.cells.filter(pl.col("writer") == "reviewers")
    assert value.height > 0
    assert (value["verification"] == "external").all()
    assert set(value["created"].to_list()) <= {float(day) for day in range(10, 61, 10)}


def test_perfect_verifier_contradicts_only_false_claims() -> None:
    run = bench.run(guarded("audit_every", audit_accuracy=1.0).replace(record="bands", replications=4))
    blind = bench.run(guarded("audit_every", audit_accuracy=0.0).replace(record="bands", replications=4))
    assert run.counters is not None
    assert blind.counters is not None
    assert (run.counters["audited_wrong"] < run.counters["audited"]).all()
    assert (blind.counters["audited_wrong"] > run.counters["audited_wrong"]).all()


def test_caught_share_is_reported_only_with_output_checks() -> None:
    plain, on = (
        bench.run(guarded(*names).replace(record="all", replications=2, days=20.0)) for names in ((), ("sure_above",))
    )
    assert "caught_share" not in by_replication(plain)
    assert "caught_share" in by_replication(on)
    assert digest(plain.events) != digest(on.events)


POISONED = read(SCENARIO.with_name("poisoner.toml")).replace(days=20.0, replications=3, record="all")


def made(*, reinforced_by: Any = "update", **changes: Any) -> ms.Run:
    assert POISONED.reader
    rules = POISONED.rules.replace(reinforced_by=reinforced_by)
    return ms.run(POISONED.replace(rules=rules, reader=replace(POISONED.reader, **changes)))


def test_reader_verifies_cells_found_to_be_right() -> None:
    run = made(updates=1.0)
    events = run.events.filter(pl.col("kind") == "updated")
    assert events.height
    assert events["detail"].unique().to_list() == ["verification: tested"]
    cells = run.memory.cells.join(events.select("rep", handle="subject"), on=["rep", "handle"], how="semi")
    assert cells.height
    assert cells["verification"].unique().to_list() == ["tested"]


@pytest.mark.parametrize(("reinforced_by", "touched"), [("update", True), ("nothing", False)])
def test_update_reinforces_a_cell_only_if_rules_allow(reinforced_by: str, *, touched: bool) -> None:
    run = made(updates=1.0, reinforced_by=reinforced_by)
    events = run.events.filter(pl.col("kind") == "updated").group_by("rep", handle="subject").agg(pl.col("t").max())
    cells = run.memory.cells.join(events, on=["rep", "handle"]).filter(pl.col("t") > pl.col("created"))
    assert cells.height
    assert ((cells["touched"] >= cells["t"]).all(), (cells["touched"] < cells["t"]).all()) == (touched, not touched)


def test_run_without_updates_is_unchanged() -> None:
    assert made().manifest["sha256"] == ms.run(POISONED).manifest["sha256"]
    assert not made().events.filter(pl.col("kind") == "updated").height
