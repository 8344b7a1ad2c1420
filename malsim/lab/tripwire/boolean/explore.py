"""Reachable states of a netlist's Boolean part under all possible inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import UsageError
from malsim.lab.tripwire.boolean.part import Machine
from malsim.netlist.engine.engine import DAY

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.part import Bools, Part

Ints = NDArray[np.int64]
MOST_INPUTS = 12
MOST_ROWS = 1 << 20


@dataclass(frozen=True)
class StateSpace:
    """States that a Boolean part can reach from its initial state, and the transitions between them.

    `inputs` (valuations × inputs) has the combinations of inputs that are possible in one tick. `states` has one row per
    state, the initial state first. `after` (states × valuations) is the index of the next state, and `signals` the value of
    each signal in that tick. `reached_by` is the (state, valuation) from which each state was first reached.
    """

    machine: Machine
    inputs: Bools
    states: NDArray[np.float64]
    after: Ints
    signals: dict[str, Bools]
    reached_by: Ints

    @property
    def part(self) -> Part:
        """Boolean part whose states were explored."""
        return self.machine.part

    @cached_property
    def classes(self) -> Ints:
        """Equivalence class of each state: the outputs can never distinguish two states of the same class (Moore, 1956)."""
        classes = _row_numbers(np.column_stack([np.zeros(len(self.states)), *(self.signals[n] for n in self.part.outputs)]))
        while True:
            finer = _row_numbers(np.column_stack([classes, classes[self.after]]))
            if finer.max() == classes.max():
                return classes
            classes = finer

    def flipped(self, index: int) -> Ints:
        """Return, for each input combination, the index of that combination with input `index` flipped (−1: none)."""
        weights = 1 << np.arange(self.inputs.shape[1])
        codes = self.inputs @ weights
        row_of = np.full(1 << self.inputs.shape[1], -1)
        row_of[codes] = np.arange(len(codes))
        other: Ints = row_of[codes ^ weights[index]]
        return other

    def shortest_path(self, transitions: Bools) -> str:
        """Describe the shortest path to any of the given transitions by the inputs that are true in each tick.

        `transitions` is a mask, states × valuations; a tick without true inputs is "nothing".
        """
        state, last = np.argwhere(transitions)[0]
        path = [last]
        while state:
            state, valuation = self.reached_by[state]
            path.append(valuation)
        ticks = [
            "+".join(name for name, on in zip(self.part.inputs, self.inputs[valuation], strict=True) if on) or "nothing"
            for valuation in reversed(path)
        ]
        return ", then ".join(ticks)

    def can_reach(self, transitions: Bools, allowed: Bools | None = None) -> Bools:
        """Return a mask of the states from which allowed inputs can lead to one of the given transitions.

        `transitions` is a mask (states × combinations of inputs).
        """
        mask = np.ones(len(self.inputs), dtype=bool) if allowed is None else allowed
        reaching = np.asarray((transitions & mask).any(axis=1))
        while True:
            wider = reaching | (reaching[self.after] & mask).any(axis=1)
            if (wider == reaching).all():
                return reaching
            reaching = wider


def explore(part: Part, *, tick: float = DAY) -> StateSpace:
    """Return all reachable states of a Boolean part, found by a breadth-first search from its initial state."""
    if len(part.inputs) > MOST_INPUTS:
        problem = "too many inputs to explore every combination"
        raise UsageError(problem, given=len(part.inputs), allowed=f"at most {MOST_INPUTS}", hint="split the netlist in two")
    machine, inputs = Machine(part, tick=tick), _valuations(part)
    start = machine.start()
    index_of: dict[bytes, int] = {_key(0, start[0]): 0}
    states, reached_by, after = [start[0]], [(0, 0)], []
    signals: dict[str, list[Bools]] = {name: [] for name in machine.outer}
    frontier, ticks = [0], 0
    while frontier:
        ticks += 1
        if len(states) * len(inputs) > MOST_ROWS:
            hint = "shorten the netlist's timers, or split the netlist"
            raise UsageError("too many states to explore", given=len(states), hint=hint)
        rows = np.repeat(np.array([states[index] for index in frontier]), len(inputs), axis=0)
        step = machine.step(rows, np.tile(inputs, (len(frontier), 1)), ticks)
        for name, values in signals.items():
            values.append(np.broadcast_to(step.signals[name], len(rows)).reshape(len(frontier), -1))
        fresh = []
        leads = np.empty(len(rows), dtype=np.int64)
        for row, state in enumerate(step.states):
            key = _key(ticks % machine.cycle, state)
            if key not in index_of:
                index_of[key] = len(states)
                states.append(state)
                reached_by.append((frontier[row // len(inputs)], row % len(inputs)))
                fresh.append(index_of[key])
            leads[row] = index_of[key]
        after.append(leads.reshape(len(frontier), -1))
        frontier = fresh
    bits = {name: np.concatenate(values) for name, values in signals.items()}
    return StateSpace(machine, inputs, np.array(states), np.concatenate(after), bits, np.array(reached_by))


def _valuations(part: Part) -> Bools:
    """Return all possible combinations of inputs in one tick, all-false first.

    Mutually exclusive inputs are never both true.
    """
    count = len(part.inputs)
    rows = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
    columns = {name: index for index, name in enumerate(part.inputs)}
    for first, second in part.apart:
        rows = rows[~(rows[:, columns[first]] & rows[:, columns[second]])]
    return rows


def _key(phase: int, state: NDArray[np.float64]) -> bytes:
    return bytes([phase % 256, phase // 256 % 256]) + state.tobytes()


def _row_numbers(rows: NDArray[np.generic]) -> Ints:
    numbers: Ints = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return numbers
