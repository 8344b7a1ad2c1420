"""The coverage of sequential stopping: of 1,000 runs a metric, those promised alone, how often the interval holds the truth.

Run by hand: pytest -n 0 -s tests/bench/test_coverage_table.py (about two minutes).
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from malsim.base.errors import UsageError
from malsim.lab.studies.replications import sequential

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

RUNS = int(os.environ.get("MALSIM_RUNS", "1000"))
SEED = int(os.environ.get("MALSIM_SEED", "0"))
LEAST = 0.93
METRICS: dict[str, tuple[Draw, float, tuple[float, ...]]] = {
    "normal": (lambda draws, count: draws.normal(size=count), 0.0, (0.36, 0.16)),
    "exponential": (lambda draws, count: draws.exponential(size=count), 1.0, (0.36, 0.16)),
    "lognormal": (lambda draws, count: draws.lognormal(0.0, 1.0, count), float(np.exp(0.5)), (0.7, 0.35)),
    "lognormal 1.5": (lambda draws, count: draws.lognormal(0.0, 1.5, count), float(np.exp(1.125)), (2.0, 1.0)),
    "chi-square 8": (lambda draws, count: draws.chisquare(8.0, count), 8.0, (1.5, 0.7)),
    "one in twenty": (lambda draws, count: draws.exponential(size=count) * (draws.random(count) < 0.05), 0.05, (0.1, 0.05)),
    "share 0.03": (lambda draws, count: (draws.random(count) < 0.03).astype(float), 0.03, (0.1, 0.03)),
    "share 0.1": (lambda draws, count: (draws.random(count) < 0.1).astype(float), 0.1, (0.1, 0.05)),
    "share 0.5": (lambda draws, count: (draws.random(count) < 0.5).astype(float), 0.5, (0.15, 0.08)),
}


def draw_some(draw: Draw, draws: np.random.Generator, _: int, count: int) -> list[NDArray[np.float64]]:
    return [draw(draws, count)]


@pytest.mark.parametrize("name", METRICS)
def test_what_is_promised_is_kept(name: str) -> None:
    draw, truth, widths = METRICS[name]
    for width in widths:
        covered, doubtful, refusals, count = 0, 0, 0, []
        for seed in range(RUNS):
            draws = np.random.default_rng([SEED, seed, int(1000 * width)])
            try:
                result = sequential(partial(draw_some, draw, draws), {"x": width})
            except UsageError:  # no event was seen at all
                refusals += 1
                continue
            count.append(result.replications)
            unsure = bool(result.doubts) or not result.reached
            doubtful += unsure
            covered += not unsure and result["x"].low <= truth <= result["x"].high
        usable = RUNS - doubtful - refusals
        message = f"{covered / usable:.3f} of {usable} promised"
        print(f"{name:14} ± {width:<5} {message}, {doubtful} doubted, {refusals} refused, {np.median(count):.0f} runs")
        assert covered >= LEAST * usable
        assert usable >= RUNS / 2
