"""Run lengths of a two-sided CUSUM next to the published ones, and of designed tripwires: four hundred replications each.

A design differs from seed to seed: sixteen are made for ARL0 2000, ARL1 5 and a shift of 2, and tried on fresh draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.tripwire.runs.episode_scores import scores
from malsim.lab.tripwire.runs.recorded_inputs import replay
from malsim.lab.tripwire.runs.reference_charts import cusum
from malsim.lab.tripwire.study.alarm_design import design_tripwire
from tests.bench.studies import share_row

if TYPE_CHECKING:
    import polars as pl

    from tests.bench.studies import Row

DESIGNS = 16
TICKS = {4.0: 1_400, 5.0: 2_500}


def rows(seed: int) -> list[Row]:
    """ARL0 and ARL1 of each chart."""
    found: list[Row] = []
    for threshold, ticks in TICKS.items():
        draws = np.random.default_rng([seed, int(threshold)])
        for metric, values in (("arl0", draws.normal(size=(ticks, 400))), ("arl1", draws.normal(1.0, size=(80, 400)))):
            alarm = replay(cusum(threshold=threshold), {"x": values}, ["alarm"])["alarm"]
            found.append(_row(scores(alarm, np.full_like(alarm, metric == "arl1")), metric, f"h = {threshold:g}"))
    designs = (design_tripwire(2_000.0, 5.0, shift=2.0, seed=DESIGNS * seed + number) for number in range(DESIGNS))
    return [*found, share_row([one.reached for one in designs], figure="reached")]


def _row(figures: pl.DataFrame, metric: str, chart: str) -> Row:
    one = figures.filter(metric=metric)
    return {"chart": chart, "metric": metric, **{name: one[name][0] for name in ("value", "low", "high")}}
