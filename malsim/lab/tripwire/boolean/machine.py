"""A Boolean part as a machine: the state that outlives a tick as numbers, and one tick of many such states at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malsim.memory import Memory
from malsim.netlist.engine.rows import Rows
from malsim.netlist.engine.steps import compile_step
from malsim.netlist.language.address import Pin

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.part import Part
    from malsim.netlist.wiring import Net
    from ops.pin.state import State

__all__ = ["Bools", "Machine", "Stepped"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
DAY = 8.64e7


class _Place(NamedTuple):
    """One number of a state: a pin of an instance (its key, its row in a family), or a signal (no instance)."""

    instance: str
    key: str
    row: int | None


@dataclass(frozen=True)
class Stepped:
    """One tick of many rows: their next states, every bit by the signal's name, and each op's pins as it was called."""

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
        self.steps = {name: compile_step(one, on, tick=tick * every.get(name, 1)) for name, one in net.instances.items()}
        self.cycle = math.lcm(*(thread.every for thread in net.threads if thread.functions))
        self.fresh = {name: step.start(1) for name, step in self.steps.items()}
        self.places = [*_pins(net), *(_Place("", name, None) for name in _lingering(part))]
        self.outer = [name for name in net.signals if name not in part.inputs]

    @property
    def names(self) -> list[str]:
        """What each number of a state is called: `alarm.out`, or a signal."""
        spelled = {
            (name, slot.key, slot.row): f"{name}.{pin}"
            for name, one in self.part.net.instances.items()
            for pin, slot in one.sheet.slots.items()
        }
        return [spelled.get((place.instance, place.key, place.row), place.key) for place in self.places]

    def start(self) -> Floats:
        """The state before the first tick, one row."""
        made = [
            self.fresh[place.instance][place.key][... if place.row is None else place.row].ravel()[0]
            if place.instance
            else self._first(place.key)
            for place in self.places
        ]
        return np.array([made], dtype=np.float64).reshape(1, len(self.places))

    def _first(self, signal: str) -> float:
        """What a signal holds before anything wrote it: what it was set to, else its writer's start."""
        if signal in self.part.net.initial:
            return float(self.part.net.initial[signal])
        writer = self.part.net.signals[signal].writer
        pin = writer.address if writer else None
        return float(self.part.net.instances[pin.instance].sheet.slots[pin.name].pin.first) if isinstance(pin, Pin) else 0.0

    def step(self, states: Floats, inputs: Bools, number: int) -> Stepped:
        """Call every op that is due at the tick of this number (from 1), in order, on each row.

        Parameters
        ----------
        states
            Rows × places.
        inputs
            Rows × inputs of the part.
        """
        count = len(states)
        rows = Rows(Memory.empty(), count)
        ops, signals = self._unpacked(states)
        signals |= dict(zip(self.part.inputs, inputs.T, strict=True))
        before = dict(ops)
        with np.errstate(all="ignore"):
            for thread in self.part.net.threads:
                for name in thread.functions if number % thread.every == 0 else ():
                    ops[name] = self.steps[name].call(ops[name], signals, rows)
        return Stepped(self._packed(ops, signals, count), signals, ops, before)

    def _unpacked(self, states: Floats) -> tuple[dict[str, State], dict[str, Bools]]:
        count = len(states)
        ops: dict[str, dict[str, NDArray[np.generic]]] = {
            name: {key: np.repeat(value, count, axis=-1) if key in step.instance.sheet.outs or key in step.instance.sheet.ins
                   else value for key, value in self.fresh[name].items()}
            for name, step in self.steps.items()
        }  # fmt: skip
        signals = {name: np.full(count, bool(self._first(name))) for name in self.outer}
        for column, place in enumerate(self.places):
            if place.instance:
                held = ops[place.instance][place.key]
                held[... if place.row is None else place.row] = states[:, column].astype(held.dtype)
            else:
                signals[place.key] = states[:, column].astype(np.bool_)
        return dict(ops), signals

    def _packed(self, ops: dict[str, State], signals: dict[str, Bools], count: int) -> Floats:
        made = np.empty((count, len(self.places)))
        for column, place in enumerate(self.places):
            held = ops[place.instance][place.key] if place.instance else signals[place.key]
            made[:, column] = held if place.row is None else held[place.row]
        return made


def _pins(net: Net) -> list[_Place]:
    """The pins that are an op's state: outputs that its function also takes."""
    return [
        _Place(name, slot.key, slot.row)
        for name, one in net.instances.items()
        for slot in one.sheet.slots.values()
        if slot.key in one.sheet.state
    ]


def _lingering(part: Part) -> list[str]:
    """Signals whose value of one tick is seen in the next: read before they are written, or not written at every tick."""
    net = part.net
    turn = {
        name: (rank, place, thread.every)
        for rank, thread in enumerate(net.threads)
        for place, name in enumerate(thread.functions)
    }
    found = []
    for name, signal in net.signals.items():
        pin = signal.writer.address if signal.writer else None
        wrote = turn.get(pin.instance) if isinstance(pin, Pin) else None
        if name in part.inputs or wrote is None:
            continue
        readers = [turn[link.address.instance] for link in signal.readers
                   if isinstance(link.address, Pin) and link.address.instance in turn]  # fmt: skip
        if wrote[2] != 1 or any(read[:2] <= wrote[:2] for read in readers):
            found.append(name)
    return found
