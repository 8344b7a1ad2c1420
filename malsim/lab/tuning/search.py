"""An optimiser to be asked and told, whose path depends on what it is told and never on who told it when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import qmc

from malsim.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Search"]

SCALE, CROSSING = 0.6, 0.8


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
    points: list[NDArray[np.float64]] = field(default_factory=list)
    values: dict[int, float] = field(default_factory=dict)
    _asked: int = 0
    _parents: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.dimensions < 1 or self.size < 4:  # noqa: PLR2004  # a difference of two others, and the best
            raise UsageError("too small", where="Search", given=(self.dimensions, self.size), allowed="1 dimension, size 4")

    def ask(self) -> tuple[int, NDArray[np.float64]]:
        """The next point and its number. Raises `UsageError` while all of the generation is asked and not all told."""
        if self._asked == len(self.points):
            if len(self.values) < len(self.points):
                missing = [number for number in range(len(self.points)) if number not in self.values]
                raise UsageError("tell what these were worth first", where="ask", given=missing[:5])
            self.points += self._generation()
        self._asked += 1
        return self._asked - 1, self.points[self._asked - 1]

    def tell(self, number: int, value: float) -> None:
        """Say what a point was worth; lower is better."""
        if not 0 <= number < self._asked or number in self.values:
            raise UsageError("not a point that waits for its value", where="tell", given=number)
        self.values[number] = value

    @property
    def waiting(self) -> int:
        """How many points of this generation can still be asked without telling."""
        return len(self.points) - self._asked or (self.size if len(self.values) == len(self.points) else 0)

    @property
    def best(self) -> NDArray[np.float64]:
        """The best point told so far; the earliest of equals."""
        worth = [self._worth(number) for number in range(len(self.points))]
        return self.points[int(np.argmin(worth))]

    def _worth(self, number: int) -> float:
        value = self.values.get(number, np.inf)
        return np.inf if np.isnan(value) else value

    def _generation(self) -> list[NDArray[np.float64]]:
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

    def _child(self, parent: int, draws: np.random.Generator) -> NDArray[np.float64]:
        here = self.points[parent]
        one, other = (self.points[self._parents[place]] for place in draws.choice(self.size, 2, replace=False))
        moved = here + self.pull * (self.best - here) + SCALE * (one - other)
        taken = draws.random(self.dimensions) < CROSSING
        taken[draws.integers(self.dimensions)] = True
        child = np.where(taken, moved, here)
        folded: NDArray[np.float64] = np.abs((child + 1.0) % 2.0 - 1.0)  # reflected at the walls
        return folded
