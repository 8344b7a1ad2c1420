"""The lowest loss after 256 points in five dimensions: the tuner's search and scipy's differential evolution.

Medians over sixteen seeds, with the interval between the fourth lowest and the fourth highest (98 %).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, differential_evolution

from malsim.lab.tuning.search import ModelSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.bench.studies import Row

    Loss = Callable[[NDArray[np.float64]], float]

SIZE, BUDGET, SEEDS = 5, 256, 16
FEW = {"popsize": 3, "maxiter": 12, "polish": True}  # 195 points, the rest for the polish


class SpentError(Exception):
    """The budget is used up."""


def rows(seed: int) -> list[Row]:
    """The median of each search on each loss."""
    return medians(seed, malsim, evolution, few)


def medians(seed: int, *searches: Callable[[Loss, int], float]) -> list[Row]:
    """The median lowest loss that each search finds, of each loss."""
    found: list[Row] = []
    for loss in (quadratic, rosenbrock, rastrigin):
        for search in searches:
            values = sorted(search(loss(own), own) for own in range(SEEDS * seed, SEEDS * (seed + 1)))
            middle, low, high = float(np.median(values)), values[3], values[-4]
            found.append({"loss": loss.__name__, "search": search.__name__, "value": middle, "low": low, "high": high})
    return found


def middle(seed: int) -> NDArray[np.float64]:
    """Where the least is: nowhere that a first design has a point."""
    return np.random.default_rng(100 + seed).uniform(0.2, 0.8, SIZE)


def quadratic(seed: int) -> Loss:
    return lambda x: float((np.arange(1, SIZE + 1) * (x - middle(seed)) ** 2).sum())


def rosenbrock(_: int) -> Loss:
    def loss(x: NDArray[np.float64]) -> float:
        at = 4.0 * x - 2.0
        return float((100.0 * (at[1:] - at[:-1] ** 2) ** 2 + (1.0 - at[:-1]) ** 2).sum())

    return loss


def rastrigin(seed: int) -> Loss:
    def loss(x: NDArray[np.float64]) -> float:
        at = 10.24 * (x - middle(seed))
        return float((at**2 - 10.0 * np.cos(2.0 * np.pi * at) + 10.0).sum())

    return loss


def malsim(loss: Loss, seed: int) -> float:
    search = ModelSearch(SIZE, seed=seed, start=32)
    for _ in range(BUDGET):
        number, point = search.ask()
        search.tell(number, loss(point))
    return min(search.values.values())


def evolution(loss: Loss, seed: int, **options: Any) -> float:
    """As scipy has it by default, until the budget is spent."""
    values: list[float] = []

    def evaluate(x: NDArray[np.float64]) -> float:
        if len(values) == BUDGET:
            raise SpentError
        values.append(loss(x))
        return values[-1]

    with suppress(SpentError):
        differential_evolution(evaluate, Bounds(np.zeros(SIZE), np.ones(SIZE)), rng=seed, **options)
    return min(values)


def few(loss: Loss, seed: int) -> float:
    """With few members a dimension, and a polish."""
    return evolution(loss, seed, **FEW)
