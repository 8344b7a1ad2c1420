"""A Boolean part as a machine: the state that outlives a tick as numbers, and one tick of many such states at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malsim.memory import Memory
from malsim.netlist.engine.engine import DAY
from malsim.netlist.engine.rows import Rows
from malsim.netlist.engine.steps import compile_step
from malsim.netlist.language.address import Pin

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.part import Part
    from malsim.netlist.wiring import Net
    from ops.pin.state import State

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class _Place(NamedTuple):
    """Number within a state: a pin of an instance (its key, its row in a family), or a signal (no instance)."""

    instance: str
    key: str
    row: int | None


@dataclass(frozen=True)
class MachineStep:
    """Result of one tick for many rows: next states, bits by signal, and each op's pins before and after the tick."""

    states: Floats
    signals: dict[str, Bools]
    ops: dict[str, State]
    before: dict[str, State]


class Machine:
    """The ops of a part, ready to be called on many states at once.

    Parameters
    ----------
    tick
        Milliseconds between two scans.
    """

    def __init__(self, part: Part, *, tick: float = DAY) -> None:
        self.part, net = part, part.net
        on = {str(link.address): signal for signal in net.signals.values() for link in signal.links}
        every = {name: thread.every for thread in net.threads for name in thread.functions}
        self.steps = {name: compile_step(item, on, tick=tick * every.get(name, 1)) for name, item in net.instances.items()}
        self.cycle = math.lcm(*(thread.every for thread in net.threads if thread.functions))
        self.fresh = {name: step.start(1) for name, step in self.steps.items()}
        self.places = [*_pins(net), *(_Place("", name, None) for name in _lingering(part))]
        self.outer = [name for name in net.signals if name not in part.inputs]

    @property
    def names(self) -> list[str]:
        """Name of each number of a state: `alarm.out`, or a signal."""
        pins = {
            (name, slot.key, slot.row): f"{name}.{pin}"
            for name, item in self.part.net.instances.items()
            for pin, slot in item.sheet.slots.items()
        }
        return [pins.get(number, number.key) for number in self.places]

    def start(self) -> Floats:
        """The state before the first tick, one row."""
        values = [
            self.fresh[number.instance][number.key][... if number.row is None else number.row].ravel()[0]
            if number.instance
            else self._first(number.key)
            for number in self.places
        ]
        return np.array([values], dtype=np.float64)

    def _first(self, signal: str) -> float:
        """The value of a signal before anything wrote it: what it was set to, else its writer's start."""
        if signal in self.part.net.initial:
            return float(self.part.net.initial[signal])
        writer = self.part.net.signals[signal].writer
        pin = writer.address if writer else None
        return float(self.part.net.instances[pin.instance].sheet.slots[pin.name].pin.first) if isinstance(pin, Pin) else 0.0

    def step(self, states: Floats, inputs: Bools, number: int) -> MachineStep:
        """Call every op that is due at the tick of this number (from 1), in order, on each row."""
        rows = Rows(Memory.empty(), len(states))
        ops, signals = self._unpack(states)
        signals |= dict(zip(self.part.inputs, inputs.T, strict=True))
        before = dict(ops)
        with np.errstate(all="ignore"):
            for thread in self.part.net.threads:
                for name in thread.functions if number % thread.every == 0 else ():
                    ops[name] = self.steps[name].call(ops[name], signals, rows)
        after = np.empty_like(states)
        for column, index in enumerate(self.places):
            values = ops[index.instance][index.key] if index.instance else signals[index.key]
            after[:, column] = values if index.row is None else values[index.row]
        return MachineStep(after, signals, ops, before)

    def _unpack(self, states: Floats) -> tuple[dict[str, State], dict[str, Bools]]:
        """The pins of every op and the signals that the part writes, as they are in each state."""
        count = len(states)
        ops: dict[str, dict[str, NDArray[np.generic]]] = {
            name: {key: np.repeat(value, count, axis=-1) if key in step.instance.sheet.outs or key in step.instance.sheet.ins
                   else value for key, value in self.fresh[name].items()}
            for name, step in self.steps.items()
        }  # fmt: skip
        signals = {name: np.full(count, bool(self._first(name))) for name in self.outer}
        for column, index in enumerate(self.places):
            if index.instance:
                values = ops[index.instance][index.key]
                values[... if index.row is None else index.row] = states[:, column].astype(values.dtype)
            else:
                signals[index.key] = states[:, column].astype(np.bool_)
        return dict(ops), signals


def _pins(net: Net) -> list[_Place]:
    """The pins that are an op's state: outputs that its function also takes."""
    return [
        _Place(name, slot.key, slot.row)
        for name, item in net.instances.items()
        for slot in item.sheet.slots.values()
        if slot.key in item.sheet.state
    ]


def _lingering(part: Part) -> list[str]:
    """Signals whose value of one tick is seen in the next: read before they are written, or not written at every tick."""
    net = part.net
    turn = {
        name: (rank, index, thread.every)
        for rank, thread in enumerate(net.threads)
        for index, name in enumerate(thread.functions)
    }
    names = []
    for name, signal in net.signals.items():
        pin = signal.writer.address if signal.writer else None
        writer = turn.get(pin.instance) if isinstance(pin, Pin) else None
        if name in part.inputs or writer is None:
            continue
        readers = [turn[link.address.instance] for link in signal.readers
                   if isinstance(link.address, Pin) and link.address.instance in turn]  # fmt: skip
        if writer[2] != 1 or any(reader[:2] <= writer[:2] for reader in readers):
            names.append(name)
    return names
