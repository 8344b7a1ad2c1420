"""How often the interval of `replicate` holds the truth, of runs that it promises 95 %, at two half-widths.

A thousand runs of each metric and half-width; a run is not promised where `doubts` says so, where the largest number of
replications comes first, or where every value is alike.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import UsageError
from malsim.lab.studies.replications import sequential
from tests.bench.studies import mean_row, share_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tests.bench.studies import Row

    Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

RUNS = 1_000
METRICS: dict[str, tuple[Draw, float, tuple[float, float]]] = {
    "normal": (lambda draws, count: draws.normal(size=count), 0.0, (0.36, 0.16)),
    "chi-square of 8": (lambda draws, count: draws.chisquare(8.0, count), 8.0, (1.5, 0.7)),
    "exponential": (lambda draws, count: draws.exponential(size=count), 1.0, (0.36, 0.16)),
    "lognormal": (lambda draws, count: draws.lognormal(0.0, 1.0, count), float(np.exp(0.5)), (0.7, 0.35)),
    "lognormal of scale 1.5": (lambda draws, count: draws.lognormal(0.0, 1.5, count), float(np.exp(1.125)), (2.0, 1.0)),
    "exponential in one of twenty": (
        lambda draws, count: draws.exponential(size=count) * (draws.random(count) < 0.05), 0.05, (0.1, 0.05)
    ),
    "share of 0.03": (lambda draws, count: (draws.random(count) < 0.03).astype(float), 0.03, (0.1, 0.03)),
    "share of 0.1": (lambda draws, count: (draws.random(count) < 0.1).astype(float), 0.1, (0.1, 0.05)),
    "Pareto of exponent 1.5": (lambda draws, count: draws.pareto(1.5, count), 2.0, (2.0, 1.0)),
}  # fmt: skip


def rows(seed: int) -> list[Row]:
    """Of each metric and half-width: coverage, the share promised, and the replications that a run took."""
    return [row for name in METRICS for width in ("wide", "narrow") for row in _of(name, width, seed)]


def _of(name: str, width: str, seed: int) -> Iterator[Row]:
    draw, truth, widths = METRICS[name]
    asked = widths[width == "narrow"]
    held, promised, taken = [], [], []
    for run in range(RUNS):
        draws = np.random.default_rng([seed, run, int(1000 * asked)])
        try:
            found = sequential(partial(_some, draw, draws), {"x": asked})
        except UsageError:  # every value is alike
            promised.append(False)
            continue
        taken.append(found.replications)
        promised.append(found.reached and not found.doubts)
        if promised[-1]:
            held.append(found["x"].low <= truth <= found["x"].high)
    yield share_row(held, metric=name, width=width, figure="coverage")
    yield share_row(promised, metric=name, width=width, figure="promised")
    yield mean_row(taken, metric=name, width=width, figure="replications")


def _some(draw: Draw, draws: np.random.Generator, _: int, count: int) -> list[NDArray[np.float64]]:
    return [draw(draws, count)]
