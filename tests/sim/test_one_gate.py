"""One gate for everybody: a check that is added in one place refuses scripted, drawn, written-back and imported claims."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from malsim.memory import Memory, admit
from malsim.memory.gate import checks
from malsim.memory.gate.checks import Check
from malsim.memory.gate.claims import as_claims
from malsim.sim import bench
from malsim.sim.settings.population import Population
from malsim.sim.settings.reader import Reader
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact

WRITER = pl.col("writer") != "_init"  # the ten cells that a graph begins with are let in
TITLE = pl.col("title").str.contains(" is | holds")
PLANTED = {
    "a number": Check.of((pl.col("confidence") - 0.7).abs() > 0.0, "confidence", "planted"),
    "a time": Check.of(pl.col("t") > 0.0, "t", "planted"),
    "a word": Check.of(TITLE, "title", "planted"),
    "a body": Check.of(pl.col("body").str.contains("#"), "body", "planted"),
    "a writer": Check.of(WRITER, "writer", "planted"),
    "a number beside a word": Check.of((pl.col("confidence") > 0.0) & WRITER, "writer", "planted"),
    "words of two tables": Check.of((pl.col("kind") != "dec") & TITLE, "kind", "planted"),
}
SCRIPTED = {
    "t": 0.5, "writer": "eve", "kind": "obs", "title": "tide is 1", "body": "eve #1", "confidence": 0.6, "sequence": 0,
}  # fmt: skip


def scenario() -> Scenario:
    """Writers that draw, a reader that writes back, and one scripted claim."""
    return Scenario(
        seed=3, days=6, facts=(Fact(name="tide", hazard=0.1), Fact(name="wind")),
        writers=(Population(behaviour="honest", count=2, rate=0.5), Population(behaviour="self_grader", rate=0.5)),
        reader=Reader(behaviour="obedient"), claims=as_claims([SCRIPTED]),
    )  # fmt: skip


def verdicts() -> dict[str, set[str]]:
    """The verdicts on claims by whose they are: scripted, drawn, the reader's."""
    events = bench.run(scenario()).events.filter(pl.col("kind").is_in(["admitted", "deduplicated", "rejected"]))
    found: dict[str, set[str]] = {"scripted": set(), "drawn": set(), "reader": set()}
    for cause, kind in events.select("cause", "kind").rows():
        writer = cause.rpartition(" of ")[2]
        if writer != "_init":
            found[{"eve": "scripted", "reader": "reader"}.get(writer, "drawn")].add(kind)
    return found


def test_claims_of_every_kind_are_admitted_as_the_checks_stand() -> None:
    for whose, kinds in verdicts().items():
        assert "admitted" in kinds, whose
        assert "rejected" not in kinds, whose


@pytest.mark.parametrize("name", PLANTED)
def test_a_check_that_is_added_to_the_table_refuses_them_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECKS", [*checks.CHECKS, PLANTED[name]])
    for whose, kinds in verdicts().items():
        assert kinds == {"rejected"}, whose
    verdict = admit(Memory.empty(), [SCRIPTED]).verdicts
    assert verdict["verdict"].to_list() == ["refused"]
    assert verdict["issues"][0][-1]["message"] == "planted"


@pytest.mark.parametrize("of_target", [False, True], ids=["relation", "relation and target"])
def test_a_check_of_edges_refuses_the_drawn_claims_that_have_any(
    monkeypatch: pytest.MonkeyPatch, *, of_target: bool
) -> None:
    before = bench.run(scenario()).memory.edges
    assert before.filter(pl.col("relation") == "supersedes").height
    wrong = pl.col("relation") == "supersedes"
    wrong = wrong & (pl.col("target") != "obs_0000") if of_target else wrong
    planted = Check.of(wrong, pl.lit("edges[0].relation"), "planted")
    monkeypatch.setattr(checks, "EDGE_CHECKS", [*checks.EDGE_CHECKS, planted])
    after = bench.run(scenario()).memory.edges
    assert not after.filter(pl.col("relation") == "supersedes").height
    assert np.isfinite(after["weight"].to_numpy()).all()
