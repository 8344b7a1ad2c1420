"""Coverage of the confidence interval for a mean of censored times: six distributions in three sizes, 200 draws each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.sim.world.censored_times import censored_mean
from tests.bench.studies import share_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.sim.world.censored_times import Spells
    from tests.bench.studies import Row

TICK = 0.25
DRAWS = 200
SIZES = {"8 replications of 4 spells": (8, 4), "20 of 4": (20, 4), "40 of 10": (40, 10)}


def rows(seed: int) -> list[Row]:
    return [
        share_row(
            (hit for shape in (1.0, 2.0) for hit in hits(mean, shape, size, DRAWS, seed)), mean=f"{mean:g} d", size=name
        )
        for mean in (3.0, 10.0, 30.0)
        for name, size in SIZES.items()
    ]


def hits(mean: float, shape: float, size: tuple[int, int], times: int, seed: int) -> Iterator[bool]:
    for number in range(times):
        found = censored_mean(planted(mean, 1_000 * seed + number, shape=shape, size=size), size[0])
        assert found is not None
        yield bool(found.low <= mean + TICK / 2.0 <= found.high)


def planted(mean: float, seed: int, *, shape: float, size: tuple[int, int], horizon: float = 70.0) -> Spells:
    replications, item = size
    draw = np.random.default_rng([seed, replications, int(mean)])
    days, cut = draw.gamma(shape, mean / shape, replications * item), draw.uniform(0.0, horizon, replications * item)
    seen, end = np.ceil(days / TICK) * TICK, np.ceil(cut / TICK) * TICK
    return [(np.repeat(np.arange(replications), item), np.minimum(seen, end), seen <= end)]
