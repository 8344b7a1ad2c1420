"""Boolean part of a netlist, which consists of the ops that are wired only to bits, and its state machine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malsim.memory import Memory
from malsim.netlist.engine.engine import DAY
from malsim.netlist.engine.rows import Rows
from malsim.netlist.engine.steps import compile_step
from malsim.netlist.language.address import Pin
from malsim.netlist.wiring.net import Net
from malsim.scenario.proof.ticks.cut import initial_value

if TYPE_CHECKING:
    from collections.abc import Container

    from malsim.netlist.wiring import Signal
    from ops.pin.state import State

NEVER_BOTH = (("above", "below"), ("rose", "fell"))  # pairs of outputs of one op that are never true at the same time


@dataclass(frozen=True)
class Part:
    """Boolean part of a netlist, represented as a net whose ops all belong to the domain `run`.

    `inputs` are the bits written outside the part: by a watch, a cell's flag, the loop, or a caller. `outputs` are the bits
    read outside the part or not at all. `apart` has the pairs of inputs that are never true together.
    """

    net: Net
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    apart: tuple[tuple[str, str], ...] = ()


def part_of(net: Net) -> Part:
    """Extract the Boolean part of a net. The part may be empty.

    An op belongs to the part if all its wired pins are bits and at least one of its inputs is wired.
    """
    pins: dict[str, dict[str, Signal]] = {}
    for signal in net.signals.values():
        for link in signal.links:
            if isinstance(link.address, Pin):
                pins.setdefault(link.address.instance, {})[link.address.name] = signal
    inside = {}
    for name, item in net.instances.items():
        wired = pins.get(name, {})
        reads = any(item.sheet.slots[pin].key in item.sheet.ins for pin in wired)
        if reads and all(signal.type == "bit" for signal in wired.values()):
            inside[name] = item
    signals = {
        name: replace(signal, domain="run")
        for name, signal in net.signals.items()
        if signal.type == "bit" and any(_inside(link.address, inside) for link in signal.links)
    }
    inputs = tuple(
        name
        for name, signal in signals.items()
        if (not _inside(signal.writer.address, inside) if signal.writer else name not in net.initial)
    )
    outputs = tuple(
        name
        for name, signal in signals.items()
        if name not in inputs and (not signal.readers or not all(_inside(link.address, inside) for link in signal.readers))
    )
    threads = tuple(
        replace(thread, functions=tuple(name for name in thread.functions if name in inside)) for thread in net.threads
    )
    cut = Net(
        instances={name: replace(item, domain="run") for name, item in inside.items()},
        signals=signals,
        threads=threads,
        initial={name: value for name, value in net.initial.items() if name in signals},
    )
    return Part(cut, inputs, outputs, _apart(signals, inputs))


def _inside(address: object, inside: Container[str]) -> bool:
    return isinstance(address, Pin) and address.instance in inside


def _apart(signals: dict[str, Signal], inputs: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    by_pin = {
        (link.address.instance, link.address.name): name
        for name in inputs
        if (link := signals[name].writer) and isinstance(link.address, Pin)
    }
    return tuple(
        (name, by_pin[instance, other])
        for (instance, pin), name in by_pin.items()
        for first, other in NEVER_BOTH
        if pin == first and (instance, other) in by_pin
    )


Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MachineStep:
    """Result of running one tick from many states: next states, signal values, and op pins before and after the tick."""

    states: Floats
    signals: dict[str, Bools]
    ops: dict[str, State]
    before: dict[str, State]


class Machine:
    """State machine of a Boolean part. It steps many states at once; `tick` is the length of a tick in milliseconds."""

    def __init__(self, part: Part, *, tick: float = DAY) -> None:
        self.part, net = part, part.net
        by_pin = {str(link.address): signal for signal in net.signals.values() for link in signal.links}
        every = {name: thread.every for thread in net.threads for name in thread.functions}
        self.steps = {
            name: compile_step(item, by_pin, tick=tick * every.get(name, 1)) for name, item in net.instances.items()
        }
        self.cycle = math.lcm(*(thread.every for thread in net.threads if thread.functions))
        self.fresh = {name: step.start(1) for name, step in self.steps.items()}
        # An op's state consists of the outputs that its function also takes as inputs.
        pins = (
            (name, slot.key, slot.row)
            for name, item in net.instances.items()
            for slot in item.sheet.slots.values()
            if slot.key in item.sheet.state
        )
        # Each column of a state row is a pin (instance, key, row in a family) or a signal ("", name, None).
        self.slots = [*pins, *(("", name, None) for name in _lingering(part))]
        self.outer = [name for name in net.signals if name not in part.inputs]

    @property
    def names(self) -> list[str]:
        """Names of the columns of a state row: pins such as `alarm.out`, and signals."""
        pins = {
            (name, slot.key, slot.row): f"{name}.{pin}"
            for name, item in self.part.net.instances.items()
            for pin, slot in item.sheet.slots.items()
        }
        return [pins.get(slot, slot[1]) for slot in self.slots]

    def start(self) -> Floats:
        """Return the state before the first tick as an array with one row."""
        values = [
            self.fresh[instance][key][... if row is None else row].ravel()[0]
            if instance
            else float(initial_value(self.part.net, key))
            for instance, key, row in self.slots
        ]
        return np.array([values], dtype=np.float64)

    def step(self, states: Floats, inputs: Bools, number: int) -> MachineStep:
        """Run tick `number` (counted from 1) from each row of `states`, calling the ops that are due in order."""
        rows = Rows(Memory.empty(), len(states))
        ops, signals = self._unpack(states)
        signals |= dict(zip(self.part.inputs, inputs.T, strict=True))
        before = dict(ops)
        with np.errstate(all="ignore"):
            for thread in self.part.net.threads:
                for name in thread.functions if number % thread.every == 0 else ():
                    ops[name] = self.steps[name].call(ops[name], signals, rows)
        after = np.empty_like(states)
        for column, (instance, key, row) in enumerate(self.slots):
            values = ops[instance][key] if instance else signals[key]
            after[:, column] = values if row is None else values[row]
        return MachineStep(after, signals, ops, before)

    def _unpack(self, states: Floats) -> tuple[dict[str, State], dict[str, Bools]]:
        """Return the op pins and the internal signals that the given state rows encode."""
        count = len(states)
        ops: dict[str, dict[str, NDArray[np.generic]]] = {
            name: {key: np.repeat(value, count, axis=-1) if key in step.instance.sheet.outs or key in step.instance.sheet.ins
                   else value for key, value in self.fresh[name].items()}
            for name, step in self.steps.items()
        }  # fmt: skip
        signals = {name: np.full(count, bool(initial_value(self.part.net, name))) for name in self.outer}
        for column, (instance, key, row) in enumerate(self.slots):
            if instance:
                values = ops[instance][key]
                values[... if row is None else row] = states[:, column].astype(values.dtype)
            else:
                signals[key] = states[:, column].astype(np.bool_)
        return dict(ops), signals


def _lingering(part: Part) -> list[str]:
    """Return the signals that carry over to the next tick: read before being written, or not written on every tick."""
    net = part.net
    order = {
        name: (rank, index, thread.every)
        for rank, thread in enumerate(net.threads)
        for index, name in enumerate(thread.functions)
    }
    names = []
    for name, signal in net.signals.items():
        pin = signal.writer.address if signal.writer else None
        writer = order.get(pin.instance) if isinstance(pin, Pin) else None
        if name in part.inputs or writer is None:
            continue
        readers = [order[link.address.instance] for link in signal.readers
                   if isinstance(link.address, Pin) and link.address.instance in order]  # fmt: skip
        if writer[2] != 1 or any(reader[:2] <= writer[:2] for reader in readers):
            names.append(name)
    return names
