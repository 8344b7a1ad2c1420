"""Optimisers to ask and tell: differential evolution, and for one loss with the least of a quadratic near the best point.

The path depends on what is told, never on who told it when.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import qmc

from malsim.base.errors import UsageError
from malsim.lab.space.evolution import children
from malsim.lab.tuning.surrogate import SAME, least_near

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools

CROSSING = 0.8
MODELS = ((1.0, 1.5), (1.0 / 3.0, 1.2), (2.0, 2.0))  # how far, in trust radii, and through how many times its coefficients
WIDEST, NARROWEST = 0.5, 1e-7
POPULATION = 16
CROSSINGS = (0.2, 0.5, 0.9)


@dataclass
class Search:
    """Minimise over the unit cube by generations: a Sobol sequence first, then differential evolution.

    `ask()` gives the next point of the generation; `tell(number, value)` says what it was worth (NaN: no worth). The next
    generation is made once the whole last one is told, so the order of telling and the number of workers change nothing.
    The first has `start` points, or `size` where that is 0.
    v = x + pull (best − x) + 0.6 (x1 − x2), coordinates taken over with probability 0.8. Source: Storn and Price, 1997.

    >>> search = Search(1, size=4)
    >>> for _ in range(40):
    ...     number, point = search.ask()
    ...     search.tell(number, float((point[0] - 0.3) ** 2))
    >>> bool(abs(search.best[0] - 0.3) < 0.02)
    True
    """

    dimensions: int
    size: int = 32
    seed: int = 0
    start: int = 0
    pull: float = 0.5
    points: list[Array] = field(default_factory=list)
    values: dict[int, float] = field(default_factory=dict)
    _count: int = 0
    _parents: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.dimensions < 1 or self.size < 4:  # noqa: PLR2004  # a difference of two others, and the best
            raise UsageError("too small", where="Search", given=(self.dimensions, self.size), allowed="1 dimension, size 4")

    def ask(self) -> tuple[int, Array]:
        """Return the next point and its number. Raise `UsageError` if the generation is all asked and not all told."""
        if self._count == len(self.points):
            if len(self.values) < len(self.points):
                missing = [number for number in range(len(self.points)) if number not in self.values]
                raise UsageError("tell what these were worth first", where="ask", given=missing[:5])
            self.points += self._generation()
        self._count += 1
        return self._count - 1, self.points[self._count - 1]

    def tell(self, number: int, value: float) -> None:
        """Record the loss of a point; lower is better."""
        if not 0 <= number < self._count or number in self.values:
            raise UsageError("not a point that waits for its value", where="tell", given=number)
        self.values[number] = value

    @property
    def waiting(self) -> int:
        """Number of points of this generation that can be asked for before the next `tell`."""
        return len(self.points) - self._count or (self.size if len(self.values) == len(self.points) else 0)

    @property
    def best(self) -> Array:
        """The best point told so far; the earliest of equals."""
        worth = [self._worth(number) for number in range(len(self.points))]
        return self.points[int(np.argmin(worth))]

    def _worth(self, number: int) -> float:
        value = self.values.get(number, np.inf)
        return np.inf if np.isnan(value) else value

    def _generation(self) -> list[Array]:
        if not self.points:
            count = self.start or self.size
            first = qmc.Sobol(self.dimensions, rng=self.seed).random_base2(int(np.ceil(np.log2(count))))
            self._parents = list(range(self.size))
            return list(first[:count])
        last = len(self.points) - self.size
        if last >= (self.start or self.size):
            self._parents = [
                child if self._worth(child) <= self._worth(parent) else parent
                for parent, child in zip(self._parents, range(last, len(self.points)), strict=True)
            ]
        draws = np.random.Generator(np.random.Philox(key=self.seed, counter=[0, 0, 0, len(self.points)]))
        return [self._child(parent, draws) for parent in self._parents]

    def _child(self, parent: int, draws: np.random.Generator) -> Array:
        here = self.points[parent]
        one, other = (self.points[self._parents[place]] for place in draws.choice(self.size, 2, replace=False))
        mask = _mask(draws.random(self.dimensions) < CROSSING, draws)
        return children(here, self.best, one, other, mask, pull=self.pull)


@dataclass
class ModelSearch(Search):
    """Minimise over the unit cube: a Sobol sequence of `start` points, then generations of `size`.

    Three of eight points are where quadratics through the points nearest the best are least, within three radii of it; the
    radius that did best is kept, and halved where none did better. The rest are children of the 16 best points:
    v = x + pull (best − x) + 0.6 (x1 − x2), a coordinate taken over with probability 0.2, 0.5 or 0.9, which serves losses
    that are sums over settings as well as those that are not. Sources: Powell, 2009 (BOBYQA); Storn and Price, 1997.

    >>> search = ModelSearch(2, size=8)
    >>> for _ in range(40):
    ...     number, point = search.ask()
    ...     search.tell(number, float(((point - 0.3) ** 2).sum()))
    >>> np.round(search.best, 6).tolist()
    [0.3, 0.3]
    """

    size: int = 8
    radius: float = 0.25
    _reach: dict[int, float] = field(default_factory=dict)

    def _generation(self) -> list[Array]:
        if not self.points:
            return super()._generation()
        points, worth = np.stack(self.points), np.array([self._worth(number) for number in range(len(self.points))])
        draws = np.random.Generator(np.random.Philox(key=self.seed, counter=[0, 0, 0, len(self.points)]))
        self._resize(worth)
        new: list[Array] = []
        for reach, share in MODELS[: self.size * 3 // 8]:
            self._reach[len(self.points) + len(new)] = self.radius * reach
            there = least_near(points, worth, radius=self.radius * reach, share=share)
            if np.abs(np.concatenate([points, *[one[None] for one in new]]) - there).max(axis=1).min() < SAME:
                away = self.radius * draws.uniform(-1.0, 1.0, self.dimensions)
                there = np.clip(self.best + away, 0.0, 1.0)
            new.append(there)
        parents = points[np.argsort(worth, kind="stable")[:POPULATION]]
        return new + [self._child_of_best(parents, draws) for _ in range(self.size - len(new))]

    def _resize(self, worth: Array) -> None:
        """Keep the radius at which the last generation did best; halve it where it did no better than those before."""
        if not self._reach:
            return
        first = min(self._reach)
        best = min(self._reach, key=lambda number: worth[number])
        better = worth[best] < worth[:first].min()
        self.radius = min(max(self._reach[best] if better else self.radius / 2.0, NARROWEST), WIDEST)
        self._reach = {}

    def _child_of_best(self, parents: Array, draws: np.random.Generator) -> Array:
        here = parents[draws.integers(len(parents))]
        one, other = draws.choice(len(parents), 2, replace=False)
        mask = _mask(draws.random(self.dimensions) < draws.choice(CROSSINGS), draws)
        return children(here, parents[0], parents[one], parents[other], mask, pull=self.pull)


def _mask(mask: Bools, draws: np.random.Generator) -> Bools:
    mask[draws.integers(len(mask))] = True
    return mask
