"""What can be said of a tripwire without running it: wiring, late reads, loops, and all its Boolean part can ever do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.tripwire.boolean.explore import explore
from malsim.lab.tripwire.boolean.part import part_of
from malsim.lab.tripwire.boolean.races import races
from malsim.netlist.language.address import Pin
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import ALARMS
from malsim.netlist.lint import lint
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from malsim.lab.tripwire.boolean.explore import Explored
    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.netlist.language.statements import Document
    from malsim.netlist.wiring import Net, Signal

__all__ = ["Finding", "acknowledging", "alarms", "of_explored", "statics"]

KINDS = {
    "unwired": "an input that nothing is wired to",
    "dead": "an output that never changes",
    "masked": "an input that never matters",
    "stuck": "a bit that can be set and never reset",
    "unacknowledgeable": "an alarm that an acknowledgement cannot clear although all is quiet",
    "race": "a read a tick late, by the order of addf, that shows at an output",
    "wiring": "what lint would have you look at",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a tripwire cannot do, or does by accident: its kind, the signal or pin, and the fault with its line."""

    kind: str
    name: str
    fault: Fault

    def __str__(self) -> str:
        return f"{self.kind}: {self.fault}"


def statics(document: Document, *, tick: float = 8.64e7, inputs: Collection[str] = ()) -> list[Finding]:
    """Everything that can be said of a netlist without a stream: lint's notes, then what its Boolean part can never do.

    Parameters
    ----------
    tick
        Milliseconds between two scans.
    inputs
        Signals that are fed from outside.

    Raises
    ------
    NetlistError
        Where it does not link (an unwired writer, two writers of one signal, wrong types).
    UsageError
        Where the Boolean part is too large to look at every state.
    """
    net = link(document)
    part = part_of(net)
    found = [Finding("wiring", fault.words, fault) for fault in lint(document, net=net, inputs=inputs)]
    found += _unwired(net)
    if part.net.instances:
        found += of_explored(explore(part, tick=tick))
        found += [Finding("race", name, fault) for name, fault in races(part, tick=tick)]
    return found


def of_explored(seen: Explored) -> list[Finding]:
    """Dead outputs, masked inputs, stuck bits and unacknowledgeable alarms, exhaustively."""
    stuck = list(_stuck(seen))
    known = {finding.name for finding in stuck}
    unheard = [finding for finding in _unacknowledgeable(seen) if finding.name not in known]
    return [*_dead(seen), *_masked(seen), *stuck, *unheard]


def alarms(part_net: Net) -> list[str]:
    """The signals that latches write: what trips, stays, and is to be acknowledged."""
    return [
        name
        for name, signal in part_net.signals.items()
        if (pin := _writer(signal)) and pin.name == "out" and _op(part_net, pin) in ALARMS
    ]


def acknowledging(net: Net) -> list[str]:
    """The signals by which somebody acknowledges: what a reviewer writes, else what comes to a latch's reset."""
    written = [
        name for name, signal in net.signals.items() if signal.writer and str(signal.writer.address).startswith("reviewer.")
    ]
    resets = [
        name
        for name, signal in net.signals.items()
        if any(
            isinstance(link.address, Pin) and link.address.name == "reset" and _op(net, link.address) in ALARMS
            for link in signal.readers
        )
    ]
    return written or resets


def _writer(signal: Signal) -> Pin | None:
    where = signal.writer.address if signal.writer else None
    return where if isinstance(where, Pin) else None


def _op(net: Net, pin: Pin) -> str:
    return net.instances[pin.instance].sheet.name if pin.instance in net.instances else ""


def _at(signal: Signal, problem: str, hint: str = "") -> Fault:
    made = signal.writer or signal.links[0]
    return Fault.at(made.statement, signal.name, problem, hint=hint)


def _unwired(net: Net) -> Iterator[Finding]:
    """Inputs that an op is for, its first and those of a family, with neither a wire nor a setting."""
    wired = {str(link.address) for signal in net.signals.values() for link in signal.links}
    for name, one in net.instances.items():
        first = next(iter(one.sheet.ins), None)
        several = any(one.sheet.ins[key].many for key in one.sheet.ins)
        for pin, slot in one.sheet.slots.items():
            told = f"{name}.{pin}" in wired or pin in one.settings or pin.rpartition("-")[0] in one.settings
            wanted = slot.row is not None if several else slot.key == first and one.sheet.name not in ALARMS
            optional = slot.key == "bit"  # the bits of a selector add to its index
            if slot.key in one.sheet.ins and wanted and not told and not optional:
                hint = f"wire it, or say what it is: setp {name}.{pin} VALUE"
                fault = Fault.at(one.statement, name, f"{name}.{pin} is not wired", hint=hint)
                yield Finding("unwired", f"{name}.{pin}", fault)


def _dead(seen: Explored) -> Iterator[Finding]:
    net = seen.part.net
    for name, values in seen.signals.items():
        if net.signals[name].writer and (values.all() or not values.any()):
            word = "true" if values.all() else "false"
            fault = _at(net.signals[name], f"{name} never changes: it is always {word}")
            yield Finding("dead", name, fault)


def _masked(seen: Explored) -> Iterator[Finding]:
    """Inputs whose value changes no output, now or ever after, whatever the state and the other inputs."""
    net, classes = seen.part.net, seen.classes
    for place, name in enumerate(seen.part.inputs):
        one, other = _turned(seen, place)
        outputs = [seen.signals[out] for out in seen.part.outputs]
        told = any((values[:, one] != values[:, other]).any() for values in outputs)
        if not told and (classes[seen.after[:, one]] == classes[seen.after[:, other]]).all():
            link_ = next(link for link in net.signals[name].links if not link.writes)
            fault = Fault.at(link_.statement, name, f"{name} never matters: no output ever depends on it")
            yield Finding("masked", name, fault)


def _turned(seen: Explored, place: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
    """The valuations in which an input is false, and each with it true, where both may be."""
    weights = 1 << np.arange(seen.inputs.shape[1])
    number = seen.inputs @ weights
    at = np.full(1 << seen.inputs.shape[1], -1)
    at[number] = np.arange(len(number))
    one = np.flatnonzero(~seen.inputs[:, place])
    other = at[number[one] + weights[place]]
    return one[other >= 0], other[other >= 0]


def _stuck(seen: Explored) -> Iterator[Finding]:
    """Bits of ops with a memory that are on in some reached state, and off in none that can follow."""
    net = seen.part.net
    for name, on in seen.signals.items():
        pin = _writer(net.signals[name])
        if pin is None or not net.instances[pin.instance].sheet.state or on.all() or pin.name == "out-not":
            continue
        caught = on & ~seen.leading(~on)[seen.after]
        if caught.any():
            problem = f"{name} can be set, after {_first(seen, caught)}, and is never reset from there"
            yield Finding("stuck", name, _at(net.signals[name], problem, "wire what clears it"))


def _first(seen: Explored, transitions: Bools) -> str:
    state, valuation = np.argwhere(transitions)[0]
    return seen.said([*seen.way(int(state)), int(valuation)])


def _unacknowledgeable(seen: Explored) -> Iterator[Finding]:
    """Alarms that are on in some reached state, and that no acknowledging clears although all else is held at rest."""
    net, inputs = seen.part.net, seen.part.inputs
    known = [name for name in acknowledging(net) if name in inputs]
    mask = np.isin(inputs, known)
    if not known:
        return
    others = seen.inputs[:, ~mask]
    for name in alarms(net):
        on = seen.signals[name]
        rests = [held for held in np.unique(others, axis=0) if _rests(seen, on, (others == held).all(axis=1), mask)]
        cleared = np.zeros(len(seen.states), dtype=bool)
        for held in rests:
            cleared |= seen.leading(~on, (others == held).all(axis=1))
        caught = on & ~cleared[seen.after]
        if rests and caught.any():
            problem = f"{name}, tripped by {_first(seen, caught)}, stays on although all is quiet and {known[0]} is given"
            hint = f"let {known[0]} reach what resets it"
            yield Finding("unacknowledgeable", name, _at(net.signals[name], problem, hint))


def _rests(seen: Explored, on: Bools, held: Bools, mask: Bools) -> bool:
    """Whether an alarm stays off for ever from the start under these inputs, without any acknowledgement."""
    (valuation,) = np.flatnonzero(held & ~seen.inputs[:, mask].any(axis=1))
    state, visited = 0, set[int]()
    while state not in visited:
        visited.add(state)
        if on[state, valuation]:
            return False
        state = int(seen.after[state, valuation])
    return True
