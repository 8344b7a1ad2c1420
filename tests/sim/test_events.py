"""Every event has its cause, and what the cause names is there; of many lives events are counted instead of kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.sim import bench
from malsim.sim.happenings import KINDS
from malsim.sim.populations import Population
from malsim.sim.reader import Reader
from malsim.sim.script import Scenario
from malsim.sim.world import Fact

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject, SearchStrategy

    from malsim.sim.run import Run

    Unresolved = Callable[[Run], list[tuple[object, ...]]]


def busy(**changes: object) -> Scenario:
    """Writers at odds and a reader who is often refused."""
    facts = tuple(Fact(name=name, hazard=0.2) for name in ("tide", "wind"))
    writers = (Population(behaviour="honest", count=3, rate=1.0), Population(behaviour="contrarian", rate=1.0))
    reader = Reader(behaviour="lazy", complies=0.5)
    settings_ = {"facts": facts, "writers": writers, "reader": reader, "days": 8.0, "replications": 3} | changes
    return Scenario(**settings_)  # type: ignore[arg-type]  # by name


@settings(settings.get_profile("few"))
@given(data=st.data())
def test_every_event_has_a_cause_that_can_be_found(
    drawn: SearchStrategy[Scenario], unresolved: Unresolved, data: DataObject
) -> None:
    run = bench.run(data.draw(drawn))
    assert unresolved(run) == []
    assert set(run.events["kind"]) <= KINDS.keys()
    assert run.events["t"].is_sorted()


def test_what_cannot_be_traced_is_found(unresolved: Unresolved) -> None:
    run = bench.run(busy(replications=1))
    assert unresolved(run) == []
    for wrong in ("", "obs_ffff", "turn 99", "claim 1 of nobody"):
        run.events[0, "cause"] = wrong
        assert unresolved(run)


def test_of_many_lives_events_are_counted_by_kind() -> None:
    whole, banded = bench.run(busy()), bench.run(busy(record="bands"))
    counted = banded.bands.filter(pl.col("signal") == "events").group_by("row").agg((pl.col("mean") * pl.col("count")).sum())
    there = whole.events.group_by("kind").len()
    kept = {kind: count for kind, count in there.rows() if kind != "expanded"}  # the signal of that name counts these
    assert {kind: round(count) for kind, count in counted.rows()} == kept
    assert banded.events.is_empty()
    assert "withheld" in repr(banded)


def test_what_is_kept_of_many_lives_does_not_grow_with_them() -> None:
    few, many = (bench.run(busy(record="bands", replications=count)) for count in (4, 12))
    keys = ["t", "row", "signal"]
    missed = few.bands.select(keys).join(many.bands.select(keys), on=keys, how="anti", nulls_equal=True)
    assert missed.is_empty()
    assert many.bands.height <= few.bands.height + 3 * many.bands["t"].n_unique()  # a rare kind may show in more lives only
    assert many.cells.is_empty()
    assert many.signals.is_empty()


def test_the_calendar_holds_as_many_events_however_many_cells_and_lives_there_are(
    count_steps: Callable[[Scenario], int],
) -> None:
    base = count_steps(busy())
    assert count_steps(busy(replications=40)) == base
    crowded = tuple(Population(behaviour="honest", name=name, count=9, rate=9.0) for name in ("a", "b"))
    assert count_steps(busy(writers=crowded)) == base
    assert count_steps(busy(facts=tuple(Fact(name=f"fact-{n}", hazard=3.0) for n in range(30)))) == base
