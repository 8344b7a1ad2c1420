"""Simulation of the loop tick by tick: each cell's final behaviour, and the ceiling at which oscillation starts."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.stability.loop import LARGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array, TickLoop
    from malsim.memory import Memory


TICKS = 2_000
STILL = 1e-9
FADING = 0.98
AT_ONCE, WORK, FEWEST = 16, 400_000, 400
APART, LEAST = 1.01, 0.01


def trail(loop: TickLoop, ticks: int) -> Array:
    """Simulate the loop and return all cell values at the start and after each tick, shape (ticks + 1, cells)."""
    worth = [loop.start]
    for _ in range(ticks):
        worth.append(loop.tick(worth[-1]))
    return np.stack(worth)


def rings(loop: TickLoop, *, ticks: int = TICKS) -> NDArray[np.bool_]:
    """Return a mask of the challenge ceilings at which the loop still oscillates, without fading, after `ticks` ticks.

    The largest moves in the last two quarters of the ticks are compared, so that orbits that never repeat are detected; an
    oscillation fades if the later one is below 0.98 of the earlier one. Loops at rest are not run further.
    """
    ceilings = np.atleast_1d(np.asarray(loop.challenge_ceiling, dtype=np.float64))
    support = np.broadcast_to(np.asarray(loop.support_ceiling, dtype=np.float64), ceilings.shape)
    worth = np.repeat(loop.start[:, None], len(ceilings), axis=1)
    live, peaks = np.arange(len(ceilings)), np.zeros((4, len(ceilings)))
    ringing = np.zeros(len(ceilings), dtype=bool)
    for quarter in range(4):
        for _ in range(max(ticks // 4, 1)):
            fresh = replace(loop, challenge_ceiling=ceilings[live], support_ceiling=support[live]).tick(worth)
            move = np.abs(fresh - worth).max(axis=0, initial=0.0)
            peaks[quarter, live] = np.maximum(peaks[quarter, live], move)
            worth = fresh
            if (still := move <= STILL).any():
                live, worth = live[~still], worth[:, ~still]
                if not len(live):
                    return ringing
    ringing[live] = peaks[3, live] >= FADING * peaks[2, live]
    return ringing


def measured_ceiling(
    loop: TickLoop, *, low: float = 0.0, high: float = 1.0, within: float = 1e-3, ticks: int = TICKS
) -> float | None:
    """Find the lowest challenge ceiling in [low, high] at which ticks keep oscillating, to a relative accuracy of `within`.

    The result is None if ticks settle at all ceilings tried. Below the contraction bound every start settles. Above it,
    ceilings 1 % apart are run, lowest first (for more than 500 cells farther apart and for fewer ticks), and the first step
    from settling to oscillation is bisected. A narrower range of oscillation may be missed.
    """
    if not 0.0 <= low < high:
        raise UsageError(
            "the range of ceilings is empty", where="measured_ceiling", given=(low, high), allowed="0 ≤ low < high"
        )
    low = max(low, _contraction_bound(loop), high * LEAST)
    ticks = int(np.clip(WORK // len(loop.start), FEWEST, ticks))
    while high > low * (1.0 + within):
        most = max(AT_ONCE // 2, WORK // (8 * len(loop.start)))
        count = int(np.clip(np.ceil(np.log(high / low) / np.log(APART)), 1, most))
        ceilings = np.geomspace(low, high, count + 1)[1:]
        first = _first_ringing(loop, ceilings, ticks)
        if first is None:
            return None
        low, high = (low if first == 0 else float(ceilings[first - 1])), float(ceilings[first])
        if high <= low * APART:
            return _bisect(loop, low, high, within, ticks)
    return None


def _first_ringing(loop: TickLoop, ceilings: Array, ticks: int) -> int | None:
    for start in range(0, len(ceilings), AT_ONCE):
        ringing = rings(replace(loop, challenge_ceiling=ceilings[start : start + AT_ONCE]), ticks=ticks)
        if ringing.any():
            return start + int(ringing.argmax())
    return None


def _bisect(loop: TickLoop, low: float, high: float, within: float, ticks: int) -> float:
    while high > low * (1.0 + within):
        middle = float(np.sqrt(low * high))
        ringing = bool(rings(replace(loop, challenge_ceiling=middle), ticks=ticks)[0])
        low, high = (low, middle) if ringing else (middle, high)
    return high


def _contraction_bound(loop: TickLoop) -> float:
    """Return the ceiling below which every row of a S + b C sums to less than 1, so that ticks settle; 0 if none."""
    up, down = loop.masses(np.ones_like(loop.start))
    rows = loop.active & (down > 0.0)
    if not rows.any() or loop.formula is not None or (loop.support_ceiling * up[loop.active]).max() >= 1.0:
        return 0.0
    return float(((1.0 - loop.support_ceiling * up[rows]) / down[rows]).min())


LONGEST, QUARTER = 32, 256
TRAIL_TICKS, MORE = 1_000, 20
EQUAL = 1e-6
FADED = 0.99


def of_trail(loop: TickLoop, memory: Memory) -> pl.DataFrame:
    """Simulate the loop and classify each cell's final behaviour, in the columns rep, cell, final, period and amplitude.

    The loop runs for 1,000 ticks, or until all cells rest. If some cells then have no period, the loop (of up to 10,000
    cells) runs for up to 20,000 more, until they rest or stop fading. Period 1 means at rest or fading, −1 never repeating.
    """
    before, rows = 0.0, loop.start[None, :]
    for number in range(1 + (MORE if len(loop.start) <= LARGE else 0)):
        rows = _last_ticks(loop.tick, rows[-1])
        moves = np.abs(np.diff(rows, axis=0))
        period, peak = _periods(rows[-2 * LONGEST :]), float(moves.max(initial=0.0))
        if (period > 0).all() or (number and peak >= FADED * before):
            break
        before = peak
    half = len(moves) // 2
    fading = moves[half:].max(axis=0, initial=0.0) < FADED * moves[:half].max(axis=0, initial=0.0)
    period = np.where(period > 0, period, np.where(fading, 1, -1))
    amplitude = np.where(period == 1, 0.0, np.ptp(rows[-LONGEST:] if (period > 0).all() else rows, axis=0))
    return memory.cells.select("rep", pl.col("handle").alias("cell")).with_columns(
        pl.Series("final", rows[-1]), pl.Series("period", period), pl.Series("amplitude", amplitude)
    )


def _last_ticks(step: Callable[[Array], Array], worth: Array) -> Array:
    """Run up to 1,000 ticks and return the last 256 states, shape (ticks, cells), or fewer if all cells come to rest."""
    last = deque([worth], maxlen=QUARTER)
    for _ in range(TRAIL_TICKS):
        last.append(step(last[-1]))
        if np.abs(last[-1] - last[-2]).max(initial=0.0) <= EQUAL / 1e3:
            break
    return np.stack(last)


def _periods(rows: Array) -> NDArray[np.int64]:
    """Return the shortest period of each column, seen at least twice in a row, or 0 if there is none."""
    period = np.zeros(rows.shape[1], dtype=np.int64)
    for length in range(min(LONGEST, len(rows) // 2), 0, -1):
        again = np.abs(rows[-length:] - rows[-2 * length : -length]).max(axis=0) <= EQUAL
        period[again] = length
    period[np.abs(rows[-1] - rows[-2]) <= EQUAL] = 1
    return period


def word(ends: pl.DataFrame) -> str:
    """Return a one-word verdict from the periods of all cells: settled, period-2, longer (or none), moving (no period yet).

    >>> word(pl.DataFrame({"period": [1, 2, 1]}))
    'period-2'
    """
    periods = set(ends["period"].unique().to_list())
    if any(period > 2 or period < 0 for period in periods):  # noqa: PLR2004  # the word for two is period-2
        return "longer"
    if 2 in periods:  # noqa: PLR2004
        return "period-2"
    return "moving" if 0 in periods else "settled"
