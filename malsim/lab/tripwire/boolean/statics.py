"""Static analysis of a tripwire's netlist: unwired pins, unreachable levels, loops, and faults of its Boolean part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import ops
from malsim.lab.tripwire.boolean.explore import explore
from malsim.lab.tripwire.boolean.part import part_of
from malsim.netlist.engine.engine import DAY
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import ALARMS
from malsim.netlist.language.statements import Set
from malsim.netlist.lint import lint
from malsim.netlist.wiring import link
from malsim.netlist.wiring.loops import loops
from malsim.scenario.proof.terms.elements import OutsideError
from malsim.scenario.proof.ticks.cut import cut

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from malsim.lab.tripwire.boolean.explore import StateSpace
    from malsim.lab.tripwire.boolean.part import Bools
    from malsim.netlist.language.statements import Document
    from malsim.netlist.wiring import Instance, Net, Signal


@dataclass(frozen=True, slots=True)
class Finding:
    """Fault found in a netlist, with its kind and the name of the signal or pin concerned.

    Kinds: `unwired` input, `dead` output, `masked` input, `stuck` bit, `unacknowledgeable` alarm, `loop` without a memory,
    `level` that its input cannot cross, `wiring` (a note from lint).
    """

    kind: str
    name: str
    fault: Fault

    def __str__(self) -> str:
        return f"{self.kind}: {self.fault}"


def statics(document: Document, *, tick: float = DAY, inputs: Collection[str] = ()) -> list[Finding]:
    """Return the faults that can be found in a netlist without running it, with the faults of its Boolean part last.

    Parameters
    ----------
    tick
        Milliseconds between two scans.
    inputs
        Signals that are written from outside the netlist.

    Raises
    ------
    NetlistError
        If the netlist does not link (an unwired writer, two writers of one signal, wrong types).
    UsageError
        If the Boolean part is too large to explore every state.
    """
    net = link(document)
    part = part_of(net)
    findings = [Finding("wiring", fault.words, fault) for fault in lint(document, net=net, inputs=inputs)]
    findings += [*_unwired_pins(net), *_levels(document, net), *_loops(net)]
    if part.net.instances:
        findings += state_faults(explore(part, tick=tick))
    return findings


def state_faults(space: StateSpace) -> list[Finding]:
    """Return the dead outputs, masked inputs, stuck bits and unacknowledgeable alarms found in the reachable states."""
    stuck = list(_stuck_bits(space))
    names = {finding.name for finding in stuck}
    unacknowledgeable = [finding for finding in _unacknowledgeable(space) if finding.name not in names]
    return [*_dead(space), *_masked_inputs(space), *stuck, *unacknowledgeable]


def alarms(net: Net) -> list[str]:
    """Return the names of the signals that latches write."""
    return [signal.name for signal in net.alarms if signal.writer and signal.writer.pin and signal.writer.pin.name == "out"]


def acknowledging(net: Net) -> list[str]:
    """Return the acknowledgement signals: those that a reviewer writes or, if none, those wired to a latch's reset."""
    reviews = [
        name for name, signal in net.signals.items() if signal.writer and str(signal.writer.address).startswith("reviewer.")
    ]
    resets = {f"{name}.reset" for name, instance in net.instances.items() if instance.sheet.name in ALARMS}
    return reviews or [
        name for name, signal in net.signals.items() if any(str(link.address) in resets for link in signal.readers)
    ]


def _fault_at_writer(signal: Signal, problem: str, hint: str = "") -> Fault:
    end = signal.writer or signal.links[0]
    return Fault.at(end.statement, signal.name, problem, hint=hint)


def _unwired_pins(net: Net) -> Iterator[Finding]:
    """Yield a finding for each required input (an op's first input or family of inputs) without a wire or a value."""
    wires = {str(link.address) for signal in net.signals.values() for link in signal.links}
    for name, item in net.instances.items():
        first = next(iter(item.sheet.ins), None)
        several = any(item.sheet.ins[key].many for key in item.sheet.ins)
        for pin, slot in item.sheet.slots.items():
            has_value = f"{name}.{pin}" in wires or pin in item.settings or pin.rpartition("-")[0] in item.settings
            needs_value = slot.row is not None if several else slot.key == first and item.sheet.name not in ALARMS
            optional = slot.key == "bit"  # a selector's `bit` inputs only add to its index, so they may stay unwired
            if slot.key in item.sheet.ins and needs_value and not has_value and not optional:
                hint = f"wire it, or give it a value: setp {name}.{pin} VALUE"
                fault = Fault.at(item.statement, name, f"{name}.{pin} is not wired", hint=hint)
                yield Finding("unwired", f"{name}.{pin}", fault)


def _levels(document: Document, net: Net) -> Iterator[Finding]:
    """Yield a finding for each watch whose level lies outside the bounds of the signal it watches."""
    try:
        bounds = {item.name: item for item in cut(net).inputs}
    except OutsideError:
        return
    for item in document.statements:
        name, _, pin = str(item.address).rpartition(".") if isinstance(item, Set) else ("", "", "")
        watched = bounds.get(net.pins.get(f"{name}.in", ""))
        if pin != "level" or name not in net.instances or net.instances[name].sheet.name != "watch" or watched is None:
            continue
        level = _level(net.instances[name])
        low, high = (-math.inf if watched.low is None else watched.low, math.inf if watched.high is None else watched.high)
        if not low <= level <= high:
            problem = f"{name}.level is {level:g}, but {watched.name} lies between {low:g} and {high:g}, so it never crosses"
            hint = "choose a level between these bounds"
            yield Finding("level", f"{name}.level", Fault.at(item, name, problem, hint=hint))


def _level(watch: Instance) -> float:
    return float(ops.start(watch.sheet, 1, watch.settings)["level"].ravel()[0])


def levels_of(net: Net) -> dict[str, list[float]]:
    """Return, for each signal, the levels of the watches that read it."""
    return {
        name: [_level(watch) for link in signal.readers
               if link.pin and (watch := net.instances.get(link.pin.instance)) and watch.sheet.name == "watch"]
        for name, signal in net.signals.items()
    }  # fmt: skip


def _loops(net: Net) -> Iterator[Finding]:
    """Yield a finding for each loop of stateless ops, whose values depend only on the order of the `addf` statements."""
    for loop in loops(net):
        names = [step.writes.instance for step in loop.steps]
        if not any(net.instances[name].sheet.state for name in names):
            problem = f"a loop without a delay or a memory: {str(loop)[2:]}"
            hint = "put a latch, a timer or a smooth into it, or cut it"
            statement = net.signals[loop.steps[0].signal].links[0].statement
            yield Finding("loop", names[0], Fault.at(statement, names[0], problem, hint=hint))


def _dead(space: StateSpace) -> Iterator[Finding]:
    net = space.part.net
    for name, values in space.signals.items():
        if net.signals[name].writer and (values.all() or not values.any()):
            word = "true" if values.all() else "false"
            yield Finding("dead", name, _fault_at_writer(net.signals[name], f"{name} never changes: it is always {word}"))


def _masked_inputs(space: StateSpace) -> Iterator[Finding]:
    """Yield a finding for each input that never affects an output, whatever the state and the other inputs are."""
    net, classes = space.part.net, space.classes
    for index, name in enumerate(space.part.inputs):
        other = space.flipped(index)
        valuations, other = np.flatnonzero(other >= 0), other[other >= 0]
        outputs = [space.signals[out] for out in space.part.outputs]
        matters = any((values[:, valuations] != values[:, other]).any() for values in outputs)
        if not matters and (classes[space.after[:, valuations]] == classes[space.after[:, other]]).all():
            end = next(end for end in net.signals[name].links if not end.writes)
            yield Finding("masked", name, Fault.at(end.statement, name, f"{name} never matters: no output depends on it"))


def _stuck_bits(space: StateSpace) -> Iterator[Finding]:
    """Yield a finding for each bit that a stateful op can set in some reachable state and never reset afterwards."""
    net = space.part.net
    for name, on in space.signals.items():
        writer = net.signals[name].writer
        pin = writer.pin if writer else None
        if pin is None or not net.instances[pin.instance].sheet.state or on.all() or pin.name == "out-not":
            continue
        for_ever = on & ~space.can_reach(~on)[space.after]
        if for_ever.any():
            problem = f"{name} can be set, after {space.shortest_path(for_ever)}, and is never reset after that"
            yield Finding("stuck", name, _fault_at_writer(net.signals[name], problem, "wire its reset"))


def _unacknowledgeable(space: StateSpace) -> Iterator[Finding]:
    """Yield a finding for each alarm that no acknowledgement can clear, even while all other inputs are at rest."""
    net, inputs = space.part.net, space.part.inputs
    acks = [name for name in acknowledging(net) if name in inputs]
    mask = np.isin(inputs, acks)
    if not acks:
        return
    others = space.inputs[:, ~mask]
    for name in alarms(net):
        on = space.signals[name]
        constant = [(others == values).all(axis=1) for values in np.unique(others, axis=0)]
        quiet = [valuations for valuations in constant if _stays_off(space, on, valuations, mask)]
        clears = np.zeros(len(space.states), dtype=bool)
        for valuations in quiet:
            clears |= space.can_reach(~on, valuations)
        for_ever = on & ~clears[space.after]
        if quiet and for_ever.any():
            problem = f"{name}, tripped by {space.shortest_path(for_ever)}, stays on when all is quiet and {acks[0]} is true"
            hint = f"wire {acks[0]} to its reset"
            yield Finding("unacknowledgeable", name, _fault_at_writer(net.signals[name], problem, hint))


def _stays_off(space: StateSpace, on: Bools, valuations: Bools, mask: Bools) -> bool:
    """Return whether an alarm stays off forever from the initial state under constant inputs without an acknowledgement."""
    (valuation,) = np.flatnonzero(valuations & ~space.inputs[:, mask].any(axis=1))
    state, visits = 0, set[int]()
    while state not in visits:
        visits.add(state)
        if on[state, valuation]:
            return False
        state = int(space.after[state, valuation])
    return True
