"""Tests that each kind of fault changes its share of the claims and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from malsim.base.errors import ScenarioError
from malsim.sim import bench
from malsim.sim.settings.population import ClaimFault, Population
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.sim.run import Run

    Posted = Callable[[Scenario], pl.DataFrame]

KEY = ["rep", "writer", "turn"]


def stream(*faults: ClaimFault, **changes: Any) -> Scenario:
    facts = (Fact(name="tank", values=("empty", "half", "full")), Fact(name="tap"))
    probes = Population(behaviour="humble", name="probe", count=4, rate=1.0, settings={"accuracy": 1.0, "confidence": 0.5})
    quiet = Population(behaviour="humble", name="quiet", rate=0.5)
    settings_ = {"days": 24.0, "turn_every": 3 * DAY, "replications": 3, "seed": 8} | changes
    return Scenario(facts=facts, writers=(probes, quiet), faults=faults, **settings_)


def noise(*, start: int = 0, end: int | None = None, **kinds: float) -> ClaimFault:
    return ClaimFault(population="probe", noise=kinds, start=start, end=end)


@pytest.fixture(scope="module")
def clean(posted: Posted) -> pl.DataFrame:
    return posted(stream())


def events(run: Run, kind: str) -> pl.DataFrame:
    return run.events.filter(pl.col("kind") == kind)


@pytest.mark.parametrize(
    ("kind", "event"),
    [("flip", "flipped"), ("perturb", "perturbed"), ("drop", "lost"), ("double", "doubled"), ("delay", "delayed"),
     ("reorder", "reordered")],
)  # fmt: skip
def test_noise_affects_its_share_of_claims_and_records_events(kind: str, event: str, clean: pl.DataFrame) -> None:
    fault = noise(start=6 * DAY, end=18 * DAY, **{kind: 0.4})
    hit = events(bench.run(stream(fault)), event)
    exposed = clean.filter(pl.col("writer").str.starts_with("probe") & pl.col("t").is_between(6 * DAY, 18 * DAY - 1))
    assert abs(hit.height - 0.4 * exposed.height) <= 4.5 * np.sqrt(0.24 * exposed.height)
    named = exposed.select("rep", subject=pl.format("{} #{}", "writer", "turn"))
    assert hit.join(named, on=["rep", "subject"], how="anti").is_empty()
    assert hit["subject"].str.contains("quiet").sum() == 0


def test_lost_claims_never_arrive(posted: Posted, clean: pl.DataFrame) -> None:
    everything = noise(drop=1.0, flip=1.0, double=1.0, delay=1.0, perturb=1.0, reorder=1.0)
    assert set(posted(stream(everything))["writer"]) == {"quiet-1"}
    run = bench.run(stream(everything))
    assert "probe-1" not in set(run.memory.cells["writer"])
    assert set(run.events["kind"]) & {"flipped", "doubled", "delayed", "perturbed", "reordered"} == set()
    assert events(run, "lost").height == clean.filter(pl.col("writer") != "quiet-1").height


def test_duplicated_claims_become_one_cell(posted: Posted, clean: pl.DataFrame) -> None:
    doubled = posted(stream(noise(double=1.0)))
    probes = pl.col("writer") != "quiet-1"
    assert doubled.filter(probes).height == 2 * clean.filter(probes).height
    assert doubled.unique(KEY).height == clean.height
    once, twice = bench.run(stream()), bench.run(stream(noise(double=1.0)))
    assert twice.memory.cells.select("rep", "body", "title").equals(once.memory.cells.select("rep", "body", "title"))
    assert events(twice, "deduplicated").height == events(twice, "doubled").height


def test_each_kind_of_noise_changes_only_its_column(posted: Posted, clean: pl.DataFrame) -> None:
    clean = clean.filter(pl.col("writer") != "quiet-1")
    for kinds, changed in (
        ({"flip": 1.0}, "value"), ({"perturb": 1.0}, "stated"), ({"delay": 1.0}, "t"), ({"reorder": 1.0}, "t"),
    ):  # fmt: skip
        both = clean.join(posted(stream(ClaimFault(population="probe", noise=kinds))), on=KEY, suffix="_hit")
        assert both.height == clean.height
        for column in {"value", "stated", "t", "fact"} - {changed}:
            assert (both[column] == both[f"{column}_hit"]).all(), (kinds, column)
        assert np.mean((both[changed] != both[f"{changed}_hit"]).to_numpy()) > 0.99, kinds


def test_delays_are_exponential_and_reordering_stays_in_turns(posted: Posted, clean: pl.DataFrame) -> None:
    clean = clean.filter(pl.col("writer") != "quiet-1")
    late = clean.join(posted(stream(noise(delay=1.0, late=2.0))), on=KEY)
    wait = ((late["t_right"] - late["t"]) / DAY).to_numpy()
    assert (wait > 0).all()
    assert stats.kstest(wait, "expon", args=(0, 2.0)).pvalue > 1e-4
    mixed = clean.join(posted(stream(noise(reorder=1.0))), on=KEY)
    assert (mixed["t"] // (3 * DAY) == mixed["t_right"] // (3 * DAY)).all()


def test_late_claim_reaches_the_gate_one_turn_later() -> None:
    run = bench.run(stream(noise(delay=1.0, late=5.0)))
    created = run.memory.cells.filter(pl.col("writer") != "quiet-1")["created"]
    first = run.cells.group_by("cell", "rep").agg(pl.col("t").min())
    seen = run.memory.cells.select("rep", pl.col("handle").alias("cell"), "created").join(first, on=["rep", "cell"])
    assert ((seen["t"] > seen["created"]) & (seen["t"] - seen["created"] <= 3.0)).all()
    assert run.unseen > 0  # some delayed claims have not arrived when the run ends
    assert created.len() + run.unseen == events(run, "delayed").height


def test_wrong_value_fault_applies_before_edges_are_chosen(posted: Posted) -> None:
    bad = ClaimFault(population="probe", bad={"wrong": 1.0}, start=12 * DAY)
    value = posted(stream(bad)).filter(pl.col("writer") != "quiet-1")
    assert value.filter(pl.col("t") < 12 * DAY)["true"].all()
    assert not value.filter(pl.col("t") >= 12 * DAY)["true"].any()
    run = bench.run(stream(bad))
    assert events(run, "misled").height == value.filter(pl.col("t") >= 12 * DAY).height
    flipped = bench.run(stream(noise(flip=1.0, start=12 * DAY)))
    assert _quarrels(run) == 0.0  # cells with equal values do not dispute each other
    assert _quarrels(flipped) > 0.0  # edges are drawn before the fault flips the values


def _quarrels(run: Run) -> float:
    """Return the share of `contradicts` edges whose two cells state the same value."""
    edges, cells = run.memory.edges.filter(pl.col("relation") == "contradicts"), run.memory.cells
    item, other = (cells["value"].gather(edges[end]) for end in ("source", "target"))
    return float(np.mean((item == other).to_numpy()))


def test_fault_on_one_population_leaves_others_unchanged(posted: Posted, clean: pl.DataFrame) -> None:
    quiet = pl.col("writer") == "quiet-1"
    faulty = stream(noise(flip=1.0, delay=1.0, double=0.5), ClaimFault(population="probe", bad={"wrong": 1.0}))
    assert posted(faulty).filter(quiet).drop("edges").equals(clean.filter(quiet).drop("edges"))


def test_invalid_faults_are_refused() -> None:
    with pytest.raises(ScenarioError, match="no such population"):
        bench.run(stream(ClaimFault(population="prob", noise={"flip": 0.1})))
    with pytest.raises(ScenarioError, match="later than 'from'"):
        noise(start=DAY, end=DAY)
    with pytest.raises(ScenarioError, match=r"flip.*0 to 1"):
        noise(flip=1.5)
