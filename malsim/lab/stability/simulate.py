"""The loop run tick by tick: does it settle, and at which ceiling does it stop settling."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array, TickLoop

TICKS = 2_000
STILL = 1e-9
FADING = 0.98
AT_ONCE, WORK, FEWEST = 16, 400_000, 400
APART, LEAST = 1.01, 0.01


def trail(loop: TickLoop, ticks: int) -> Array:
    """Return the worth of every cell at start and after each tick, shape (ticks + 1, cells)."""
    worth = [loop.start]
    for _ in range(ticks):
        worth.append(loop.tick(worth[-1]))
    return np.stack(worth)


def rings(loop: TickLoop, *, ticks: int = TICKS) -> NDArray[np.bool_]:
    """Return the mask of challenge ceilings at which the loop still moves after `ticks` ticks without fading.

    Over the last two quarters of the ticks the largest move of each is taken, so that an orbit that never repeats is seen;
    it fades where the later is below 0.98 of the earlier. Loops at rest are left out of the ticks that follow.
    """
    columns = np.atleast_1d(np.asarray(loop.challenge_ceiling, dtype=np.float64))
    support = np.broadcast_to(np.asarray(loop.support_ceiling, dtype=np.float64), columns.shape)
    worth = np.repeat(loop.start[:, None], len(columns), axis=1)
    live, peaks = np.arange(len(columns)), np.zeros((4, len(columns)))
    per = max(ticks // 4, 1)
    for quarter in range(4):
        for _ in range(per):
            here = replace(loop, challenge_ceiling=columns[live], support_ceiling=support[live])
            fresh = here.tick(worth)
            move = np.abs(fresh - worth).max(axis=0, initial=0.0)
            peaks[quarter, live] = np.maximum(peaks[quarter, live], move)
            worth = fresh
            if (still := move <= STILL).any():
                live, worth = live[~still], worth[:, ~still]
                if not len(live):
                    return np.zeros(len(columns), dtype=bool)
    ringing = np.zeros(len(columns), dtype=bool)
    ringing[live] = peaks[3, live] >= FADING * peaks[2, live]
    return ringing


def measured_ceiling(
    loop: TickLoop, *, low: float = 0.0, high: float = 1.0, within: float = 1e-3, ticks: int = TICKS
) -> float | None:
    """Return the least challenge ceiling between two at which simulated ticks go on ringing, to a relative `within`.

    None where none of them rings. Below the contraction bound nothing can ring; from there ceilings 1 % apart are run
    (farther apart on more than 500 cells, and for fewer ticks), lowest first, and the first step from settling to ringing is
    bisected. A window of ringing that is narrower may be missed.
    """
    if not 0.0 <= low < high:
        raise UsageError("an empty range of ceilings", where="measured_ceiling", given=(low, high), allowed="0 ≤ low < high")
    low = max(low, _contracting(loop), high * LEAST)
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
    for at in range(0, len(ceilings), AT_ONCE):
        ringing = rings(replace(loop, challenge_ceiling=ceilings[at : at + AT_ONCE]), ticks=ticks)
        if ringing.any():
            return at + int(ringing.argmax())
    return None


def _bisect(loop: TickLoop, low: float, high: float, within: float, ticks: int) -> float:
    while high > low * (1.0 + within):
        middle = float(np.sqrt(low * high))
        ringing = bool(rings(replace(loop, challenge_ceiling=middle), ticks=ticks)[0])
        low, high = (low, middle) if ringing else (middle, high)
    return high


def _contracting(loop: TickLoop) -> float:
    """Return the ceiling below which all rows of a S + b C sum to less than 1, so that any start settles; 0 if none."""
    up, down = loop.masses(np.ones_like(loop.start))
    rows = loop.active & (down > 0.0)
    if not rows.any() or loop.formula is not None or (loop.support_ceiling * up[loop.active]).max() >= 1.0:
        return 0.0
    return float(((1.0 - loop.support_ceiling * up[rows]) / down[rows]).min())
