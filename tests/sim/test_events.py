"""Tests that every event has a traceable cause, and that bands count events by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.memory.gate.claims import as_claims, from_mappings
from malsim.sim import bench
from malsim.sim.context.event_log import KINDS, LATCH, PROGRAM, SIGNAL
from malsim.sim.settings.netlist_config import NetlistConfig
from malsim.sim.settings.population import Population
from malsim.sim.settings.reader import Reader
from malsim.sim.settings.scenario import Scenario
from malsim.sim.why.signal_cause import because, is_signal
from malsim.sim.world import Fact

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject, SearchStrategy

    from malsim.sim.run import Run

    Unresolved = Callable[[Run], list[tuple[object, ...]]]


def busy(**changes: object) -> Scenario:
    facts = tuple(Fact(name=name, hazard=0.2) for name in ("tide", "wind"))
    writers = (Population(behaviour="honest", count=3, rate=1.0), Population(behaviour="contrarian", rate=1.0))
    reader = Reader(behaviour="lazy", complies=0.5)
    settings_ = {"facts": facts, "writers": writers, "reader": reader, "days": 8.0, "replications": 3} | changes
    return Scenario(**settings_)  # type: ignore[arg-type]  # by name


@settings(settings.get_profile("few"))
@given(data=st.data())
def test_every_event_has_a_traceable_cause(
    drawn: SearchStrategy[Scenario], unresolved: Unresolved, data: DataObject
) -> None:
    run = bench.run(data.draw(drawn))
    assert unresolved(run) == []
    assert set(run.events["kind"]) <= KINDS.keys()
    assert run.events["t"].is_sorted()


WIRES = """
loadrt watch names=each domain=cell
loadrt latch names=held domain=cell
loadrt watch names=one
loadrt latch names=alarm
net eff each.in < cell-scores-eff
net low each.below > held.set cell-flags-pinned
net stuck held.out > cell-flags-annexed
net half each.above > cell-flags-locked cell-flags-review
net least one.in < min(cell-scores-eff)
net any-low one.below > alarm.set cell-flags-reinstated
net over one.above > alarm.reset
net tripped alarm.out > webhook.page escalation.case
setp each.level 0.4
setp one.level 0.3
addf each tick
addf held tick
addf one tick
addf alarm tick
addf watch tick [delta: 0.01]
addf time-to-stale tick
addf provenance-diversity tick
"""
OF_NETS = [kind for kind, cause in KINDS.items() if cause.endswith((SIGNAL, LATCH, PROGRAM)) or kind == "escalated"]
AT_ONCE = ("tripped", "cleared", "webhook")


@settings(settings.get_profile("few"))
@given(data=st.data())
def test_causes_of_netlist_events_are_explained(
    drawn: SearchStrategy[Scenario], unresolved: Unresolved, data: DataObject
) -> None:
    run = bench.run(data.draw(drawn).replace(netlist=WIRES, record_every=1))
    assert unresolved(run) == []
    signals = run.scenario.netlist.net.signals if run.scenario.netlist else {}
    caused = run.events.filter(pl.col("kind").is_in(OF_NETS)).unique(["kind", "rep"], maintain_order=True)
    for event in caused.rows(named=True):
        moment = {"t": event["t"], "rep": event["rep"]}
        assert run.why(event["cause"], **moment)
        if is_signal(run, event["cause"]):
            first = because(run, event["cause"], **moment)[0]
            assert first.signal in signals
            assert first.since == event["t"] if event["kind"] in AT_ONCE else first.since <= event["t"]


TWO = """
loadrt wcomp names=soon,late
net tick clock.days > soon.in late.in
net early soon.out > dec_a3ee-flags-review
net longer late.out > cell-flags-review
setp soon.min 2.5
setp soon.max 5.5
setp late.min 4.5
setp late.max 7.5
addf soon tick
addf late tick
"""


def test_cause_of_a_flag_is_the_signal_that_rose() -> None:
    common = {"t": 0.0, "writer": "ann", "title": "x", "body": "", "confidence": 0.9}
    value = [common | {"handle": handle, "sequence": index} for index, handle in enumerate(("dec_a3ee", "obs_b0b1"))]
    run = bench.run(Scenario(days=8.0, claims=as_claims(from_mappings(value)), netlist=NetlistConfig.of(TWO)))
    flags = run.events.filter(pl.col("kind").is_in(["flagged", "unflagged"])).select("t", "kind", "subject", "cause")
    assert flags.rows() == [
        (3.0, "flagged", "dec_a3ee", "early"), (5.0, "flagged", "obs_b0b1", "longer"),
        (8.0, "unflagged", "dec_a3ee", "longer"), (8.0, "unflagged", "obs_b0b1", "longer"),
    ]  # fmt: skip
    assert run.why("longer", t=8.0).startswith("longer is 0 since t = 8, before 1, from late.out")


def test_untraceable_events_are_detected(unresolved: Unresolved) -> None:
    run = bench.run(busy(replications=1))
    assert unresolved(run) == []
    for wrong in ("", "obs_ffff", "turn 99", "claim 1 of nobody"):
        run.events[0, "cause"] = wrong
        assert unresolved(run)
    wired = bench.run(busy(replications=1).replace(netlist=WIRES))
    last = int(wired.events["kind"].is_in(AT_ONCE).arg_true()[-1])
    for wrong in ("", "no-such", "low(obs_ffff)"):
        wired.events[last, "cause"] = wrong
        assert unresolved(wired)


def test_run_recording_bands_counts_events_by_kind() -> None:
    whole, banded = bench.run(busy()), bench.run(busy(record="bands"))
    counted = banded.bands.filter(pl.col("signal") == "events").group_by("row").agg((pl.col("mean") * pl.col("count")).sum())
    counts = whole.events.group_by("kind").len()
    # `expanded` events are excluded, because the signal `expanded` counts them
    remaining = {kind: count for kind, count in counts.rows() if kind != "expanded"}
    assert {kind: round(count) for kind, count in counted.rows()} == remaining
    assert banded.events.is_empty()
    assert "withheld" in repr(banded)
