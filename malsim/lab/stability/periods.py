"""Classification of how trajectories end: settled, period-2, longer."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.stability.loop import LARGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array, TickLoop
    from malsim.memory import Memory

LONGEST, QUARTER = 32, 256
TICKS, MORE = 1_000, 20
STILL = 1e-6
FADING = 0.99


def of_trail(loop: TickLoop, memory: Memory) -> pl.DataFrame:
    """Tick the loop from its start and classify how each cell ends: rep, cell, final, period, amplitude.

    The loop runs for 1,000 ticks, or until all cells rest. If some cells then have no period, it runs for up to 20,000 more
    (on up to 10,000 cells), until these rest or stop fading. Period 1 is at rest or fading; −1 never repeats.
    """
    before, rows = 0.0, loop.start[None, :]
    for number in range(1 + (MORE if len(loop.start) <= LARGE else 0)):
        rows = _last_ticks(loop.tick, rows[-1])
        moves = np.abs(np.diff(rows, axis=0))
        period, peak = _periods(rows[-2 * LONGEST :]), float(moves.max(initial=0.0))
        if (period > 0).all() or (number and peak >= FADING * before):
            break
        before = peak
    half = len(moves) // 2
    fading = moves[half:].max(axis=0, initial=0.0) < FADING * moves[:half].max(axis=0, initial=0.0)
    period = np.where(period > 0, period, np.where(fading, 1, -1))
    amplitude = np.where(period == 1, 0.0, np.ptp(rows[-LONGEST:] if (period > 0).all() else rows, axis=0))
    return memory.cells.select("rep", pl.col("handle").alias("cell")).with_columns(
        pl.Series("final", rows[-1]), pl.Series("period", period), pl.Series("amplitude", amplitude)
    )


def _last_ticks(step: Callable[[Array], Array], worth: Array) -> Array:
    """Return the last 256 of 1,000 ticks, shape (ticks, cells); fewer if all cells come to rest."""
    last = deque([worth], maxlen=QUARTER)
    for _ in range(TICKS):
        last.append(step(last[-1]))
        if np.abs(last[-1] - last[-2]).max(initial=0.0) <= STILL / 1e3:
            break
    return np.stack(last)


def _periods(rows: Array) -> NDArray[np.int64]:
    """Return the least period that each column shows twice over; 0 where it shows none."""
    period = np.zeros(rows.shape[1], dtype=np.int64)
    for length in range(min(LONGEST, len(rows) // 2), 0, -1):
        again = np.abs(rows[-length:] - rows[-2 * length : -length]).max(axis=0) <= STILL
        period[again] = length
    period[np.abs(rows[-1] - rows[-2]) <= STILL] = 1
    return period


def word(ends: pl.DataFrame) -> str:
    """Return the verdict for all cells: the longest period of any cell; "longer" if a cell never repeats.

    >>> word(pl.DataFrame({"period": [1, 2, 1]}))
    'period-2'
    """
    periods = set(ends["period"].unique().to_list())
    if any(period > 2 or period < 0 for period in periods):  # noqa: PLR2004  # the word for two is period-2
        return "longer"
    if 2 in periods:  # noqa: PLR2004
        return "period-2"
    return "moving" if 0 in periods else "settled"
