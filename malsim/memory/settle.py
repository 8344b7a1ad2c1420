"""Settling: ticking at one instant until nothing moves, or saying how it keeps moving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.finite import finite
from malsim.memory.graph.edge_matrix import nan_to_zero
from malsim.memory.law import records, step, updated
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.graph.claim_graph import Memory

__all__ = ["Settled", "settle"]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What iterating the tick at one instant came to.

    `ticks` were made; if not `settled`, the last states repeat with `period` (None: no period was found among the last
    64) and `amplitude`, the largest swing of any one cell over them, and `ringing` marks the cells that move.
    """

    memory: Memory
    settled: bool
    ticks: int
    period: int | None
    amplitude: float
    ringing: NDArray[np.bool_]

    def __str__(self) -> str:
        """One sentence."""
        if self.settled:
            return f"settled in {self.ticks} ticks"
        shape = f"repeats every {self.period} ticks" if self.period else "still moving"
        return f"did not settle in {self.ticks} ticks: {shape}, amplitude {self.amplitude:.3g}, {self.ringing.sum()} cells"


HISTORY = 64


def settle(memory: Memory, now: float, rules: Rules | None = None) -> Settled:
    """Tick at one instant until no effective moves by more than `settle_tolerance`, at most `settle_ticks` times."""
    rules, now = rules or Rules(), finite(now, where="now")
    nothing = np.zeros(memory.height, dtype=bool)
    if not memory.height:
        return Settled(memory=memory, settled=True, ticks=0, period=None, amplitude=0.0, ringing=nothing)
    trail = [memory.column("effective")]
    record = records(memory, trail[-1], rules)
    for count in range(1, rules.settle_ticks + 1):
        if rules.wrong_when != "contradicted":  # the other forms read the values that are still moving
            record = records(memory, trail[-1], rules)
        result = step(memory, trail[-1], record.calibration, rules)
        change = float(nan_to_zero(np.abs(result.effective - trail[-1])).max())
        trail = [*trail[1 - HISTORY :], result.effective]
        if change <= rules.settle_tolerance:
            after = updated(memory, result, record, now, rules)
            return Settled(memory=after, settled=True, ticks=count, period=None, amplitude=0.0, ringing=nothing)
    trail = [nan_to_zero(state) for state in trail]
    period = _period(trail, rules.settle_tolerance)
    span = np.stack(trail[-(period or len(trail)) :])
    swing = np.ptp(span, axis=0)
    return Settled(
        memory=updated(memory, result, record, now, rules),
        settled=False,
        ticks=rules.settle_ticks,
        period=period,
        amplitude=float(swing.max()),
        ringing=swing > rules.settle_tolerance,
    )


def _period(trail: list[NDArray[np.float64]], tolerance: float) -> int | None:
    """After how many ticks the states repeat; None if they do not, or if the swing is still shrinking."""
    for period in range(1, len(trail) // 2 + 1):
        if np.abs(trail[-1] - trail[-1 - period]).max() <= tolerance:
            late, early = (np.ptp(np.stack(part), axis=0) for part in (trail[-period:], trail[:period]))
            return period if np.abs(late - early).max() <= tolerance else None
    return None
