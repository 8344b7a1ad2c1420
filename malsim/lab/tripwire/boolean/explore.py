"""Reachable states of a Boolean part, under every input."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import UsageError
from malsim.lab.tripwire.boolean.machine import Machine
from malsim.netlist.engine.engine import DAY

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.boolean.part import Part

Ints = NDArray[np.int64]
MOST_INPUTS = 12
MOST_ROWS = 1 << 20


@dataclass(frozen=True)
class StateSpace:
    """The states a part can reach from its start, and where each input leads.

    Parameters
    ----------
    inputs
        Valuations × inputs of the part: what can come to it in one tick.
    states
        States × places of the machine; the first is the start.
    after
        States × valuations: the state that follows.
    signals
        Signal to states × valuations: its value in that tick.
    came
        States × (state, valuation) by which each was first reached.
    """

    machine: Machine
    inputs: Bools
    states: NDArray[np.float64]
    after: Ints
    signals: dict[str, Bools]
    came: Ints

    @property
    def part(self) -> Part:
        """The part these are the states of."""
        return self.machine.part

    @cached_property
    def classes(self) -> Ints:
        """The class of each state: two states of one class can never be told apart by the outputs (Moore, 1956)."""
        classes = _row_numbers(np.column_stack([np.zeros(len(self.states)), *(self.signals[n] for n in self.part.outputs)]))
        while True:
            finer = _row_numbers(np.column_stack([classes, classes[self.after]]))
            if finer.max() == classes.max():
                return classes
            classes = finer

    def turned(self, place: int) -> Ints:
        """For each valuation the one that differs in this input alone; −1 where the inputs cannot be so."""
        weights = 1 << np.arange(self.inputs.shape[1])
        number = self.inputs @ weights
        at = np.full(1 << self.inputs.shape[1], -1)
        at[number] = np.arange(len(number))
        other: Ints = at[number ^ weights[place]]
        return other

    def way(self, transitions: Bools) -> str:
        """The shortest way from the start to the first of some transitions (states × valuations), in words.

        The inputs that are true in each tick; empty inputs are "nothing".
        """
        state, last = np.argwhere(transitions)[0]
        valuations = [last]
        while state:
            state, valuation = self.came[state]
            valuations.append(valuation)
        ticks = [
            "+".join(name for name, on in zip(self.part.inputs, self.inputs[item], strict=True) if on) or "nothing"
            for item in reversed(valuations)
        ]
        return ", then ".join(ticks)

    def leading(self, transitions: Bools, allowed: Bools | None = None) -> Bools:
        """The states from which one of the transitions (states × valuations) can still come, by allowed valuations."""
        mask = np.ones(len(self.inputs), dtype=bool) if allowed is None else allowed
        reaching = np.asarray((transitions & mask).any(axis=1))
        while True:
            wider = reaching | (reaching[self.after] & mask).any(axis=1)
            if (wider == reaching).all():
                return reaching
            reaching = wider


def explore(part: Part, *, tick: float = DAY) -> StateSpace:
    """Return every reachable state of a Boolean part, breadth first from its start."""
    if len(part.inputs) > MOST_INPUTS:
        problem = "too many inputs to look at every one"
        raise UsageError(problem, given=len(part.inputs), allowed=f"up to {MOST_INPUTS}", hint="cut the net in two")
    return _breadth_first(Machine(part, tick=tick), valuations(part))


def valuations(part: Part) -> Bools:
    """Return the possible inputs of one tick, all at rest first; inputs that exclude each other are never true together."""
    count = len(part.inputs)
    every = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
    at = {name: index for index, name in enumerate(part.inputs)}
    for item, other in part.apart:
        every = every[~(every[:, at[item]] & every[:, at[other]])]
    return every


def _breadth_first(machine: Machine, inputs: Bools) -> StateSpace:
    start = machine.start()
    number: dict[bytes, int] = {_key(0, start[0]): 0}
    states, came, after = [start[0]], [(0, 0)], []
    signals: dict[str, list[Bools]] = {name: [] for name in machine.outer}
    frontier, ticks = [0], 0
    while frontier:
        ticks += 1
        if len(states) * len(inputs) > MOST_ROWS:
            raise UsageError("too many states to look at every one", given=len(states), hint="shorten its times, or cut it")
        rows = np.repeat(np.array([states[item] for item in frontier]), len(inputs), axis=0)
        step = machine.step(rows, np.tile(inputs, (len(frontier), 1)), ticks)
        for name, values in signals.items():
            values.append(np.broadcast_to(step.signals[name], len(rows)).reshape(len(frontier), -1))
        fresh = []
        leads = np.empty(len(rows), dtype=np.int64)
        for row, state in enumerate(step.states):
            key = _key(ticks % machine.cycle, state)
            if key not in number:
                number[key] = len(states)
                states.append(state)
                came.append((frontier[row // len(inputs)], row % len(inputs)))
                fresh.append(number[key])
            leads[row] = number[key]
        after.append(leads.reshape(len(frontier), -1))
        frontier = fresh
    bits = {name: np.concatenate(values) for name, values in signals.items()}
    return StateSpace(machine, inputs, np.array(states), np.concatenate(after), bits, np.array(came))


def _key(phase: int, state: NDArray[np.float64]) -> bytes:
    return bytes([phase % 256, phase // 256 % 256]) + state.tobytes()


def _row_numbers(rows: NDArray[np.generic]) -> Ints:
    numbers: Ints = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return numbers
