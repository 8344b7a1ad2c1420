"""Endings of recorded trajectories: settled, periodic, or still moving."""

from __future__ import annotations

import numpy as np
import polars as pl

LONGEST_PERIOD = 32
STILL = 1e-6


def endings(cells: pl.DataFrame, *, column: str = "effective") -> pl.DataFrame:
    """Return one row a cell and replication: final value, period (1 settled, 0 none found), amplitude over a period.

    `cells` has t, rep, cell and the column, in time order. A period counts when it is seen twice over.
    """
    series = cells.group_by("rep", "cell", maintain_order=True).agg(pl.col(column))
    rows = [_ending(np.asarray(values)) for values in series[column].to_list()]
    kinds = {"period": pl.Int64, "amplitude": pl.Float64, "final": pl.Float64}
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return pl.concat([series.select("rep", "cell"), frame.select("final", "period", "amplitude")], how="horizontal")


def _ending(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[int, float, float]:
    for period in range(1, min(LONGEST_PERIOD, len(values) // 2) + 1):
        tail = values[-2 * period :]
        if np.abs(tail[period:] - tail[:period]).max() <= STILL:
            return period, float(np.ptp(tail[period:])), float(values[-1])
    return 0, float(np.ptp(values[-LONGEST_PERIOD:])), float(values[-1])
