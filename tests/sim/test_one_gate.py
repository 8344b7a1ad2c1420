"""Tests that a check added to the gate applies to scripted claims, drawn claims and claims written back by the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from malsim.memory import Memory, admit
from malsim.memory.gate import checks
from malsim.memory.gate.checks import Check
from malsim.memory.gate.claims import as_claims
from malsim.memory.gate.resolution import SUPERSEDES
from malsim.memory.schema import KINDS
from malsim.sim import bench
from malsim.sim.settings.population import Population
from malsim.sim.settings.reader import Reader
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def holds(*parts: str) -> Callable[[NDArray[Any]], NDArray[np.bool_]]:
    return lambda texts: np.array([any(part in text for part in parts) for text in texts])


def other_writer(names: NDArray[Any]) -> NDArray[np.bool_]:
    """Return True for each writer other than `_init`, which wrote the ten initial cells."""
    return np.array([name != "_init" for name in names])


TITLE, DEC = holds(" is ", " holds"), KINDS.index("dec")
PLANTED = {
    "a number": Check(("confidence",), lambda share: np.abs(share - 0.7) > 0.0, "confidence", "planted"),
    "a time": Check(("t",), lambda t: t > 0.0, "t", "planted"),
    "a word": Check(("title",), TITLE, "title", "planted"),
    "a body": Check(("body",), holds("#"), "body", "planted"),
    "a writer": Check(("writer",), other_writer, "writer", "planted"),
    "a number beside a word": Check(
        ("confidence", "writer"), lambda share, names: (share > 0.0) & other_writer(names), "writer", "planted"
    ),
    "words of two tables": Check(("kind", "title"), lambda kinds, titles: (kinds != DEC) & TITLE(titles), "kind", "planted"),
}
SCRIPTED = {
    "t": 0.5, "writer": "eve", "kind": "obs", "title": "tide is 1", "body": "eve #1", "confidence": 0.6, "sequence": 0,
}  # fmt: skip


def scenario() -> Scenario:
    return Scenario(
        seed=3, days=6, facts=(Fact(name="tide", hazard=0.1), Fact(name="wind")),
        writers=(Population(behaviour="honest", count=2, rate=0.5), Population(behaviour="self_grader", rate=0.5)),
        reader=Reader(behaviour="obedient"), claims=as_claims([SCRIPTED]),
    )  # fmt: skip


def verdicts() -> dict[str, set[str]]:
    """Return the set of verdicts for each origin of claims: scripted, drawn or reader."""
    events = bench.run(scenario()).events.filter(pl.col("kind").is_in(["admitted", "deduplicated", "rejected"]))
    found: dict[str, set[str]] = {"scripted": set(), "drawn": set(), "reader": set()}
    for cause, kind in events.select("cause", "kind").rows():
        writer = cause.rpartition(" of ")[2]
        if writer != "_init":
            found[{"eve": "scripted", "reader": "reader"}.get(writer, "drawn")].add(kind)
    return found


def test_shipped_checks_admit_valid_claims_from_every_source() -> None:
    for source, kinds in verdicts().items():
        assert "admitted" in kinds, source
        assert "rejected" not in kinds, source


@pytest.mark.parametrize("name", PLANTED)
def test_added_check_applies_to_claims_from_every_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECKS", [*checks.CHECKS, PLANTED[name]])
    for source, kinds in verdicts().items():
        assert kinds == {"rejected"}, source
    verdict = admit(Memory.empty(), [SCRIPTED]).verdicts
    assert verdict["verdict"].to_list() == ["refused"]
    assert verdict["issues"][0][-1]["message"] == "planted"


@pytest.mark.parametrize("of_target", [False, True], ids=["relation", "relation and target"])
def test_added_edge_check_refuses_drawn_claims_with_edges(monkeypatch: pytest.MonkeyPatch, *, of_target: bool) -> None:
    before = bench.run(scenario()).memory.edges
    assert before.filter(pl.col("relation") == "supersedes").height
    if of_target:
        planted = Check(
            ("code", "target"), lambda code, name: (code == SUPERSEDES) & (name != "obs_0000"), "target", "planted"
        )
    else:
        planted = Check(("code",), lambda code: code == SUPERSEDES, "relation", "planted")
    monkeypatch.setattr(checks, "EDGE_CHECKS", [*checks.EDGE_CHECKS, planted])
    after = bench.run(scenario()).memory.edges
    assert not after.filter(pl.col("relation") == "supersedes").height
    assert np.isfinite(after["weight"].to_numpy()).all()
