"""Tests that valid netlists can be linked, and that wiring faults are reported with their positions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.netlist import NetlistError, parse
from malsim.netlist.wiring import link, linked

PUBLISHED = (Path(__file__).parent / "published.malnet").read_text(encoding="utf-8")
BASE = """\
loadrt watch names=weak,stale
loadrt or2 names=either
loadrt latch names=alarm
loadrt smooth names=soft
net eff weak.in < dec_a3ee-scores-eff
net bad either.out > alarm.set
"""


def faults(text: str) -> list[str]:
    with pytest.raises(NetlistError) as refused:
        link(parse(BASE + text))
    return [str(fault) for fault in refused.value.faults]


def test_published_tripwire_links_without_faults() -> None:
    net = link(parse(PUBLISHED))
    assert {name: instance.sheet.name for name, instance in net.instances.items()} == {
        "weak": "watch", "stale": "watch", "either": "or2", "alarm": "latch", "severity": "ladder"
    }  # fmt: skip
    tripped = net.signals["tripped"]
    assert tripped.type == "bit"
    assert tripped.writer is not None
    assert str(tripped.writer.address) == "alarm.out"
    assert [str(link.address) for link in tripped.readers] == ["severity.bit-0", "dec_a3ee-flags-review"]
    assert [(thread.name, thread.functions) for thread in net.threads] == [
        ("tick", ("weak", "stale", "either", "alarm", "severity"))
    ]
    assert net.instances["weak"].settings == {"level": "0.5"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loadrt wtch", "netlist:7:8: no such op; given: 'wtch'; did you mean watch"),
        ("loadrt watch names=weak", "netlist:7:20: this name is already used at line 1"),
        ("loadrt watch depth=3", "netlist:7:8: no such size"),
        ("loadrt quorum names=q inputs=99", "netlist:7:8: the size is out of bounds"),
        ("net x weak.inn", "netlist:7:7: watch has no such pin; given: 'weak.inn'; allowed: in level"),
        ("net x waek.in", "netlist:7:7: no such instance; given: 'waek.in'; did you mean weak"),
        ("net x weak.hysteresis", "netlist:7:7: a parameter cannot be wired"),
        ("net x weak", "netlist:7:7: a bare name is not a pin"),
        ("net x dec_a3ee.supports.*-scores-eff > stale.in", "netlist:7:7: this address matches more than one cell"),
        ("net x dec_a3ee > stale.in", "netlist:7:7: this address names a cell, but a value is required"),
        ("net x dec_a3ee-title > stale.in", "netlist:7:7: this field is not a number"),
        ("net x dec_a3ee-scores-nope > stale.in", "netlist:7:7: no such field"),
        ("net x dec_zzzz-scores-eff > stale.in", "netlist:7:7: the tag of this handle is not lowercase hexadecimal"),
        ("net x mean(dec_a3ee.nope.*-scores-eff) > stale.in", "netlist:7:7: no such relation"),
        ("net x mean(either.out) > stale.in", "netlist:7:7: a run does not belong to one run"),
        ("net x mean(stale.level) > stale.in", "netlist:7:7: a reducer cannot read an input"),
        ("net x topic-claims > stale.in", "netlist:7:7: only cells and writers have fields"),
        ("net x clock.tock > stale.in", "netlist:7:7: no such instance; given: 'clock.tock'; did you mean clock.tick"),
        ("net x weak.in", "netlist:7:7: this end is already on the signal eff; given: 'weak.in'"),
        ("net bad weak.below", "netlist:7:9: bad already has a writer, either.out at line 6; given: 'weak.below'"),
        ("net x weak.above stale.above", "netlist:7:18: x already has a writer, weak.above at line 7"),
        ("net x weak.above > stale.in", "netlist:7:20: x carries a bit, but this end is a float"),
        ("net weak.in stale.in", "netlist:7:5: a signal cannot have the name of a pin"),
        ("net x stale.in > alarm.reset", "netlist:7:7: an input cannot write a signal"),
        ("net x > weak.above", "netlist:7:9: an output cannot read a signal"),
        ("net x weak.above > dec_a3ee-scores-eff", "netlist:7:20: a wire cannot write this value"),
        ("net x weak.above > RECALL_v5-flags-locked", "netlist:7:20: a wire cannot write this value"),
        ("net x cell-scores-eff > stale.in", "netlist:7:25: x has a value per cell, but this input needs one per run"),
        (
            "net x weak.above > dec_a3ee-flags-locked\nnet y weak.below > dec_a3ee-flags-locked",
            "netlist:8:20: this end is already on the signal x",
        ),
        ("setp weak.in 1", "netlist:7:6: a wired pin is set by its signal"),
        ("setp weak.above true", "netlist:7:6: an output cannot be set"),
        ("setp weak.nope 1", "netlist:7:6: watch has no such pin or parameter"),
        ("setp nope.in 1", "netlist:7:6: no such instance"),
        ("setp weak.hysteresis -1", "netlist:7:22: out of bounds; given: '-1'"),
        ("setp weak.level high", "netlist:7:17: not a number"),
        ("setp soft.gain 1.5", "netlist:7:16: out of bounds"),
        ("setp alarm.reset maybe", "netlist:7:18: not a bit"),
        ("eff = 5", "netlist:7:1: a signal with a writer cannot be set"),
        ("nope = 5", "netlist:7:1: no such signal"),
        ("net x alarm.reset\nx = high", "netlist:8:5: not a bit"),
        ("dec_a3ee-scores-eff = 1", "netlist:7:1: only the flags of a cell can be set"),
        ("dec_a3ee-flags-annexed = maybe", "netlist:7:26: not a bit"),
        ("RECALL_v5-flags-annexed = true", "netlist:7:1: an immutable cell cannot be changed"),
        ("cell-flags-annexed = true", "netlist:7:1: only a pin, a parameter"),
        (
            "addf waek tick",
            "netlist:7:6: no such function; given: 'waek'; allowed: a loaded instance, or an op; did you mean",
        ),
        ("addf weak tick\naddf weak tick", "netlist:8:6: this function has already been added, at line 7"),
        ("addf weak tick 2", "netlist:7:6: position 2 is out of bounds"),
        ("addf weak tick -2", "netlist:7:6: position -2 is out of bounds"),
        ("thread slow every 2\nthread slow every 3", "netlist:8:8: this name is already used"),
        ("thread tick every 2", "netlist:7:8: this name is already used"),
    ],
)
def test_wiring_fault_is_reported_with_its_position(text: str, message: str) -> None:
    (fault,) = faults(text)
    assert fault.startswith(message)


def test_faulty_instance_is_reported_once() -> None:
    text = "loadrt wtch names=w\nnet x w.in < w.out\nsetp w.level 1\naddf w tick\nsetp weak.level high\nnet y weak.in"
    problems = ["7:8: no such op", "11:17: not a number", "12:7: this end is already on the signal eff"]
    assert [fault.split(";")[0].removeprefix("netlist:") for fault in faults(text)] == problems


def test_pins_of_any_type_adopt_the_type_of_their_wire() -> None:
    text = """\
loadrt snapshot names=a,b,c
loadrt to-bit names=d
net s3 c.out > d.in
net s2 b.out > c.in
net s1 a.out > b.in
net s0 weak.above > a.in
"""
    net = link(parse(BASE + text))
    assert {net.signals[name].type for name in ("s0", "s1", "s2", "s3")} == {"bit"}
    assert link(parse("loadrt snapshot")).instances["snapshot"].sheet.slots["in"].pin.type == "float"


def test_threads_are_ordered_by_position_and_period() -> None:
    text = "thread slow every 10\nthread fast every 2\naddf weak slow\naddf stale tick\naddf either tick 1\n"
    text += "addf alarm tick -2\naddf soft fast"
    assert [(thread.name, thread.every, thread.functions) for thread in link(parse(BASE + text)).threads] == [
        ("tick", 1, ("either", "alarm", "stale")),
        ("fast", 2, ("soft",)),
        ("slow", 10, ("weak",)),
    ]


def test_unloaded_op_gets_an_instance_named_after_it() -> None:
    text = "net x watch.in < dec_a3ee-scores-eff\naddf watch tick\naddf currency-decay tick\naddf drift tick [delta: 0.1]"
    net = link(parse(text))
    assert list(net.instances) == ["watch"]
    assert [program.op for program in net.programs] == ["drift"]


def test_wire_into_a_computed_score_creates_no_signal() -> None:
    net = link(parse("net eff dec_a3ee < conf calib supports.* contradicts.*"))
    assert [wire.signal for wire in net.documented] == ["eff"]
    assert not net.signals


def test_reducer_feeds_rows_of_one_domain_into_another() -> None:
    text = """\
loadrt watch names=each domain=cell
loadrt latch names=held domain=cell
loadrt watch names=writers domain=writer
net each-eff each.in < cell-scores-eff
net each-low each.below > held.set cell-flags-review
net share weak.in < share(each.below)
net by-writer writers.in < mean(cell-scores-eff)
net level each.level writers.level
net claims stale.in < mean(writer-claims)
"""
    net = link(parse(text + "loadrt watch names=weak,stale"))
    domains = {name: signal.domain for name, signal in net.signals.items()}
    assert domains == {
        "each-eff": "cell", "each-low": "cell", "share": "run", "by-writer": "writer", "level": "run", "claims": "run"
    }  # fmt: skip


@given(st.lists(st.sampled_from((BASE + PUBLISHED).splitlines()), max_size=30))
def test_any_lines_link_or_are_reported_with_positions(lines: list[str]) -> None:
    _, problems = linked(parse("\n".join(lines)))
    assert all(fault.line and fault.column for fault in problems)
