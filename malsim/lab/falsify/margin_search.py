"""The search for a point with a negative margin: at random, then spread by Sobol, then by differential evolution."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from malsim.sim.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

Point = NDArray[np.float64]
Seen = TypeVar("Seen", bound="FirstBreak")
Method = Literal["search", "random"]

__all__ = ["FirstBreak", "Method", "Trail", "search"]

RANDOM = 6
SOBOL = 10
FAMILY = 12
FACTOR, CROSSED = 0.6, 0.7
STALE = 6  # generations without gain, after which the worse half begins anew


class FirstBreak(Protocol):
    """What a run showed; `broken` ends the search."""

    @property
    def broken(self) -> bool:
        """Whether the property is broken."""


@dataclass
class Trail(Generic[Seen]):
    """Every distinct run in the order asked: the point, the phase, what it showed; `broken` is the first break."""

    points: list[Point] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    broken: int | None = None


def search(
    size: int,
    evaluate: Callable[[Sequence[Point]], Iterator[Seen]],
    *,
    budget: int,
    key: Callable[[Point], Hashable],
    rank: Callable[[Sequence[Seen]], Sequence[float]],
    block: int = 1,
    seed: int = 0,
    method: Method = "search",
) -> Trail[Seen]:
    """Look for a break in a unit cube.

    Parameters
    ----------
    size
        Places of a point.
    evaluate
        Points to what their runs showed, in the same order; it may be lazy, and is never asked beyond the budget.
    budget
        Most distinct runs.
    key
        Two points with one key are one run.
    rank
        All that was seen so far to one margin each, the smaller the nearer to a break; so scales may be learned on the way.
    block
        Places that belong together: half of the children are one of the best with such a block of it put elsewhere too.
    method
        `random` asks random points only, to compare with.
    """
    trail: Trail[Seen] = Trail()
    known: dict[Hashable, int] = {}

    def ask(points: Sequence[Point], phase: str) -> list[int]:
        fresh: dict[Hashable, Point] = {}
        for point in points:
            fresh.setdefault(key(point), point)
        new = [name for name in fresh if name not in known][: budget - len(trail.seen)]
        for name, one in zip(new, evaluate([fresh[name] for name in new]), strict=False):
            known[name] = len(trail.seen)
            trail.points.append(fresh[name])
            trail.phases.append(phase)
            trail.seen.append(one)
            if one.broken:
                trail.broken = known[name]
                break
        return [known[name] for name in map(key, points) if name in known]

    draws = Draws(seed, "falsify")
    if method == "random":
        _randomly(draws, size, budget, ask, trail)
    else:
        ask(_random(draws, size, 0, RANDOM), "random")
        if _open(trail, budget):
            ask(_sobol(size, seed), "sobol")
        _evolve(draws, size, budget, block, ask, rank, trail)
    return trail


def _open(trail: Trail[Seen], budget: int) -> bool:
    return trail.broken is None and len(trail.seen) < budget


def _random(draws: Draws, size: int, start: int, count: int) -> list[Point]:
    numbers = np.arange(start, start + count)
    return list(draws.uniform("random", rep=numbers[:, None], member=np.arange(size)[None, :]))


def _randomly(
    draws: Draws, size: int, budget: int, ask: Callable[[Sequence[Point], str], list[int]], trail: Trail[Seen]
) -> None:
    start, most = 0, 20 * budget  # where a space has few points, they soon repeat
    while _open(trail, budget) and start < most:
        ask(_random(draws, size, start, FAMILY), "random")
        start += FAMILY


def _sobol(size: int, seed: int) -> list[Point]:
    from scipy.stats import qmc

    found = qmc.Sobol(size, rng=np.random.default_rng(seed)).random_base2(int(np.ceil(np.log2(SOBOL))))
    return list(found[:SOBOL])


def _evolve(
    draws: Draws, size: int, budget: int, block: int, ask: Callable[[Sequence[Point], str], list[int]],
    rank: Callable[[Sequence[Seen]], Sequence[float]], trail: Trail[Seen],
) -> None:  # fmt: skip
    """Differential evolution, current to best, a whole generation at a time, so that workers change nothing."""
    family = list(range(len(trail.seen)))
    stale, best, generation = 0, np.inf, 0
    while _open(trail, budget) and generation < 20 * budget:
        generation += 1
        margins = np.asarray(rank(trail.seen))
        family = sorted(dict.fromkeys(family), key=lambda one: (margins[one], one))[:FAMILY]
        stale = 0 if margins[family[0]] < best - 1e-12 else stale + 1
        best = min(best, float(margins[family[0]]))
        parents = np.stack([trail.points[one] for one in family])
        trials = _repeated(draws, parents, _trials(draws, parents, generation), block, generation)
        if stale >= STALE:
            stale, fresh = 0, _random(draws, size, 1_000_000 + generation * FAMILY, FAMILY // 2)
            trials[len(trials) - len(fresh) :] = fresh
        family += ask(trials, "evolution")


def _repeated(draws: Draws, parents: NDArray[np.float64], trials: list[Point], block: int, generation: int) -> list[Point]:
    """The children, but every other one is one of the best with a block of it put elsewhere too, its first place anew."""
    count, size = parents.shape
    blocks = size // block if block > 1 else 0
    if blocks < 2:  # noqa: PLR2004  # nowhere else to put it
        return trials
    rows = np.arange(count)
    leader = draws.below(min(3, count), "repeated", rep=rows, turn=generation)
    source, target = (draws.below(blocks, name, rep=rows, turn=generation) for name in ("source", "target"))
    place = draws.uniform("place", rep=rows, turn=generation)
    for row in range(0, count, 2):
        made = parents[leader[row]].copy()
        made[target[row] * block : (target[row] + 1) * block] = made[source[row] * block : (source[row] + 1) * block]
        made[target[row] * block] = place[row]
        trials[row] = made
    return trials


def _trials(draws: Draws, parents: NDArray[np.float64], generation: int) -> list[Point]:
    """One child of each parent: toward one of the best, along a difference of two others, some places changed."""
    count, size = parents.shape
    rows = np.arange(count)
    picks = [draws.below(count, name, rep=rows, turn=generation) for name in ("first", "second")]
    leader = draws.below(max(1, min(3, count)), "leader", rep=rows, turn=generation)
    towards = parents + FACTOR * (parents[leader] - parents) + FACTOR * (parents[picks[0]] - parents[picks[1]])
    places = np.arange(size)[None, :]
    drawn = draws.uniform("cross", rep=rows[:, None], member=places, turn=generation)
    one = draws.below(size, "one", rep=rows, turn=generation)
    crossed = (drawn < CROSSED) | (places == one[:, None])
    jump = draws.uniform("jump", rep=rows[:, None], member=places, turn=generation) < 1.0 / size
    anew = draws.uniform("anew", rep=rows[:, None], member=places, turn=generation)
    made = np.where(jump, anew, np.where(crossed, towards, parents))
    folded = np.abs(np.mod(made, 2.0))  # beyond an end is reflected, so that no place sticks there
    return list(islice(np.where(folded > 1.0, 2.0 - folded, folded), count))
