"""The search of one loss: differential evolution, with the least of a quadratic near the best point in each generation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.lab.tuning.search import SCALE, Search

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ModelSearch", "least_near"]

MODELS = ((1.0, 1.5), (1.0 / 3.0, 1.2), (2.0, 2.0))  # how far, in trust radii, and through how many times its coefficients
WIDEST, NARROWEST = 0.5, 1e-7
POPULATION = 16
CROSSINGS = (0.2, 0.5, 0.9)
SAME = 1e-9


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
    _reached: dict[int, float] = field(default_factory=dict)

    def _generation(self) -> list[NDArray[np.float64]]:
        if not self.points:
            return super()._generation()
        points, worth = np.stack(self.points), np.array([self._worth(number) for number in range(len(self.points))])
        draws = np.random.Generator(np.random.Philox(key=self.seed, counter=[0, 0, 0, len(self.points)]))
        self._resize(worth)
        made: list[NDArray[np.float64]] = []
        for reach, share in MODELS[: self.size * 3 // 8]:
            self._reached[len(self.points) + len(made)] = self.radius * reach
            there = least_near(points, worth, radius=self.radius * reach, share=share)
            if np.abs(np.concatenate([points, *[one[None] for one in made]]) - there).max(axis=1).min() < SAME:
                away = self.radius * draws.uniform(-1.0, 1.0, self.dimensions)
                there = np.clip(self.best + away, 0.0, 1.0)
            made.append(there)
        parents = points[np.argsort(worth, kind="stable")[:POPULATION]]
        return made + [self._bred(parents, draws) for _ in range(self.size - len(made))]

    def _resize(self, worth: NDArray[np.float64]) -> None:
        """Keep the radius at which the last generation did best; halve it where it did no better than those before."""
        if not self._reached:
            return
        first = min(self._reached)
        best = min(self._reached, key=lambda number: worth[number])
        better = worth[best] < worth[:first].min()
        self.radius = min(max(self._reached[best] if better else self.radius / 2.0, NARROWEST), WIDEST)
        self._reached = {}

    def _bred(self, parents: NDArray[np.float64], draws: np.random.Generator) -> NDArray[np.float64]:
        here = parents[draws.integers(len(parents))]
        one, other = draws.choice(len(parents), 2, replace=False)
        moved = here + self.pull * (parents[0] - here) + SCALE * (parents[one] - parents[other])
        taken = draws.random(self.dimensions) < draws.choice(CROSSINGS)
        taken[draws.integers(self.dimensions)] = True
        folded: NDArray[np.float64] = np.abs((np.where(taken, moved, here) + 1.0) % 2.0 - 1.0)  # reflected at the walls
        return folded


def least_near(
    points: NDArray[np.float64], worth: NDArray[np.float64], *, radius: float, share: float
) -> NDArray[np.float64]:
    """Where a quadratic through the points nearest the best is least, within the cube and `radius` of the best.

    c + g·s + ½ s·H·s by least squares through `share` times as many points as it has coefficients; the shortest solution
    where there are fewer. Points without a worth (infinite) are left out.
    """
    from scipy.optimize import minimize

    best, size = int(worth.argmin()), points.shape[1]
    away = np.abs(points - points[best]).max(axis=1)
    away[~np.isfinite(worth)] = np.inf
    near = np.argsort(away, kind="stable")[: int(share * (size + 1) * (size + 2) / 2) + 1]
    near = near[np.isfinite(away[near])]
    if len(near) < 2:  # noqa: PLR2004  # no slope
        only: NDArray[np.float64] = points[best]
        return only
    scale = max(float(away[near].max()), SAME)
    steps = (points[near] - points[best]) / scale
    upper = np.triu_indices(size)
    design = np.concatenate([np.ones((len(steps), 1)), steps, steps[:, upper[0]] * steps[:, upper[1]]], axis=1)
    found = np.linalg.lstsq(design, worth[near], rcond=1e-10)[0]
    found /= max(float(np.abs(found[1:]).max()), np.finfo(float).tiny)
    slope, bend = found[1 : 1 + size], np.zeros((size, size))
    bend[upper] = found[1 + size :]
    bend += bend.T
    low, high = (np.clip((end - points[best]) / scale, -radius / scale, radius / scale) for end in (0.0, 1.0))

    def height(step: Any) -> Any:
        return slope @ step + 0.5 * step @ bend @ step, slope + bend @ step

    solve: Any = minimize
    tight = {"ftol": 1e-15, "gtol": 1e-12}
    step = solve(height, np.zeros(size), jac=True, method="L-BFGS-B", bounds=np.stack([low, high], axis=1), options=tight).x
    there: NDArray[np.float64] = np.clip(points[best] + scale * step, 0.0, 1.0)
    return there
