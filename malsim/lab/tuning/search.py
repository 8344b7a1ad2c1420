"""Ask-and-tell optimisers: differential evolution and, for a single loss, quadratic models around the best point.

The sequence of points depends only on the losses, not on the order in which they arrive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import qmc

from malsim.base.errors import UsageError
from malsim.lab.falsify.margin_search import children

if TYPE_CHECKING:
    from malsim.lab.studies.measure import Array

SPARE = 2
BETTER = 0.5
LEVEL = SAME = 1e-9


def lowest(points: Array, losses: Array) -> Array | None:
    """Minimise, within the unit cube, a quadratic fitted to each resample's losses. Return None if there are too few points.

    c + g·x + ½ x·H·x is fitted by least squares to the better half of the points (by mean loss). Its minimum is −H⁻¹ g or,
    in directions in which H is not positive, lies at the edge of the cube. At least twice as many points as coefficients
    are required, because with fewer the fit would follow noise.

    Parameters
    ----------
    points
        Shape (points, dimensions), each in [0, 1].
    losses
        Shape (resamples, points).
    """
    count, size = points.shape
    order = np.argsort(losses.mean(axis=0), kind="stable")[: int(np.ceil(BETTER * count))]
    if len(order) < SPARE * (size + 1) * (size + 2) / 2:
        return None
    middle = points[order[0]]
    coefficients = np.einsum("bn,pn->bp", losses[:, order], np.linalg.pinv(_terms(points[order] - middle)))
    slope, bend = _derivatives(coefficients, size)
    values, vectors = np.linalg.eigh(bend)
    along = np.einsum("bij,bi->bj", vectors, slope)
    steps = np.where(values > LEVEL, -along / np.maximum(values, LEVEL), -np.sign(along))
    least: Array = np.clip(middle + np.einsum("bij,bj->bi", vectors, steps), 0.0, 1.0)
    return least


def least_near(points: Array, worth: Array, *, radius: float, share: float) -> Array:
    """Fit a quadratic to the points nearest the best one, and minimise it in the cube within `radius` of the best point.

    c + g·s + ½ s·H·s is fitted by least squares to `share` times as many points as it has coefficients. If there are fewer
    points, the minimum-norm solution is used. Points with an infinite loss are ignored.
    """
    from scipy.optimize import minimize

    best, size = int(worth.argmin()), points.shape[1]
    away = np.abs(points - points[best]).max(axis=1)
    away[~np.isfinite(worth)] = np.inf
    near = np.argsort(away, kind="stable")[: int(share * (size + 1) * (size + 2) / 2) + 1]
    near = near[np.isfinite(away[near])]
    if len(near) < 2:  # noqa: PLR2004  # a slope needs two points
        single: Array = points[best]
        return single
    scale = max(float(away[near].max()), SAME)
    steps = (points[near] - points[best]) / scale
    coefficients = np.linalg.lstsq(_terms(steps), worth[near], rcond=1e-10)[0]
    coefficients /= max(float(np.abs(coefficients[1:]).max()), np.finfo(float).tiny)
    slope, bend = _derivatives(coefficients, size)
    low, high = (np.clip((end - points[best]) / scale, -radius / scale, radius / scale) for end in (0.0, 1.0))

    def height(step: Any) -> Any:
        return slope @ step + 0.5 * step @ bend @ step, slope + bend @ step

    solve: Any = minimize
    tight = {"ftol": 1e-15, "gtol": 1e-12}
    step = solve(height, np.zeros(size), jac=True, method="L-BFGS-B", bounds=np.stack([low, high], axis=1), options=tight).x
    minimum: Array = np.clip(points[best] + scale * step, 0.0, 1.0)
    return minimum


def _terms(steps: Array) -> Array:
    """Return the terms of a quadratic for each row of `steps`: 1, the coordinates, and their pairwise products."""
    upper = np.triu_indices(steps.shape[1])
    return np.concatenate([np.ones((len(steps), 1)), steps, steps[:, upper[0]] * steps[:, upper[1]]], axis=1)


def _derivatives(coefficients: Array, size: int) -> tuple[Array, Array]:
    upper = np.triu_indices(size)
    bend = np.zeros((*coefficients.shape[:-1], size, size))
    bend[..., upper[0], upper[1]] = coefficients[..., 1 + size :]
    return coefficients[..., 1 : 1 + size], bend + np.swapaxes(bend, -1, -2)


def _child(
    parent: Array, best: Array, others: Array, draws: np.random.Generator, *, pull: float, crossings: tuple[float, ...]
) -> Array:
    """Return a child made by differential evolution. Its share of changed coordinates is drawn from `crossings`."""
    first, second = others[draws.choice(len(others), 2, replace=False)]
    mask = draws.random(len(parent)) < draws.choice(crossings)
    mask[draws.integers(len(mask))] = True
    return children(parent, best, first, second, mask, pull=pull)


MODELS = ((1.0, 1.5), (1.0 / 3.0, 1.2), (2.0, 2.0))  # (reach in trust radii, points per coefficient) of each model
WIDEST, NARROWEST = 0.5, 1e-7
POPULATION = 16
CROSSING, CROSSINGS = (0.8,), (0.2, 0.5, 0.9)


@dataclass
class Search:
    """Minimiser over the unit cube: a Sobol sequence, followed by generations of differential evolution.

    `ask()` returns the next point of the generation; `tell(number, value)` records its loss (NaN: none). A generation is
    made when all losses of the previous one are known, so the order of losses and the number of workers do not matter. The
    first generation has `start` points (`size` if 0). Children are v = x + pull (best − x) + 0.6 (x1 − x2), in which each
    coordinate replaces that of x with probability 0.8. Source: Storn and Price, 1997.

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
        if self.dimensions < 1 or self.size < 4:  # noqa: PLR2004  # a parent, the best, and two others
            raise UsageError(
                "out of bounds",
                where="Search",
                given=(self.dimensions, self.size),
                allowed="1 or more dimensions, a size of 4 or more",
            )

    def ask(self) -> tuple[int, Array]:
        """Return the next point and its number. Raises `UsageError` if losses of the last generation are missing."""
        if self._count == len(self.points):
            if len(self.values) < len(self.points):
                missing = [number for number in range(len(self.points)) if number not in self.values]
                raise UsageError(
                    "these points have no loss yet", where="ask", given=missing[:5], hint="call tell for each of them"
                )
            self.points += self._generation()
        self._count += 1
        return self._count - 1, self.points[self._count - 1]

    def tell(self, number: int, value: float) -> None:
        """Record the loss of a point; lower is better."""
        if not 0 <= number < self._count or number in self.values:
            raise UsageError("this point is not waiting for a loss", where="tell", given=number)
        self.values[number] = value

    @property
    def waiting(self) -> int:
        """Number of points that `ask` can still return before the next `tell`."""
        return len(self.points) - self._count or (self.size if len(self.values) == len(self.points) else 0)

    @property
    def best(self) -> Array:
        """Point with the lowest loss so far, the earliest in a tie."""
        return self.points[int(np.argmin(self._losses()))]

    def _losses(self) -> Array:
        losses = np.array([self.values.get(number, np.inf) for number in range(len(self.points))])
        return np.where(np.isnan(losses), np.inf, losses)

    def _generation(self) -> list[Array]:
        if not self.points:
            count = self.start or self.size
            first = qmc.Sobol(self.dimensions, rng=self.seed).random_base2(int(np.ceil(np.log2(count))))
            self._parents = list(range(self.size))
            return list(first[:count])
        last = len(self.points) - self.size
        if last >= (self.start or self.size):
            losses, born = self._losses(), range(last, len(self.points))
            pairs = zip(self._parents, born, strict=True)
            self._parents = [child if losses[child] <= losses[parent] else parent for parent, child in pairs]
        draws, best = self._draws(), self.best
        parents = np.stack([self.points[parent] for parent in self._parents])
        return [_child(parent, best, parents, draws, pull=self.pull, crossings=CROSSING) for parent in parents]

    def _draws(self) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=self.seed, counter=[0, 0, 0, len(self.points)]))


@dataclass
class ModelSearch(Search):
    """Minimiser over the unit cube: a Sobol sequence, followed by generations of model minima and evolved children.

    Three of eight points are minima of quadratics fitted to the points nearest the best point, within three different
    radii; the most successful radius is kept, and halved if none improves. The others are children of the 16 best points, v
    = x + pull (best − x) + 0.6 (x1 − x2), in which a coordinate replaces that of x with probability 0.2, 0.5 or 0.9: this
    suits losses that are sums over settings and losses that are not. Sources: Powell, 2009 (BOBYQA); Storn and Price, 1997.

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
        points, worth, draws = np.stack(self.points), self._losses(), self._draws()
        self._resize(worth)
        new: list[Array] = []
        for reach, share in MODELS[: self.size * 3 // 8]:
            self._reach[len(self.points) + len(new)] = self.radius * reach
            minimum = least_near(points, worth, radius=self.radius * reach, share=share)
            if np.abs(np.stack([*points, *new]) - minimum).max(axis=1).min() < SAME:
                minimum = np.clip(self.best + self.radius * draws.uniform(-1.0, 1.0, self.dimensions), 0.0, 1.0)
            new.append(minimum)
        parents = points[np.argsort(worth, kind="stable")[:POPULATION]]
        while len(new) < self.size:
            parent = parents[draws.integers(len(parents))]
            new.append(_child(parent, parents[0], parents, draws, pull=self.pull, crossings=CROSSINGS))
        return new

    def _resize(self, worth: Array) -> None:
        """Set the radius to the last generation's most successful radius, or halve it if no point improved."""
        if not self._reach:
            return
        first = min(self._reach)
        best = min(self._reach, key=lambda number: worth[number])
        better = worth[best] < worth[:first].min()
        self.radius = min(max(self._reach[best] if better else self.radius / 2.0, NARROWEST), WIDEST)
        self._reach = {}
