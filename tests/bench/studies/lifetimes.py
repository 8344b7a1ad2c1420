"""How often `fit_decay` rejects an exponential, and whether what it quotes holds the planted mean of 30 days, by true law.

A hundred draws of 250 lifetimes; thirty of a claim a day for 400 days about eight objects, .15 of them wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import malsim as ms
from tests.bench.studies import share_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.lab.decay.result import Decay
    from malsim.memory.graph.arrays import Array, Ints
    from tests.bench.studies import Row

MEAN, SIZE, OBJECTS, DAYS, WRONG = 30.0, 250, 8, 400, 0.15
LAWS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "exponential": lambda draws, count: draws.exponential(MEAN, count),
    "Weibull": lambda draws, count: MEAN / 2.0 * draws.weibull(0.5, count),
    "lognormal": lambda draws, count: draws.lognormal(np.log(MEAN) - 0.72, 1.2, count),
}


def rows(seed: int) -> list[Row]:
    """Of each law: the share rejected, and the share of quoted intervals that hold the mean."""
    found: list[Row] = []
    for number, law in enumerate(LAWS):
        for source, log, count in (("lifetimes", lifetimes, 100), ("claims", claims, 30)):
            draws = [np.random.default_rng([seed, number, each]) for each in range(count)]
            found += _counted([ms.fit_decay(log(law, each)) for each in draws], law, source)
    return found


def _counted(fits: list[Decay], law: str, source: str) -> Iterator[Row]:
    quoted = [one.goodness.mean[1:] if one.goodness.rejected else one.constants.row(0)[3:5] for one in fits]
    yield share_row([one.goodness.rejected for one in fits], law=law, source=source, figure="rejected")
    yield share_row([low <= MEAN <= high for low, high in quoted], law=law, source=source, figure="held")


def lifetimes(law: str, draws: np.random.Generator) -> pl.DataFrame:
    """Lifetimes that have all ended."""
    return pl.DataFrame({"duration": LAWS[law](draws, SIZE), "ended": [True] * SIZE})


def claims(law: str, draws: np.random.Generator) -> pl.DataFrame:
    """A log of `histories`, of claims of three values: each claim is a stretch of its own."""
    time = np.arange(float(DAYS))
    return pl.concat(
        pl.DataFrame({"object": f"object {number}", "value": _said(law, draws), "start": time}) for number in range(OBJECTS)
    ).with_columns(
        rep=0, after=0.0, entered=0.0, until=float(DAYS), cell=pl.lit(""), stability=pl.lit(""), ended_by=pl.lit("anyone"),
        before=pl.when(pl.col("start") < DAYS - 1.0).then(1.0), restated=pl.lit([], dtype=pl.List(pl.Float64)),
    )  # fmt: skip


def _said(law: str, draws: np.random.Generator) -> Ints:
    ends = np.cumsum(LAWS[law](draws, 4_000))
    truth = np.append(0, draws.integers(1, 3, len(ends))).cumsum()[np.searchsorted(ends, np.arange(DAYS) + 3_000.0)]
    return (truth + (draws.random(DAYS) < WRONG) * draws.integers(1, 3, DAYS)) % 3
