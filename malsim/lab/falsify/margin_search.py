"""Search for a point with a negative margin: random points, then a Sobol sequence, then differential evolution."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from malsim.memory.graph.arrays import Array, Bools


SCALE = 0.6


def children(parents: Array, leaders: Array, first: Array, second: Array, mask: Bools, *, pull: float) -> Array:
    """Return children of `parents`: v = x + pull (leader − x) + 0.6 (first − second) where `mask` is True, x elsewhere.

    All arguments have the shape of the parents; the last axis has the coordinates. Coordinates outside [0, 1] are reflected
    at its ends. Source: Storn and Price, 1997.

    >>> children(*np.array([[0.5], [0.9], [0.8], [0.2]]), np.array([True]), pull=0.5).round(2).tolist()
    [0.94]
    """
    mutants = parents + pull * (leaders - parents) + SCALE * (first - second)
    reflected: Array = np.abs((np.where(mask, mutants, parents) + 1.0) % 2.0 - 1.0)
    return reflected


Point = NDArray[np.float64]
Result = TypeVar("Result", bound="FirstBreak")
Method = Literal["search", "random"]

RANDOM = 6
SOBOL = 10
FAMILY = 12
FACTOR, CROSSING = 0.6, 0.7
STALE = 6  # number of generations without improvement after which half of the children are random


class FirstBreak(Protocol):
    """Protocol for the outcome of a run. The search ends at the first outcome whose `broken` is True."""

    @property
    def broken(self) -> bool: ...


@dataclass
class Trail(Generic[Result]):
    """Distinct runs in order, with their points, phases and outcomes. `broken` is the index of the first break, if any."""

    budget: int
    points: list[Point] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    runs: list[Result] = field(default_factory=list)
    broken: int | None = None

    @property
    def open(self) -> bool:
        return self.broken is None and len(self.runs) < self.budget


def search(
    size: int,
    evaluate: Callable[[Sequence[Point]], Iterator[Result]],
    *,
    budget: int,
    key: Callable[[Point], Hashable],
    rank: Callable[[Sequence[Result]], Sequence[float]],
    block: int = 1,
    seed: int = 0,
    method: Method = "search",
) -> Trail[Result]:
    """Search a unit cube for a point whose run breaks the property.

    `evaluate` maps points of `size` coordinates to the outcomes of their runs, in order; it may be lazy. At most `budget`
    runs are made. Points with equal `key` share a run. `rank` maps all outcomes so far to margins (smaller: nearer to a
    break), so that scales can be learned during the search. `block` coordinates belong together: half of the children are
    leaders with a repeated block. The method "random" evaluates only random points, as a baseline.
    """
    trail: Trail[Result] = Trail(budget)
    numbers: dict[Hashable, int] = {}

    def ask(points: Sequence[Point], phase: str) -> list[int]:
        distinct: dict[Hashable, Point] = {}
        for point in points:
            distinct.setdefault(key(point), point)
        new = [name for name in distinct if name not in numbers][: budget - len(trail.runs)]
        for name, outcome in zip(new, evaluate([distinct[name] for name in new]), strict=False):
            numbers[name] = len(trail.runs)
            trail.points.append(distinct[name])
            trail.phases.append(phase)
            trail.runs.append(outcome)
            if outcome.broken:
                trail.broken = numbers[name]
                break
        return [numbers[name] for name in map(key, points) if name in numbers]

    draws = Draws(seed, "falsify")
    if method == "random":
        for number in range(ceil(20 * budget / FAMILY)):  # 20 tries per run, because points repeat in a small space
            if trail.open:
                ask(_random(draws, size, number * FAMILY, FAMILY), "random")
    else:
        ask(_random(draws, size, 0, RANDOM), "random")
        if trail.open:
            from scipy.stats import qmc

            sequence = qmc.Sobol(size, rng=np.random.default_rng(seed)).random_base2(ceil(np.log2(SOBOL)))
            ask(list(sequence[:SOBOL]), "sobol")
        _evolve(draws, size, block, ask, rank, trail)
    return trail


def _random(draws: Draws, size: int, start: int, count: int) -> list[Point]:
    numbers = np.arange(start, start + count)
    return list(draws.uniform("random", rep=numbers[:, None], member=np.arange(size)[None, :]))


def _evolve(
    draws: Draws, size: int, block: int, ask: Callable[[Sequence[Point], str], list[int]],
    rank: Callable[[Sequence[Result]], Sequence[float]], trail: Trail[Result],
) -> None:  # fmt: skip
    """Run differential evolution in complete generations, so that the result does not depend on the number of workers."""
    family = list(range(len(trail.runs)))
    stale, best, generation = 0, np.inf, 0
    while trail.open and generation < 20 * trail.budget:
        generation += 1
        margins = np.asarray(rank(trail.runs))
        family = sorted(dict.fromkeys(family), key=lambda member: (margins[member], member))[:FAMILY]
        stale = 0 if margins[family[0]] < best - 1e-12 else stale + 1
        best = min(best, float(margins[family[0]]))
        parents = np.stack([trail.points[member] for member in family])
        trials = _with_repeats(draws, parents, _trials(draws, parents, generation), block, generation)
        if stale >= STALE:
            stale, fresh = 0, _random(draws, size, 1_000_000 + generation * FAMILY, FAMILY // 2)
            trials[len(trials) - len(fresh) :] = fresh
        family += ask(trials, "evolution")


def _with_repeats(draws: Draws, parents: Point, trials: list[Point], block: int, generation: int) -> list[Point]:
    """Replace every second child with a copy of a leader in which one block of coordinates is repeated at a new time."""
    count, size = parents.shape
    blocks = size // block if block > 1 else 0
    if blocks < 2:  # noqa: PLR2004  # no other block to copy to
        return trials
    rows = np.arange(count)
    leader = draws.below(min(3, count), "repeated", rep=rows, turn=generation)
    source, target = (draws.below(blocks, name, rep=rows, turn=generation) for name in ("source", "target"))
    times = draws.uniform("place", rep=rows, turn=generation)
    for row in range(0, count, 2):
        child = parents[leader[row]].copy()
        copied, start = source[row] * block, target[row] * block
        child[start : start + block] = child[copied : copied + block]
        child[start] = times[row]
        trials[row] = child
    return trials


def _trials(draws: Draws, parents: Point, generation: int) -> list[Point]:
    """Return one child per parent, moved toward a leader and along the difference of two parents in some coordinates."""
    count, size = parents.shape
    rows, columns = np.arange(count), np.arange(size)[None, :]

    def uniform(purpose: str) -> Point:
        return draws.uniform(purpose, rep=rows[:, None], member=columns, turn=generation)

    first, second = (draws.below(count, name, rep=rows, turn=generation) for name in ("first", "second"))
    leader = draws.below(max(1, min(3, count)), "leader", rep=rows, turn=generation)
    always = draws.below(size, "one", rep=rows, turn=generation)
    mask = (uniform("cross") < CROSSING) | (columns == always[:, None])
    moved = children(parents, parents[leader], parents[first], parents[second], mask, pull=FACTOR)
    return list(np.where(uniform("jump") < 1.0 / size, uniform("anew"), moved))
