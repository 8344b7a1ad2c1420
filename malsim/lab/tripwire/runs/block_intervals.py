"""Intervals for what is counted over ticks and replications: shares, rates, run lengths of which some never ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malsim.base.intervals import kaplan_meier, poisson, student, wilson

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.machine import Bools

Floats = NDArray[np.float64]
LEAST_BLOCKS = 20
WITHIN_A_TICK = 12**-0.5  # the spread of what is only known to a tick


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % interval: NaN where it cannot be told, `high` infinite where nothing bounds it."""

    value: float
    low: float
    high: float
    count: int
    how: str


NONE = Interval(np.nan, np.nan, np.nan, 0, "nothing to count")


def blocks(counts: NDArray[np.generic]) -> Floats:
    """Sums of ticks × replications by replication, or, of fewer than 20, by consecutive batches of their ticks."""
    ticks, reps = counts.shape
    pieces = min(ticks, -(-LEAST_BLOCKS // reps))
    cuts = np.linspace(0, ticks, pieces, endpoint=False).astype(int)
    return np.add.reduceat(counts.astype(np.float64), cuts, axis=0).ravel()


def _spread(part: Floats, whole: Floats, ratio: float) -> float:
    count = len(part)
    if count < 2:  # noqa: PLR2004  # one block has no spread
        return 0.0
    return float(((part - ratio * whole) ** 2).sum() * count / (count - 1) / whole.sum() ** 2)


def share(part: Floats, whole: Floats) -> Interval:
    """A share with Wilson's interval, for as many independent trials as the spread over blocks allows.

    >>> share(np.array([5.0]), np.array([100.0]))
    Interval(value=0.05, low=0.02154367915436796, high=0.11175046923191913, count=100, how='Wilson, 100 trials')
    """
    total = whole.sum()
    if not total:
        return NONE
    ratio = float(part.sum() / total)
    spread = _spread(part, whole, ratio)
    if spread > 0:
        trials = min(float(total), ratio * (1 - ratio) / spread)
    else:
        trials = min(float(total), float((whole > 0).sum())) if len(part) > 1 else float(total)
    low, high = wilson(ratio, trials)
    return Interval(ratio, float(low), float(high), int(total), f"Wilson, {trials:.0f} trials")


def rate(count: Floats, exposure: Floats, *, per: float = 1.0) -> Interval:
    """A rate with Garwood's interval of a Poisson count, widened where counts vary more than Poisson's over blocks.

    >>> rate(np.array([0.0]), np.array([1000.0]), per=1000.0)
    Interval(value=0.0, low=0.0, high=3.688879..., count=0, how='Poisson')
    """
    total, ticks = float(count.sum()), float(exposure.sum())
    if not ticks:
        return NONE
    value = total / ticks
    wider = max(1.0, _spread(count, exposure, value) * ticks**2 / total) if total else 1.0
    low, high = poisson(total / wider)
    scale = wider * per / ticks
    how = "Poisson" if wider == 1.0 else f"Poisson, spread × {wider:.2g}"
    return Interval(value * per, low * scale, high * scale, int(total), how)


def run_length(length: Floats, ended: Bools) -> Interval:
    """The mean run length in ticks, runs that were cut off counted as cut off.

    All ended: the mean, with Student's interval. Some not: ticks watched over runs ended, the maximum-likelihood estimate
    of a geometric law under right-censoring, with the interval of its Poisson count; none ended: only a lower bound.

    >>> run_length(np.array([10.0, 20.0, 30.0]), np.array([True, True, False]))
    Interval(value=30.0, low=8.30..., high=247.7..., count=2, how='geometric, 1 of 3 cut off')
    """
    runs, events = len(length), int(ended.sum())
    if not runs:
        return NONE
    if events == runs > 1:
        mean, low, high = student(length, least_spread=WITHIN_A_TICK)
        return Interval(mean, max(1.0, low), high, events, "mean")
    ticks = float(length.sum())
    low, high = poisson(events)
    upper = ticks / low if low else np.inf
    how = f"geometric, {runs - events} of {runs} cut off"
    return Interval(ticks / events if events else np.nan, ticks / high, upper, events, how)


def median_length(length: Floats, ended: Bools) -> Interval:
    """The median run length in ticks by Kaplan and Meier, with the log-log interval of its curve; NaN where not reached.

    At the ends of the curve, where that interval has no width, it is Clopper and Pearson's.

    >>> median_length(np.array([1.0, 2.0, 3.0, 4.0, 9.0]), np.array([True, True, True, True, False]))
    Interval(value=3.0, low=1.0, high=inf, count=4, how='Kaplan–Meier, 1 of 5 cut off')
    """
    if not len(length):
        return NONE
    curve = np.stack(kaplan_meier(length, ended))
    times, survive, low, high = curve[:, np.isin(curve[0], length[ended])]
    low, high = np.nan_to_num(low), np.where(survive > 0, np.nan_to_num(high), 1 - 0.025 ** (1 / len(length)))
    if 0.025 ** (1 / len(length)) <= 0.5:  # noqa: PLR2004  # too few for the curve's beginning to be above a half
        times, survive, low, high = (
            np.append(first, rest) for first, rest in ((1, times), (1, survive), (0, low), (1, high))
        )
    count, cut = int(ended.sum()), int((~ended).sum())
    how = f"Kaplan–Meier, {cut} of {len(length)} cut off"
    median, low_end, high_end = (_first_at_half(times, curve) for curve in (survive, low, high))
    return Interval(median if np.isfinite(median) else np.nan, low_end, high_end, count, how)


def _first_at_half(times: Floats, curve: Floats) -> float:
    below = np.flatnonzero(curve <= 0.5 + 1e-12)
    return float(times[below[0]]) if len(below) else np.inf
