"""Tests of triage policies: the dispute that each policy prefers, and the limits that all policies share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import ScenarioError, UsageError
from malsim.lab.studies.triage import compare_policies
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from malsim.sim.agent.oversight.priorities import value_of_look
from malsim.sim.agent.oversight.triage_desk import TriageSignal
from malsim.sim.settings.netlist_config import NetlistConfig
from malsim.sim.settings.reader import TRIAGE, Reviewers
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SHARES = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=5)


def given_people(**changes: object) -> Scenario:
    made = read(SCENARIOS / "triage_popular.toml").replace(days=21.0, replications=3)
    assert made.reviewers
    return made.replace(reviewers=replace(made.reviewers, **changes))  # type: ignore[arg-type]  # settings by name


def verdicts(run: Run) -> pl.DataFrame:
    return run.memory.cells.filter(pl.col("writer") == "reviewers").sort("rep", "created")


@given(SHARES, st.floats(0.0, 1.0))
def test_review_is_worth_at_most_the_probability_of_error(weights: list[float], accuracy: float) -> None:
    shares = np.array(weights) / sum(weights)
    worth = float(value_of_look(shares, accuracy))
    doubt = 1.0 - shares.max()
    assert -1e-12 <= worth <= doubt + 1e-12
    assert float(value_of_look(shares, 1.0)) == pytest.approx(doubt)
    assert float(value_of_look(shares, 1.0 / len(shares))) == pytest.approx(0.0)


@pytest.mark.parametrize("policy", TRIAGE)
def test_every_policy_uses_its_full_weekly_limit(policy: str) -> None:
    run = bench.run(given_people(triage=policy).replace(record="bands"))
    assert run.reviews is not None
    assert run.reviews.tolist() == [28, 28, 28]  # ten are assigned per week, but two are unfinished at the end


def test_reviews_stay_within_weekly_limit_and_capacity() -> None:
    free = bench.run(given_people(weekly=0.0).replace(record="bands")).reviews
    slow = bench.run(given_people(weekly=0.0, each=2 * DAY).replace(record="bands")).reviews
    assert free is not None
    assert slow is not None
    assert free.min() > 29
    assert slow.max() <= 11


def test_rank_policy_reads_the_triage_rank_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    read_signal = TriageSignal.read

    def noted(self: TriageSignal, snapshot: Snapshot, now: float) -> np.ndarray:
        seen.append(read_signal(self, snapshot, now))
        return seen[-1]

    monkeypatch.setattr(TriageSignal, "read", noted)
    wired = given_people(triage="rank").replace(netlist=NetlistConfig.of("addf triage-rank tick\n"), days=7.0)
    run = bench.run(wired)
    last = run.signals.filter(pl.col("signal") == "triage-rank.rank", pl.col("t") == 7.0)
    effective = run.memory.cells.select("rep", row="handle").with_columns(value=seen[-1])
    both = last.join(effective, on=["rep", "row"], suffix="_seen")
    assert both.height == last.height > 100
    assert both["value_seen"].to_numpy() == pytest.approx(both["value"].to_numpy())


def test_triage_by_rank_needs_a_graph() -> None:
    with pytest.raises(ScenarioError, match="needs a claim graph"):
        bench.run(given_people(triage="rank").replace(record="bands", law="majority", days=7.0))


def test_delayed_verdict_equals_the_immediate_verdict() -> None:
    at_once, late = (verdicts(bench.run(given_people(triage="random", late=days * DAY))) for days in (0, 3))
    first = [frame.group_by("rep", maintain_order=True).first() for frame in (at_once, late)]
    assert (first[1]["created"] - first[0]["created"]).to_list() == pytest.approx([3.0] * 3)
    assert first[0]["title"].to_list() == first[1]["title"].to_list()


def test_tired_reviewers_make_more_errors() -> None:
    fresh, tired = (
        compare_policies(given_people(weekly=70.0, tires=tires), policies=["first"], replications=4).frame["value"][0]
        for tires in (0.0, 0.3)
    )
    assert tired < fresh


def test_unknown_policies_and_missing_reviewers_are_refused() -> None:
    with pytest.raises(ScenarioError, match="triage"):
        Reviewers(triage="loudest")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ScenarioError, match="needs a triage policy"):
        Reviewers(weekly=3.0)
    with pytest.raises(UsageError, match="needs facts and reviewers"):
        compare_policies(given_people().replace(reviewers=None))
    with pytest.raises(UsageError, match="no such policy"):
        compare_policies(given_people(), policies=["loudest"])
