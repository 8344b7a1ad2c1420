"""Tests that explored states of Boolean nets match brute-force runs, and that defects are reported with line numbers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import UsageError
from malsim.lab.tripwire import Part, explore, part_of, statics
from malsim.lab.tripwire.boolean.card import card, coverage
from malsim.lab.tripwire.boolean.statics import state_faults
from malsim.memory import Memory
from malsim.netlist import parse
from malsim.netlist.engine import Engine
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIP = (Path(__file__).parent.parent / "netlist" / "trip.malnet").read_text(encoding="utf-8")
PINS = {
    "and2": ("in-0", "in-1"), "or2": ("in-0", "in-1"), "xor2": ("in-0", "in-1"), "not": ("in",), "latch": ("set", "reset"),
    "oneshot": ("in", "reset"), "ladder": ("bit-0", "bit-1"), "toggle": ("in",), "fanout": ("in", "bit-0"),
}  # fmt: skip
OUTS = {"ladder": "out-0", "fanout": "out-1"}
LOADS = {"ladder": " outputs=2", "fanout": " type=bit bits=1 outputs=2"}


@st.composite
def nets(draw: st.DrawFn) -> str:
    """Draw a net of one to four Boolean ops, wired to two external bits or to each other, with or without loops."""
    ops = draw(st.lists(st.sampled_from(sorted(PINS)), min_size=1, max_size=4))
    sources = ["p", "q", *(f"s{number}" for number in range(len(ops)))]
    readers: dict[str, list[str]] = {name: [] for name in sources}
    lines = []
    for number, op in enumerate(ops):
        lines.append(f"loadrt {op} names=o{number}{LOADS.get(op, '')}")
        if op == "oneshot":
            lines.append(f"setp o{number}.width {draw(st.integers(1, 3))}d")
        for pin in PINS[op]:
            readers[draw(st.sampled_from([*sources, "p", "q"]))].append(f"o{number}.{pin}")
    lines += [f"net {name} {' '.join(readers[name])}" for name in ("p", "q") if readers[name]]
    for number, op in enumerate(ops):
        onto = " ".join(readers[f"s{number}"])
        lines.append(f"net s{number} o{number}.{OUTS.get(op, 'out')}{' > ' + onto if onto else ''}")
    lines += [f"addf o{number} tick" for number in draw(st.permutations(range(len(ops))))]
    return "\n".join(lines)


def all_streams(length: int, inputs: int) -> np.ndarray[Any, Any]:
    """Return all bit streams of `length` ticks, shape (streams, ticks, inputs)."""
    rows = list(itertools.product([False, True], repeat=length * inputs))
    return np.array(rows, dtype=bool).reshape(len(rows), length, inputs)


def brute_force(text: str, names: list[str], inputs: Sequence[str], length: int) -> np.ndarray[Any, Any]:
    """Run the engine on all bit streams, one per replication, and return the bits, shape (ticks, streams, signals)."""
    streams = all_streams(length, len(inputs))
    engine = Engine(link(parse(text)), replications=len(streams))
    memory = Memory.empty()
    state, rows = engine.start(memory), []
    for tick in range(length):
        bits = {name: streams[:, tick, index] for index, name in enumerate(inputs)}
        state = engine.scan(state, memory, bits).state
        rows.append([np.broadcast_to(state.signals[name], len(streams)) for name in names])
    return np.array(rows).transpose(0, 2, 1)


@given(nets())
@settings(max_examples=30, deadline=None)
def test_explored_states_match_states_in_engine_runs(text: str) -> None:
    part = part_of(link(parse(text)))
    inputs = sorted(part.inputs)
    length = 5
    space = explore(part)
    names = sorted(space.signals)
    expected = brute_force(text, names, inputs, length)
    numbers = {tuple(row): index for index, row in enumerate(space.inputs.tolist())}
    order = [inputs.index(name) for name in part.inputs]
    for number, stream in enumerate(itertools.product([False, True], repeat=length * len(inputs))):
        state = 0
        for tick in range(length):
            bits = stream[tick * len(inputs) : (tick + 1) * len(inputs)]
            valuation = numbers[tuple(bits[index] for index in order)]
            assert [bool(space.signals[name][state, valuation]) for name in names] == expected[tick, number].tolist()
            state = int(space.after[state, valuation])


@given(nets())
@settings(max_examples=30, deadline=None)
def test_dead_masked_and_stuck_bits_match_brute_force(text: str) -> None:
    part = part_of(link(parse(text)))
    if not part.net.instances:
        return
    space, length = explore(part), 5
    findings = {(finding.kind, finding.name) for finding in state_faults(space)}
    inputs, names = sorted(part.inputs), sorted(space.signals)
    expected, streams = brute_force(text, names, inputs, length), all_streams(length, len(inputs))
    outputs = [names.index(name) for name in part.outputs]
    for index, name in enumerate(names):
        changes = expected[:, :, index].min() != expected[:, :, index].max()
        assert not (changes and ("dead", name) in findings)
        assert changes or ("dead", name) in findings or len(space.states) > length
        for_ever = expected[1, :, index] & _on_in_all_continuations(expected[2:, :, index], 2 * len(inputs))
        assert (
            not for_ever.any()
            or len(space.states) > 3
            or {("stuck", name), ("dead", name)} & findings
            or not _has_memory(part, name)
        )
        assert for_ever.any() or len(space.states) > 2 or ("stuck", name) not in findings
    weights = 1 << np.arange(length * len(inputs))[::-1]
    for index, name in enumerate(inputs):
        low = streams.copy()
        low[:, :, index] = False
        twin = low.reshape(len(streams), -1) @ weights
        differs = (expected[:, :, outputs] != expected[:, twin][:, :, outputs]).any()
        assert not (differs and ("masked", name) in findings)
        assert differs or ("masked", name) in findings or space.classes.max() > 0


def _on_in_all_continuations(on: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Return, for each stream, whether the bit stays on in all streams with the same first `bits` input bits."""
    always = np.asarray(on.all(axis=0)).reshape(2**bits, -1).all(axis=1)
    return np.repeat(always, on.shape[1] >> bits)


def _has_memory(part: Part, name: str) -> bool:
    writer = part.net.signals[name].writer
    assert writer is not None
    assert writer.pin is not None
    return bool(part.net.instances[writer.pin.instance].sheet.state)


def findings_of(text: str) -> set[tuple[str, str, int]]:
    return {(item.kind, item.name, item.fault.line) for item in statics(parse(text)) if item.kind != "wiring"}


def test_published_tripwire_has_no_findings() -> None:
    assert findings_of(TRIP) == set()


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("net ack reviewer.ack > alarm.reset\n", "", ("stuck", "tripped", 11)),
        ("net is-stale stale.below > either.in-1\n", "", ("unwired", "either.in-1", 3)),
        (
            "loadrt or2 names=either",
            "loadrt reflex names=either inputs=2\nsetp either.table 0xa",
            ("masked", "is-stale", 10),
        ),
        ("loadrt or2 names=either", "loadrt reflex names=either inputs=2\nsetp either.table 0", ("dead", "bad", 11)),
        (
            "net ack reviewer.ack > alarm.reset\n",
            "loadrt and2 names=both\nnet good alarm.out-not > both.in-1\nnet ack reviewer.ack > both.in-0\n\
net clears both.out > alarm.reset\naddf both tick\n",
            ("stuck", "tripped", 16),
        ),
    ],
)
def test_defect_is_reported_with_its_line(old: str, new: str, finding: tuple[str, str, int]) -> None:
    assert old in TRIP
    assert finding in findings_of(TRIP.replace(old, new))


def test_alarm_that_cannot_be_acknowledged_is_a_defect() -> None:
    text = TRIP.replace("net is-weak weak.below > either.in-0", "net is-weak weak.below > either.in-0 both.in-1")
    text = text.replace(
        "net ack reviewer.ack > alarm.reset", "net ack reviewer.ack > both.in-0\nnet go both.out > alarm.reset"
    )
    assert findings_of("loadrt and2 names=both\naddf both tick\n" + text) == {("unacknowledgeable", "tripped", 15)}


def test_pulse_states_depend_on_the_width_in_ticks() -> None:
    text = "loadrt oneshot\nsetp oneshot.width 2d\nnet a oneshot.in\nnet b oneshot.out\naddf oneshot tick"
    part = part_of(link(parse(text)))
    assert len(explore(part).states) > len(explore(part, tick=30 * 8.64e7).states)


def test_analysis_refuses_too_many_bits_but_accepts_none() -> None:
    bits = "\n".join(f"net s{n} o{n // 5}.in-{n % 5}" for n in range(15))
    text = "\n".join(f"loadrt or5 names=o{n}\naddf o{n} tick" for n in range(3)) + "\n" + bits
    with pytest.raises(UsageError, match="too many inputs"):
        statics(parse(text))
    assert statics(parse("")) == []
    assert part_of(link(parse("loadrt watch\naddf watch tick"))).net.instances == {}


def test_truth_table_marks_deciding_bits_and_merges_states() -> None:
    table = card(explore(part_of(link(parse(TRIP)))))
    assert table.before == ("alarm.out",)
    assert table.inputs == ("is-weak", "is-stale", "ack")
    assert table.outputs == ("tripped",)
    assert table.rows.height == 16
    rows = {tuple(row[:-1]): row[-1] for row in table.rows.rows()}
    assert rows[0, 0, 0, 0, 0] == ["is-weak", "is-stale"]
    assert rows[0, 1, 0, 0, 1] == ["is-weak", "ack"]
    assert rows[1, 0, 0, 0, 1] == ["ack"]
    assert rows[1, 1, 1, 1, 0] == ["ack"]


def test_coverage_requires_that_each_input_matters_alone() -> None:
    part = part_of(link(parse(TRIP)))
    quiet = {name: np.zeros((4, 1), dtype=bool) for name in part.inputs}
    nothing = coverage(part, quiet)
    assert not nothing["shown"].any()
    bits = {name: quiet[name].copy() for name in quiet}
    bits["is-weak"][1], bits["ack"][3] = True, True
    half = dict(coverage(part, bits).select("name", "shown").rows())
    assert half == {
        "either.in-0": True, "either.in-1": False, "either.out": True, "alarm.set": True, "alarm.reset": True,
        "alarm.out": True, "severity.bit-0": True,
    }  # fmt: skip


def test_scenario_input_is_not_reported_as_an_unwritten_signal() -> None:
    document = parse("loadrt not names=known\nnet young known.in\nnet settled known.out\naddf known tick\n")
    notes = [str(item) for item in statics(document)]
    fewer = [str(item) for item in statics(document, inputs={"young"})]
    assert (
        [item for item in notes if item not in fewer]
        == [item for item in notes if "nothing writes this signal" in item]
        != []
    )
