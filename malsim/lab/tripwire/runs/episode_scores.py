"""Scores of an alarm against known episodes, with confidence intervals: run lengths, delay, misses, and false alarms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.base.errors import DataError
from malsim.base.intervals import kaplan_meier, poisson, student, wilson

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.part import Bools

    Ints = NDArray[np.int64]
    Runs = tuple[NDArray[np.float64], Bools]

Floats = NDArray[np.float64]
LEAST_BLOCKS = 20
WITHIN_A_TICK = 12**-0.5  # standard deviation, in ticks, of a time that is uniform within one tick


@dataclass(frozen=True)
class Interval:
    """Estimate with a 95 % confidence interval. Undefined numbers are NaN; `high` is infinite if there is no upper bound."""

    value: float
    low: float
    high: float
    count: int
    how: str


NONE = Interval(np.nan, np.nan, np.nan, 0, "nothing to count")


def blocks(counts: NDArray[np.generic]) -> Floats:
    """Sum counts (ticks × replications) into blocks: several per replication below 20 replications, otherwise one."""
    ticks, reps = counts.shape
    pieces = min(ticks, -(-LEAST_BLOCKS // reps))
    cuts = np.linspace(0, ticks, pieces, endpoint=False).astype(int)
    return np.add.reduceat(counts.astype(np.float64), cuts, axis=0).ravel()


def _variance(part: Floats, whole: Floats, ratio: float) -> float:
    """Return the variance of the ratio sum(part) / sum(whole), estimated across blocks, or 0 for a single block."""
    count = len(part)
    if count < 2:  # noqa: PLR2004
        return 0.0
    return float(((part - ratio * whole) ** 2).sum() * count / (count - 1) / whole.sum() ** 2)


def share(part: Floats, whole: Floats) -> Interval:
    """Return the share sum(part) / sum(whole) with Wilson's interval for the effective number of independent trials.

    >>> share(np.array([5.0]), np.array([100.0]))
    Interval(value=0.05, low=0.02154367915436796, high=0.11175046923191913, count=100, how='Wilson, 100 trials')
    """
    total = whole.sum()
    if not total:
        return NONE
    ratio = float(part.sum() / total)
    variance = _variance(part, whole, ratio)
    if variance > 0:
        trials = min(float(total), ratio * (1 - ratio) / variance)
    else:
        trials = min(float(total), float((whole > 0).sum())) if len(part) > 1 else float(total)
    low, high = wilson(ratio, trials)
    return Interval(ratio, float(low), float(high), int(total), f"Wilson, {trials:.0f} trials")


def rate(count: Floats, exposure: Floats, *, per: float = 1.0) -> Interval:
    """Return the rate sum(count) / sum(exposure) with Garwood's Poisson interval, widened if counts are overdispersed.

    >>> rate(np.array([0.0]), np.array([1000.0]), per=1000.0)
    Interval(value=0.0, low=0.0, high=3.688879..., count=0, how='Poisson')
    """
    total, ticks = float(count.sum()), float(exposure.sum())
    if not ticks:
        return NONE
    ratio = total / ticks
    dispersion = max(1.0, _variance(count, exposure, ratio) * ticks**2 / total) if total else 1.0
    low, high = poisson(total / dispersion)
    scale = dispersion * per / ticks
    how = "Poisson" if dispersion == 1.0 else f"Poisson, dispersion {dispersion:.2g}"
    return Interval(ratio * per, low * scale, high * scale, int(total), how)


def run_length(length: Floats, ended: Bools) -> Interval:
    """Return the mean run length in ticks. Runs that did not end count as right-censored.

    If all runs ended, return the mean with Student's interval. Otherwise return ticks watched / runs ended, the estimate
    for a geometric distribution, with the interval of its Poisson count; without an ended run, only a lower bound.

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
    """Return the Kaplan–Meier median run length in ticks with a log-log interval; NaN if the curve stays above one half.

    Clopper and Pearson's interval is used at the ends of the curve, where the log-log interval has no width.

    >>> median_length(np.array([1.0, 2.0, 3.0, 4.0, 9.0]), np.array([True, True, True, True, False]))
    Interval(value=3.0, low=1.0, high=inf, count=4, how='Kaplan–Meier, 1 of 5 cut off')
    """
    if not len(length):
        return NONE
    curve = np.stack(kaplan_meier(length, ended))
    times, survive, low, high = curve[:, np.isin(curve[0], length[ended])]
    low, high = np.nan_to_num(low), np.where(survive > 0, np.nan_to_num(high), 1 - 0.025 ** (1 / len(length)))
    if 0.025 ** (1 / len(length)) <= 0.5:  # noqa: PLR2004  # too few runs for the lower bound to begin above a half
        times, survive, low, high = (
            np.append(first, rest) for first, rest in ((1, times), (1, survive), (0, low), (1, high))
        )
    count, cut = int(ended.sum()), int((~ended).sum())
    how = f"Kaplan–Meier, {cut} of {len(length)} cut off"
    median, low_end, high_end = (float(times[curve <= 0.5 + 1e-12].min(initial=np.inf)) for curve in (survive, low, high))
    return Interval(median if np.isfinite(median) else np.nan, low_end, high_end, count, how)


MEANINGS = {
    "arl0": ("ticks", "average run length to a false alarm, from the start of each quiet span"),
    "arl1": ("ticks", "average run length to the alarm, counting the episode's first tick as 1"),
    "delay": ("ticks", "median number of ticks from the start of an episode to the alarm; 0 is immediate"),
    "missed": ("share", "episodes that ended without an alarm"),
    "false alarms": ("per 1,000 ticks", "alarms raised in quiet ticks, per quiet tick with the alarm off before"),
    "chatter": ("share", "alarms that came on again within 3 ticks of going off"),
    "standing": ("share", "quiet ticks in which the alarm is on"),
    "flood": ("share", "ticks that end a window of 10 with more than 3 alarms"),
}


# Chatter and floods are counted in ticks, not minutes (EEMUA 191: 10 alarms in 10 minutes for one operator).
CHATTER_WITHIN, FLOOD_WINDOW, FLOOD_ALARMS = 3, 10, 3


def scores(alarm: Bools, truth: Bools) -> pl.DataFrame:
    """Score an alarm against the known episodes.

    Parameters
    ----------
    alarm, truth
        Ticks × replications: true while the alarm is on, and during an episode, respectively.

    Returns
    -------
    pl.DataFrame
        One row per metric: metric, value, low and high (95 %), count, unit, how the interval was computed, meaning. An
        episode that begins while the alarm is already on is neither detected nor missed. Spans that end without an alarm
        are censored.

    Raises
    ------
    DataError
        If the two arrays do not have the same shape, ticks × replications.
    """
    if alarm.shape != truth.shape or alarm.ndim != 2 or not alarm.size:  # noqa: PLR2004
        given = f"{alarm.shape}, {truth.shape}"
        raise DataError("alarm and truth must have the same shape, ticks × replications", given=given)
    on = onsets(alarm)
    quiet_runs, (length, ended) = waits(alarm, ~truth, skip=True), waits(alarm, truth, skip=False)
    off_before = ~np.vstack([np.zeros_like(alarm[:1]), alarm[:-1]])
    recent = np.zeros_like(alarm)  # mask of the ticks at which the alarm was on two to four ticks earlier
    for lag in range(2, CHATTER_WITHIN + 2):
        recent[lag:] |= alarm[:-lag]
    total, window = np.cumsum(on, axis=0, dtype=np.int64), min(FLOOD_WINDOW, len(on))
    flood = total - np.vstack([np.zeros_like(total[:window]), total[:-window]]) > FLOOD_ALARMS
    delay = median_length(length, ended)
    figures: dict[str, Interval] = {
        "arl0": run_length(*quiet_runs),
        "arl1": run_length(length, ended),
        "delay": replace(delay, value=delay.value - 1, low=delay.low - 1, high=delay.high - 1),
        "missed": share(*_episode_blocks(alarm, truth)),
        "false alarms": rate(blocks(on & ~truth), blocks(~truth & off_before), per=1000.0),
        "chatter": share(blocks(on & recent), blocks(on)),
        "standing": share(blocks(alarm & ~truth), blocks(~truth)),
        "flood": share(blocks(flood), blocks(np.ones_like(on))),
    }
    rows = [
        (name, figure.value, figure.low, figure.high, figure.count, MEANINGS[name][0], figure.how, MEANINGS[name][1])
        for name, figure in figures.items()
    ]
    columns = ["metric", "value", "low", "high", "count", "unit", "how", "meaning"]
    return pl.DataFrame(rows, schema=columns, orient="row").with_columns(pl.col("value", "low", "high").fill_nan(None))


def onsets(alarm: Bools) -> Bools:
    """Return a mask of the ticks at which an alarm comes on."""
    return np.asarray(alarm & ~np.vstack([np.zeros_like(alarm[:1]), alarm[:-1]]))


def waits(alarm: Bools, span: Bools, *, skip: bool) -> Runs:
    """Return the waiting time for the alarm in each unbroken span (1: the first tick), and whether the alarm came on.

    With `skip`, count from the first tick with the alarm off; otherwise leave out spans that begin with the alarm on.
    """
    rep, start, stop = spans(span)
    if skip:
        start = np.minimum(next_on(~alarm)[start, rep], stop)
    else:
        fresh = _begins_off(alarm, rep, start)
        rep, start, stop = rep[fresh], start[fresh], stop[fresh]
    nonempty = start < stop
    rep, start, stop = rep[nonempty], start[nonempty], stop[nonempty]
    onset = next_on(alarm)[start, rep]
    ended = onset < stop
    return np.where(ended, onset - start + 1, stop - start).astype(np.float64), ended


def spans(span: Bools) -> tuple[Ints, Ints, Ints]:
    """Return all unbroken spans of true ticks as three arrays: replication, first tick, and tick after the last."""
    edge = np.zeros((1, span.shape[1]), dtype=np.int8)
    change = np.diff(np.vstack([edge, span.astype(np.int8), edge]), axis=0)
    rep, start = np.nonzero(change.T == 1)
    return rep, start, np.nonzero(change.T == -1)[1]


def next_on(bits: Bools) -> Ints:
    """Return, for each tick, the first tick at or after it where the bit is on, or the number of ticks if there is none.

    An additional last row stands for the end of the run.
    """
    ticks = len(bits)
    on_at = np.vstack([np.where(bits, np.arange(ticks)[:, None], ticks), np.full((1, bits.shape[1]), ticks)])
    return np.minimum.accumulate(on_at[::-1], axis=0)[::-1]


def _begins_off(alarm: Bools, rep: Ints, start: Ints) -> Bools:
    return np.asarray((start == 0) | ~alarm[np.maximum(start - 1, 0), rep])


def _episode_blocks(alarm: Bools, truth: Bools) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, per block, the number of missed episodes and the number of episodes that began with the alarm off.

    Both are counted per replication, or per episode if there is only one replication.
    """
    rep, start, stop = spans(truth)
    fresh = _begins_off(alarm, rep, start)
    missed = fresh & (next_on(alarm)[start, rep] >= stop)
    count = alarm.shape[1]
    if count == 1:
        return missed.astype(np.float64), fresh.astype(np.float64)
    part, whole = (np.bincount(rep, weights=weight, minlength=count).astype(np.float64) for weight in (missed, fresh))
    return part, whole
