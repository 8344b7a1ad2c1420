"""World of a run: facts whose truth changes over time. Memories have no access to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.base.finite import LONGEST_SCOPE
from malsim.base.parameters import refuse_out_of_bounds
from malsim.sim.world.clock import DAY, read_spans
from malsim.sim.world.draws import Draws, name_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.memory.graph.arrays import Array, Ints

SENSES = ("errs", "error")  # keys of the two random draws needed for each observation
MOST_CHANGES = 20_000_000
MOST_VALUES = 100


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Fact of the world, with its possible values, the changes of its true value, and its scope.

    A fact starts with one of its `values` (numbers or text), drawn uniformly, or with the first value if `start` is
    "first". It changes to a different value, drawn uniformly, on average `hazard` times a day, or at each of `changes`
    (milliseconds, or text: "20d"). `stability` is the declared stability class of claims about the fact. `popularity` is
    the fact's weight when facts are drawn. `scope` is the scope of its claims ("": visible to everybody).
    """

    name: str
    values: tuple[float | str, ...] = (0.0, 1.0)
    stability: Literal["stable", "volatile", "ephemeral"] = "stable"
    hazard: float = 0.0
    changes: tuple[int, ...] = ()
    topic: str = "world"
    popularity: float = 1.0
    start: Literal["first", "drawn"] = "drawn"
    scope: str = ""

    def __post_init__(self) -> None:
        read_spans(self, "changes", where=f"facts[{self.name}]")
        bounds = (
            (
                "values",
                1 < len(set(self.values)) == len(self.values) <= MOST_VALUES,
                self.values,
                "2 to 100 distinct values",
            ),
            ("hazard", 0.0 <= self.hazard <= DAY, self.hazard, f"0 to {DAY} a day"),
            ("popularity", 0.0 < self.popularity < np.inf, self.popularity, "above 0"),
            ("scope", len(self.scope) <= LONGEST_SCOPE, self.scope, f"at most {LONGEST_SCOPE} characters"),
            ("start", self.start in ("first", "drawn"), self.start, "first or drawn"),
            ("changes", not (self.changes and self.hazard), self.changes, "either a hazard or times of change"),
        )
        refuse_out_of_bounds(bounds, where=f"facts[{self.name}]")

    def number(self, value: int) -> float:
        """Return the number that represents the nth value in claims: the value if it is a number, otherwise its index."""
        given = self.values[value]
        return float(value) if isinstance(given, str) else float(given)

    def label(self, value: int) -> str:
        given = self.values[value]
        return given if isinstance(given, str) else f"{given:g}"


@dataclass(frozen=True)
class TruthChanges:
    """Changes of truth, one per row: replication (index in the run), fact, time in milliseconds, new value."""

    rep: Ints
    fact: Ints
    t: Ints
    value: Ints


class World:
    """True value of every fact in every replication, from the start of a run to its end.

    The nth change of a fact is drawn at the address (seed, replication, "world", the fact's name, n), so adding a fact does
    not change other facts. Values are indexes in `Fact.values`. Times are whole milliseconds.
    """

    def __init__(self, facts: Sequence[Fact], *, seed: int, reps: Ints, end: int) -> None:
        self.facts = tuple(facts)
        self.choices = np.array([len(fact.values) for fact in facts], dtype=np.int64)
        expected = len(reps) * sum(fact.hazard * end / DAY + len(fact.changes) for fact in facts)
        if expected > MOST_CHANGES:
            given, allowed = f"{expected:.3g}", f"at most {MOST_CHANGES} changes"
            raise ScenarioError("the facts change too often", where="facts", given=given, allowed=allowed)
        draws = Draws(seed, "world")
        first = [_initial(fact, draws, reps) for fact in facts]
        changes = [_history(fact, draws, reps, end, value) for fact, value in zip(facts, first, strict=True)]
        # the first entry of each row is its initial value, dated before all times
        starts = np.arange(len(reps) * len(facts))
        row = np.concatenate([starts, *(rep * len(facts) + fact for fact, (rep, _, _) in enumerate(changes))])
        times = np.concatenate([np.full(len(starts), _NEVER), *(t for _, t, _ in changes)])
        # initial values, shape (facts, replications)
        self.first: Ints = np.stack(first) if first else np.zeros((0, len(reps)), dtype=np.int64)
        values = np.concatenate([self.first.T.ravel(), *(value for _, _, value in changes)])
        order = np.lexsort((times, row))
        self._row, self._since, self._values = row[order], times[order], values[order].astype(np.int8)
        # index of each row's first entry, then the total length
        self._begins = self._row.searchsorted(np.arange(len(starts) + 1))
        self._in_time = np.argsort(self._since, kind="stable")[len(starts) :]
        self._times = self._since[self._in_time]
        most = int(np.diff(self._begins).max(initial=1))
        self._strides = [1 << n for n in reversed(range((most - 1).bit_length()))]

    def _last_change(self, row: Ints, t: Ints | int) -> Ints:
        """Return the index of the last change at or before time `t` for each row, which is one fact in one replication."""
        index, last = self._begins[row], self._begins[row + 1] - 1
        for stride in self._strides:
            ahead = np.minimum(index + stride, last)
            index = np.where(self._since[ahead] <= t, ahead, index)
        return index

    def at(self, rep: Ints, fact: Ints, t: Ints | int) -> Ints:
        """Return the true values of facts at time `t`. `rep` holds replication indexes within the run."""
        return self._values[self._last_change(rep * len(self.facts) + fact, t)].astype(np.int64)

    def between(self, start: int, end: int) -> TruthChanges:
        """Return the changes from `start` until `end` (exclusive), sorted by time, replication and fact."""
        first, last = np.searchsorted(self._times, (start, end))
        rows = self._in_time[first:last]
        rep, fact = np.divmod(self._row[rows], max(len(self.facts), 1))
        return TruthChanges(rep, fact, self._times[first:last], self._values[rows].astype(np.int64))

    def observe(self, uniforms: Iterable[Array], accuracy: float | Array, *, rep: Ints, fact: Ints, t: Ints | int) -> Ints:
        """Return the values that writers observe: the truth with probability `accuracy`, otherwise a different value.

        `uniforms` are random numbers from 0 to 1 for the purposes `SENSES`. Writers learn about the world only in this way.
        """
        choices, truth = self.choices[fact], self.at(rep, fact, t)
        errs, error = uniforms
        another = (truth + 1 + (error * (choices - 1)).astype(np.int64)) % choices
        return np.where(errs >= accuracy, another, truth)


_NONE = np.zeros(0, dtype=np.int64)
_NEVER = -1  # time of the initial values, before all other times


def _initial(fact: Fact, draws: Draws, reps: Ints) -> Ints:
    if fact.start == "first":
        return np.zeros(len(reps), dtype=np.int64)
    member = np.array([name_number(fact.name)]).astype(np.int64)
    return draws.below(len(fact.values), "start", rep=reps, member=member).astype(np.int64)


def _history(fact: Fact, draws: Draws, reps: Ints, end: int, value: Ints) -> tuple[Ints, Ints, Ints]:
    rep, t = np.arange(len(reps)), np.zeros(len(reps), dtype=np.int64)
    member = np.array([name_number(fact.name)]).astype(np.int64)
    rounds: list[tuple[Ints, Ints, Ints]] = [(_NONE, _NONE, _NONE)]
    turn = 0
    while len(rep) and (fact.hazard or turn < len(fact.changes)):
        address: dict[str, Ints | int] = {"rep": reps[rep], "member": member, "turn": turn}
        if fact.hazard:
            gap = draws.exponential("gap", **address) * (DAY / fact.hazard)
            t = t + np.maximum(1, np.rint(gap)).astype(np.int64)
        else:
            t = np.full(len(rep), sorted(fact.changes)[turn])
        value = (value + 1 + draws.below(len(fact.values) - 1, "value", **address)) % len(fact.values)
        inside = t < end
        rep, t, value = rep[inside], t[inside], value[inside]
        rounds.append((rep, t, value))
        turn += 1
    return tuple(map(np.concatenate, zip(*rounds, strict=True)))  # type: ignore[return-value]  # three columns
