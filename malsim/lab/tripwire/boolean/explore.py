"""Every state a Boolean part can come to, under every input it can be given: the whole of what it can do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malsim.errors import UsageError
from malsim.lab.tripwire.boolean.machine import Machine

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.boolean.part import Part

__all__ = ["Explored", "explore", "valuations"]

Ints = NDArray[np.int64]
MOST_INPUTS = 12
MOST_ROWS = 1 << 20


@dataclass(frozen=True)
class Explored:
    """The states reached from the start, and where each input leads.

    Parameters
    ----------
    inputs
        Valuations × inputs of the part: what it can be given in one tick.
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
        """What was explored."""
        return self.machine.part

    @cached_property
    def classes(self) -> Ints:
        """The class of each state: two states of one class can never be told apart by the outputs (Moore, 1956)."""
        shape = len(self.states), -1
        seen = [self.signals[name].reshape(shape) for name in self.part.outputs]
        found = _numbered(np.concatenate([np.zeros((len(self.states), 1)), *seen], axis=1))
        while True:
            finer = _numbered(np.column_stack([found, found[self.after]]))
            if finer.max() == found.max():
                return found
            found = finer

    def way(self, state: int) -> list[int]:
        """The valuations that lead from the start to a state, the shortest way."""
        made: list[int] = []
        while state:
            before, valuation = self.came[state]
            made.append(int(valuation))
            state = int(before)
        return made[::-1]

    def said(self, valuations: list[int]) -> str:
        """A way in words: the inputs that are true in each tick."""
        ticks = [
            "+".join(name for name, on in zip(self.part.inputs, self.inputs[one], strict=True) if on) or "nothing"
            for one in valuations
        ]
        return ", then ".join(ticks)

    def leading(self, transitions: Bools, allowed: Bools | None = None) -> Bools:
        """The states from which one of the transitions (states × valuations) can still come, by allowed valuations."""
        open_ = np.ones(len(self.inputs), dtype=bool) if allowed is None else allowed
        reaching = np.asarray((transitions & open_).any(axis=1))
        while True:
            wider = reaching | (reaching[self.after] & open_).any(axis=1)
            if (wider == reaching).all():
                return reaching
            reaching = wider


def explore(part: Part, *, tick: float = 8.64e7) -> Explored:
    """Every reachable state of a Boolean part, breadth first from its start.

    Parameters
    ----------
    tick
        Milliseconds between two scans; it tells how many ticks a pulse lasts.

    Raises
    ------
    UsageError
        Where the part has more than 12 inputs, or more than a million pairs of state and input.
    """
    if len(part.inputs) > MOST_INPUTS:
        problem = "too many inputs to look at every one"
        raise UsageError(problem, given=len(part.inputs), allowed=f"up to {MOST_INPUTS}", hint="cut the net in two")
    machine = Machine(part, tick=tick)
    return _walked(machine, valuations(part))


def valuations(part: Part) -> Bools:
    """What the inputs can be in one tick, all rest first; inputs that exclude each other are never true together."""
    count = len(part.inputs)
    every = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
    at = {name: place for place, name in enumerate(part.inputs)}
    for one, other in part.apart:
        every = every[~(every[:, at[one]] & every[:, at[other]])]
    return every


def _walked(machine: Machine, inputs: Bools) -> Explored:
    start = machine.start()
    number: dict[bytes, int] = {_key(0, start[0]): 0}
    states, came, after = [start[0]], [(0, 0)], []
    seen: dict[str, list[Bools]] = {name: [] for name in machine.outer}
    frontier, ticks = [0], 0
    while frontier:
        ticks += 1
        if len(states) * len(inputs) > MOST_ROWS:
            raise UsageError("too many states to look at every one", given=len(states), hint="shorten its times, or cut it")
        rows = np.repeat(np.array([states[one] for one in frontier]), len(inputs), axis=0)
        stepped = machine.step(rows, np.tile(inputs, (len(frontier), 1)), ticks)
        for name, held in seen.items():
            held.append(np.broadcast_to(stepped.signals[name], len(rows)).reshape(len(frontier), -1))
        fresh = []
        leads = np.empty(len(rows), dtype=np.int64)
        for row, state in enumerate(stepped.states):
            key = _key(ticks % machine.cycle, state)
            if key not in number:
                number[key] = len(states)
                states.append(state)
                came.append((frontier[row // len(inputs)], row % len(inputs)))
                fresh.append(number[key])
            leads[row] = number[key]
        after.append(leads.reshape(len(frontier), -1))
        frontier = fresh
    signals = {name: np.concatenate(held) for name, held in seen.items()}
    return Explored(machine, inputs, np.array(states), np.concatenate(after), signals, np.array(came))


def _key(phase: int, state: NDArray[np.float64]) -> bytes:
    return bytes([phase % 256, phase // 256 % 256]) + state.tobytes()


def _numbered(rows: NDArray[np.generic]) -> Ints:
    """One number for each distinct row."""
    found: Ints = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return found
