"""How trajectories end: settled, period-2, longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.stability.simulate import TICKS
from malsim.sim.steady import endings

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.stability.loop import Array, Loop
    from malsim.memory import Memory

__all__ = ["of_record", "of_trail", "word"]

LONGEST = 32
STILL = 1e-6
FADED = 0.99


def of_record(cells: pl.DataFrame) -> pl.DataFrame:
    """How each recorded cell ends: rep, cell, final, period, amplitude; see `sim.steady.endings`."""
    return endings(cells)


def of_trail(loop: Loop, memory: Memory, tick: Callable[[Array], Array] | None = None) -> pl.DataFrame:
    """How each cell ends when the loop is run for 1,000 ticks (its own, if None) from its start, or until it is still."""
    worth, kept, step = loop.start, [loop.start], tick or loop.tick
    for _ in range(TICKS):
        worth = step(worth)
        kept = [*kept[1 - 2 * LONGEST :], worth]
        if np.abs(worth - kept[-2]).max(initial=0.0) <= STILL / 1e3:
            break
    rows = np.stack(kept)
    period = np.zeros(rows.shape[1], dtype=np.int64)
    for length in range(min(LONGEST, len(rows) // 2), 0, -1):
        again = np.abs(rows[-length:] - rows[-2 * length : -length]).max(axis=0) <= STILL
        period[again] = length
    still = np.abs(rows[-1] - rows[-2]) <= STILL
    period[still] = 1
    tail = rows[-LONGEST:]
    amplitude = np.where(period == 1, 0.0, tail.max(axis=0) - tail.min(axis=0))
    return memory.cells.select("rep", pl.col("handle").alias("cell")).with_columns(
        pl.Series("final", rows[-1]), pl.Series("period", period), pl.Series("amplitude", amplitude)
    )


def word(ends: pl.DataFrame) -> str:
    """One word for all cells: the longest period any of them shows.

    >>> word(pl.DataFrame({"period": [1, 2, 1]}))
    'period-2'
    """
    periods = set(ends["period"].unique().to_list())
    if any(period > 2 for period in periods):  # noqa: PLR2004  # the word for two is period-2
        return "longer"
    if 2 in periods:  # noqa: PLR2004
        return "period-2"
    return "moving" if 0 in periods else "settled"
