"""Tests of writers whose state is carried from claim to claim, separately for each replication."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from malsim.base.errors import ScenarioError
from malsim.sim import bench, writers
from malsim.sim.settings.population import Population
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

if TYPE_CHECKING:
    from malsim.sim.run import Run

LESS = 0.97


def write(context: ClaimContext) -> ClaimDraft:
    """Check that the state matches the turn number, and draft claims with falling confidence on three turns out of four."""
    mood = context.state["mood"]
    np.testing.assert_allclose(mood, LESS**context.turn)
    support = DraftEdge("supports", np.where(mood < LESS, context.latest.peers.max(axis=1), -1))
    after = {"mood": mood * LESS}
    return ClaimDraft(context.sense(0.9), mood, (support,), speaks=context.turn % 4 != 3, state=after)


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("moody", "Tires.\n\nstated = .97^n")
    module.__dict__.update(write=write, state={"mood": 1.0})
    known = {**writers.behaviours(), "moody": writers.Behaviour("moody", module, {})}
    monkeypatch.setattr(writers, "behaviours", lambda: known)
    return module


def run(first: int, replications: int) -> Run:
    """Return a run with one honest writer and three writers that have a state."""
    moody = Population(behaviour="moody", count=3, rate=2.5)
    return bench.run(
        Scenario(
            seed=5, days=8, first=first, replications=replications, facts=(Fact(name="tide"), Fact(name="wind")),
            writers=(Population(behaviour="honest", rate=1.0), moody),
        )
    )  # fmt: skip


@pytest.mark.usefixtures("moody")
def test_writer_state_is_separate_for_each_replication() -> None:
    many, again, alone = run(0, 50), run(0, 50), run(31, 1)
    assert many.cells.equals(again.cells)
    assert many.cells.filter(pl.col("rep") == 31).equals(alone.cells)
    claimed = many.memory.cells.filter(pl.col("writer").str.starts_with("moody"))
    turn = claimed["body"].str.extract(r"#(\d+)$").cast(pl.Int64).to_numpy()
    np.testing.assert_allclose(claimed["claimed"].to_numpy(), LESS**turn)
    assert turn.max() > 10
    assert not (turn % 4 == 3).any()
    assert (many.memory.edges["relation"] == "supports").any()


def test_undeclared_writer_state_is_refused(moody: ModuleType) -> None:
    moody.__dict__["state"] = {"temper": 1.0}
    moody.__dict__["write"] = lambda context: ClaimDraft(context.fact, context.state["temper"], state={"mood": context.fact})
    with pytest.raises(ScenarioError, match=r"no such state variable; given: 'mood'; allowed: temper"):
        run(0, 1)
