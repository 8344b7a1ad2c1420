"""The loop run tick by tick: does it settle, and at which ceiling does it stop settling."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array, Loop

__all__ = ["measured_ceiling", "rings", "trail"]

TICKS = 1_000
STILL = 1e-9
FADING = 0.9
AT_ONCE = 16


def trail(loop: Loop, ticks: int, start: Array | None = None) -> Array:
    """The worth of every cell at start and after each tick, shape (ticks + 1, cells)."""
    worth = [loop.start if start is None else start]
    for _ in range(ticks):
        worth.append(loop.tick(worth[-1]))
    return np.stack(worth)


def rings(loop: Loop, *, ticks: int = TICKS) -> NDArray[np.bool_]:
    """Which loops still move after some ticks from `start`, and no less than 0.9 of what they moved halfway.

    One answer for each challenge ceiling of the loop.
    """
    columns = np.atleast_1d(loop.challenge_ceiling)
    loop = replace(loop, challenge_ceiling=columns)
    worth = np.repeat(loop.start[:, None], len(columns), axis=1)
    halfway = moved = np.zeros(len(columns))
    for made in range(1, ticks + 1):
        fresh = loop.tick(worth)
        moved = np.abs(fresh - worth).max(axis=0, initial=0.0)
        worth = fresh
        if moved.max() <= STILL:
            break
        halfway = moved if made == ticks // 2 else halfway
    return (moved > STILL) & (moved >= FADING * halfway)


def measured_ceiling(
    loop: Loop, *, low: float = 0.0, high: float = 1.0, within: float = 1e-3, ticks: int = TICKS
) -> float | None:
    """The least challenge ceiling between two at which simulated ticks go on ringing, to a relative `within`.

    None where none of the ceilings tried rings. Sixteen ceilings are run at a time, and the first step from settling to
    ringing is looked into further.
    """
    if not 0.0 <= low < high:
        raise UsageError("an empty range of ceilings", where="measured_ceiling", given=(low, high), allowed="0 ≤ low < high")
    while high - low > within * high:
        ceilings = np.linspace(low, high, AT_ONCE + 1)[1:]
        found = np.flatnonzero(rings(replace(loop, challenge_ceiling=ceilings), ticks=ticks))
        if not found.size:
            return None
        low, high = (low if found[0] == 0 else float(ceilings[found[0] - 1])), float(ceilings[found[0]])
    return (low + high) / 2.0
