"""Influence of one claim's stated confidence on another's effective, for all states of a small graph.

The law is the code's own (`memory.law.terms`), over the reals. Of tanh a proof knows, for 0 ≤ x ≤ y ≤ M,

    x tanh M / M ≤ tanh x ≤ min(x, tanh M)      (1 − tanh² M) (y − x) ≤ tanh y − tanh x ≤ y − x

with M the sum of a claim's weights, so that what is proved holds of tanh itself. What these bounds leave open is counted as
not decided. That a claim goes one way is shown by the real law, from states that are drawn.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.law import effective, terms
from malsim.memory.rules import Rules
from malsim.scenario.proof.terms.solver import OutsideError, z3

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.claim_graph import Memory

MOST_CLAIMS = 8
DRAWS = 4_000
SMALLEST = 1e-9  # a change above rounding
ROUNDING = 1e-9  # bounds worked out in floats are widened by it
WORDS = {1: "never lowers", -1: "never raises"}


@dataclass(frozen=True)
class Influence:
    """Effect of raising what `source` states on the effective of `target`, and how it is known.

    `effect` is `never lowers`, `never raises`, `leaves` or `either way`. `ticks` is within how many ticks it was seen
    or looked for; None where it holds for ever.
    """

    source: str
    target: str
    effect: str
    ticks: int | None = None

    def __str__(self) -> str:
        """Return the influence in one line."""
        if self.effect == "leaves":
            return f"proved: raising {self.source} leaves {self.target} as it is"
        if self.effect in WORDS.values():
            how = "proved by induction over 1 tick" if self.ticks is None else f"proved up to {self.ticks} ticks"
            return f"{how}: raising {self.source} {self.effect} {self.target}"
        if self.effect == "either way":
            return f"refuted both ways in {self.ticks} ticks: raising {self.source} lifts {self.target}, or lowers it"
        return f"not decided: what raising {self.source} does to {self.target}"


@dataclass(frozen=True)
class SmallGraph:
    """Active claims of a memory, by handle, and `weights`, shape (claims, claims): of the edge from j to i at [i, j]."""

    handles: tuple[str, ...]
    weights: NDArray[np.float64]
    rules: Rules

    @classmethod
    def of(cls, memory: Memory, rules: Rules | None = None) -> SmallGraph:
        """Return the graph of a memory; its replications count as one.

        Raises
        ------
        OutsideError
            No edge between active claims, more than eight that edges reach, or rules that are not the published law's.
        """
        rules = rules or Rules()
        if rules.effective is not None or rules.mass_from != "effective":
            raise OutsideError("the law is proved about as published", where="rules", hint="leave effective, mass_from out")
        edges = memory.edges
        source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
        active = memory.is_active
        use = active[source] & active[target] & (weight != 0.0)
        rows = np.unique(np.concatenate([source[use], target[use]]))
        if not len(rows):
            hint = 'write one: malsim store write STORE --edge "contradicts CELL -1" …'
            raise OutsideError("no edge of an active claim reaches another: nothing to prove", hint=hint)
        if len(rows) > MOST_CLAIMS:
            given, hint = f"{len(rows)} claims with edges", "export a part of it, or ask about fewer"
            raise OutsideError("too large a graph", given=given, allowed=f"{MOST_CLAIMS} at most", hint=hint)
        weights = np.zeros((len(rows), len(rows)))
        np.add.at(weights, (np.searchsorted(rows, target[use]), np.searchsorted(rows, source[use])), weight[use])
        return cls(tuple(memory.cells["handle"][rows.tolist()]), weights, rules)

    def step(
        self, anchor: Sequence[Any], before: Sequence[Any], tanh: Callable[[Any], Any], clip: Callable[[Any], Any]
    ) -> list[Any]:
        """Compute one tick: each claim's effective from all effectives before it, as numbers or a solver's terms."""
        ceilings = {"support_ceiling": self.rules.support_ceiling, "challenge_ceiling": self.rules.challenge_ceiling}
        after = []
        for row, own, last in zip(self.weights, anchor, before, strict=True):
            masses = [
                sum((sign * float(weight) * before[j] for j, weight in enumerate(row) if sign * weight > 0.0), start=0.0)
                for sign in (1.0, -1.0)
            ]
            fresh = clip(terms(own, 1.0, *masses, tanh=tanh, **ceilings).total)
            after.append(last + self.rules.damping * (fresh - last))
        return after

    def signs(self, source: int) -> list[int | None]:
        """Return each claim's lasting direction by the signs of paths: 1, −1, 0 without a path, None where two differ."""
        signs: list[int | None] = [0] * len(self.handles)
        signs[source] = 1
        open_ = [source]
        while open_:
            here = open_.pop()
            for there in np.flatnonzero(self.weights[:, here]).tolist():
                sign = signs[here]
                way = None if sign is None else sign * int(np.sign(self.weights[there, here]))
                if signs[there] != way and signs[there] is not None:
                    signs[there] = way if signs[there] == 0 else None
                    open_.append(there)
        return signs


def influences(graph: SmallGraph, *, ticks: int = MOST_CLAIMS, timeout: float = 60.0) -> list[Influence]:
    """Return the influence of raising each claim on each other claim.

    A claim to which paths lead of one sign alone is settled by induction: two states that differ by these signs differ by
    them after a tick. Any other is followed from drawn states, and where none of these goes one way a proof is tried.

    Parameters
    ----------
    ticks
        How far the others are followed.
    timeout
        Seconds for each question.
    """
    answers = []
    for source, handle in enumerate(graph.handles):
        signs = graph.signs(source)
        holds = _inductive(graph, source, signs, timeout)
        for target, other in enumerate(graph.handles):
            if target == source:
                continue
            if signs[target] is not None and holds:
                effect = WORDS.get(signs[target] or 0, "leaves")
                answers.append(Influence(handle, other, effect))
            else:
                answers.append(Influence(handle, other, *_followed(graph, source, target, ticks, timeout)))
    return answers


def stays_bounded(graph: SmallGraph, *, timeout: float = 60.0) -> bool:
    """Prove that a tick keeps all effectives from 0 to 1, for any state and any stated confidences."""
    pair = _Pair(graph, 0, timeout)
    pair.solver.add(z3().Or([z3().Or(one < 0, one > 1) for one in pair.after(*pair.before)[0]]))
    return bool(pair.solver.check() == z3().unsat)


def _inductive(graph: SmallGraph, source: int, signs: Sequence[int | None], timeout: float) -> bool:
    """Return whether a tick keeps the signs of two states, where `source` states more in the second, for any states."""
    pair = _Pair(graph, source, timeout)
    wrong = []
    for way, one, other in zip(signs, pair.before[0], pair.before[1], strict=True):
        if way is not None:
            pair.solver.add(other == one if way == 0 else (other >= one if way > 0 else other <= one))
    first, second = pair.after(*pair.before)
    for way, one, other in zip(signs, first, second, strict=True):
        if way is not None:
            wrong.append(other != one if way == 0 else (other < one if way > 0 else other > one))
    pair.solver.add(z3().Or(wrong))
    return bool(pair.solver.check() == z3().unsat)


def _followed(graph: SmallGraph, source: int, target: int, ticks: int, timeout: float) -> tuple[str, int | None]:
    """Return the effect on a claim that paths of both signs reach, and the ticks after which it was seen or sought."""
    sightings = _sightings(graph, source, ticks)[target]
    up, down = (
        one or _first(graph, source, target, way, ticks, timeout) for one, way in zip(sightings, (1, -1), strict=True)
    )
    if isinstance(up, int) and isinstance(down, int):
        return "either way", max(up, down)
    if up is None and down is None:
        return "leaves", ticks
    if up is None or down is None:
        return WORDS[-1 if up is None else 1], ticks
    return "not decided", None


def _sightings(graph: SmallGraph, source: int, ticks: int) -> list[tuple[int | None, int | None]]:
    """Return each claim's first ticks at which the real law raises and lowers it, from drawn states, some at corners."""
    draws, size = np.random.Generator(np.random.Philox(key=0)), len(graph.handles)
    anchor, before = np.clip(draws.uniform(-0.5, 1.5, (2, DRAWS, size)), 0.0, 1.0)  # half of them at 0 or 1
    higher = anchor.copy()
    higher[:, source] += draws.random(DRAWS) * (1.0 - anchor[:, source])
    positive, negative = np.maximum(graph.weights, 0.0).T, np.maximum(-graph.weights, 0.0).T
    rules, one = graph.rules, np.ones((DRAWS, size))
    ceilings = {"support_ceiling": rules.support_ceiling, "challenge_ceiling": rules.challenge_ceiling}
    states, first = [before, before], np.zeros((2, size), dtype=np.int64)
    for tick in range(1, ticks + 1):
        fresh = [
            effective(own, one, state @ positive, state @ negative, **ceilings)
            for own, state in zip((anchor, higher), states, strict=True)
        ]
        states = [state + rules.damping * (new - state) for state, new in zip(states, fresh, strict=True)]
        change = states[1] - states[0]
        for way, row in zip((1.0, -1.0), first, strict=True):
            row[(row == 0) & (way * change > SMALLEST).any(axis=0)] = tick
    return [(up or None, down or None) for up, down in first.T.tolist()]


def _first(graph: SmallGraph, source: int, target: int, way: int, ticks: int, timeout: float) -> str | None:
    """Return None if a claim provably never goes one way within `ticks`, or a text if that is not decided."""
    pair, end = _Pair(graph, source, timeout), time.monotonic() + timeout
    pair.solver.add([one == other for one, other in zip(*pair.before, strict=True)])
    states = pair.before
    for _ in range(ticks):
        states = pair.after(*states)
        if pair.solver.check(way * (states[1][target] - states[0][target]) > 0) != z3().unsat or time.monotonic() > end:
            return "not decided"
    return None


class _Pair:
    """Two runs of a graph; in the second, one claim states more."""

    def __init__(self, graph: SmallGraph, source: int, timeout: float) -> None:
        self.graph, self.solver, self._names = graph, z3().Solver(), itertools.count()
        self.solver.set("timeout", int(1e3 * timeout))
        self.anchor = self._unit("p", len(graph.handles))
        raised = self._unit("more", 1)[0]
        self.solver.add(raised >= self.anchor[source])
        self.raised = [raised if at == source else one for at, one in enumerate(self.anchor)]
        most = np.stack([np.maximum(way * graph.weights, 0.0).sum(axis=1) for way in (1, -1)], axis=1).ravel()
        self._most = np.tanh(most)
        self._slopes, self._chords = (
            [z3().RealVal(Fraction(each * (1.0 - ROUNDING))) for each in bound]
            for bound in ((1.0 - self._most**2), self._most / np.where(most > 0.0, most, 1.0))
        )
        self.before = self._unit("e", len(graph.handles)), self._unit("f", len(graph.handles))

    def after(self, one: Sequence[Any], other: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return both states after a tick; a claim's two masses are ordered as their tanh."""
        pairs: tuple[list[Any], list[Any]] = ([], [])
        states = tuple(
            self.graph.step(anchor, before, partial(self._tanh, masses), _clip)
            for anchor, before, masses in zip((self.anchor, self.raised), (one, other), pairs, strict=True)
        )
        for (x, y), (u, v), least in zip(*pairs, self._slopes, strict=True):
            self.solver.add(z3().Implies(x <= u, z3().And(v - y >= least * (u - x), v - y <= u - x)))
            self.solver.add(z3().Implies(x >= u, z3().And(y - v >= least * (x - u), y - v <= x - u)))
        return states[0], states[1]

    def _unit(self, name: str, count: int) -> list[Any]:
        every = [z3().Real(f"{name}{number}") for number in range(count)]
        self.solver.add([z3().And(one >= 0, one <= 1) for one in every])
        return every

    def _tanh(self, masses: list[Any], mass: Any) -> Any:
        if isinstance(mass, float):
            masses.append((z3().RealVal(0), z3().RealVal(0)))
            return 0.0
        one, place = z3().Real(f"t{next(self._names)}"), len(masses)
        most = z3().RealVal(Fraction(self._most[place] * (1.0 + ROUNDING)))
        self.solver.add(one >= self._chords[place] * mass, one <= mass, one <= most)
        masses.append((mass, one))
        return one


def _clip(one: Any) -> Any:
    return z3().If(one < 0, z3().RealVal(0), z3().If(one > 1, z3().RealVal(1), one))
