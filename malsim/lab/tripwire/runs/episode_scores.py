"""Scores of an alarm against true episodes: run lengths, delay, misses, false alarms, chatter, standing alarms, flood."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import DataError
from malsim.lab.tripwire.runs.block_intervals import Interval, blocks, median_length, rate, run_length, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.tripwire.boolean.machine import Bools

    Ints = NDArray[np.int64]
    Runs = tuple[NDArray[np.float64], Bools]

MEANINGS = {
    "arl0": ("ticks", "average run length to a false alarm, from the start of each quiet span"),
    "arl1": ("ticks", "average run length to the alarm, the episode's first tick counted as 1"),
    "delay": ("ticks", "median ticks from an episode's first to the alarm; 0 is at once"),
    "missed": ("share", "episodes that ended without the alarm ever on"),
    "false alarms": ("per 1,000 ticks", "alarms that came on in quiet ticks, for quiet ticks with the alarm off before"),
    "chatter": ("share", "alarms that came on again within 3 ticks of going off"),
    "standing": ("share", "quiet ticks in which the alarm is on"),
    "flood": ("share", "ticks that end a window of 10 with more than 3 alarms"),
}


# What counts as chatter and as a flood, in ticks (EEMUA 191 counts 10 alarms in 10 minutes for one operator).
CHATTER_WITHIN, FLOOD_WINDOW, FLOOD_ALARMS = 3, 10, 3


def scores(alarm: Bools, truth: Bools) -> pl.DataFrame:
    """Score an alarm against truth.

    Parameters
    ----------
    alarm, truth
        Ticks × replications: whether the alarm is on, and whether an episode is.

    Returns
    -------
    pl.DataFrame
        One row a figure: metric, value, low and high (95 %), count, unit, how the interval was made, meaning. An episode
        that begins under an alarm already on is neither detected nor missed. What ends without an alarm is censored, never
        counted as if it had come.

    Raises
    ------
    DataError
        Where the two have not one shape of ticks × replications.
    """
    if alarm.shape != truth.shape or alarm.ndim != 2 or not alarm.size:  # noqa: PLR2004
        raise DataError("alarm and truth are ticks × replications of one shape", given=f"{alarm.shape}, {truth.shape}")
    on = onsets(alarm)
    quiet_runs, (length, ended) = waits(alarm, ~truth, skip=True), waits(alarm, truth, skip=False)
    off_before = ~np.vstack([np.zeros_like(alarm[:1]), alarm[:-1]])
    episodes = _episode_blocks(alarm, truth)
    figures: dict[str, Interval] = {
        "arl0": run_length(*quiet_runs),
        "arl1": run_length(length, ended),
        "delay": _from_zero(median_length(length, ended)),
        "missed": share(*episodes),
        "false alarms": rate(blocks(on & ~truth), blocks(~truth & off_before), per=1000.0),
        "chatter": share(blocks(on & _soon(alarm)), blocks(on)),
        "standing": share(blocks(alarm & ~truth), blocks(~truth)),
        "flood": share(blocks(_flood(on)), blocks(np.ones_like(on))),
    }
    rows = [
        (name, item.value, item.low, item.high, item.count, MEANINGS[name][0], item.how, MEANINGS[name][1])
        for name, item in figures.items()
    ]
    columns = ["metric", "value", "low", "high", "count", "unit", "how", "meaning"]
    return pl.DataFrame(rows, schema=columns, orient="row").with_columns(pl.col("value", "low", "high").fill_nan(None))


def onsets(alarm: Bools) -> Bools:
    """Mark the ticks at which an alarm comes on."""
    return np.asarray(alarm & ~np.vstack([np.zeros_like(alarm[:1]), alarm[:-1]]))


def waits(alarm: Bools, span: Bools, *, skip: bool) -> Runs:
    """Return how long each unbroken span waited for the alarm, its first tick as 1, and whether the alarm came in it.

    Parameters
    ----------
    skip
        Count from the first tick with the alarm off; else leave out spans that begin with the alarm already on before.
    """
    rep, start, stop = spans(span)
    if skip:
        start = np.minimum(next_on(~alarm)[start, rep], stop)
    else:
        fresh = _begins_off(alarm, rep, start)
        rep, start, stop = rep[fresh], start[fresh], stop[fresh]
    some = start < stop
    rep, start, stop = rep[some], start[some], stop[some]
    onset = next_on(alarm)[start, rep]
    ended = onset < stop
    return np.where(ended, onset - start + 1, stop - start).astype(np.float64), ended


def spans(span: Bools) -> tuple[Ints, Ints, Ints]:
    """Return (replication, first tick, tick after the last) of each unbroken span."""
    edge = np.zeros((1, span.shape[1]), dtype=np.int8)
    change = np.diff(np.vstack([edge, span.astype(np.int8), edge]), axis=0)
    rep, start = np.nonzero(change.T == 1)
    return rep, start, np.nonzero(change.T == -1)[1]


def next_on(bits: Bools) -> Ints:
    """For each tick and one past the last: the next tick, itself included, at which a bit is on; else how many there are."""
    ticks = len(bits)
    at = np.vstack([np.where(bits, np.arange(ticks)[:, None], ticks), np.full((1, bits.shape[1]), ticks)])
    return np.minimum.accumulate(at[::-1], axis=0)[::-1]


def _begins_off(alarm: Bools, rep: Ints, start: Ints) -> Bools:
    return np.asarray((start == 0) | ~alarm[np.maximum(start - 1, 0), rep])


def _episode_blocks(alarm: Bools, truth: Bools) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the missed episodes of each replication, and the episodes that began with the alarm off."""
    rep, start, stop = spans(truth)
    fresh = _begins_off(alarm, rep, start)
    missed = fresh & (next_on(alarm)[start, rep] >= stop)
    count = alarm.shape[1]
    if count == 1:
        return missed.astype(np.float64), fresh.astype(np.float64)
    part, whole = (np.bincount(rep, weights=weight, minlength=count).astype(np.float64) for weight in (missed, fresh))
    return part, whole


def _from_zero(length: Interval) -> Interval:
    return replace(length, value=length.value - 1, low=length.low - 1, high=length.high - 1)


def _soon(alarm: Bools) -> Bools:
    soon = np.zeros_like(alarm)
    for lag in range(2, CHATTER_WITHIN + 2):
        soon[lag:] |= alarm[:-lag]
    return soon


def _flood(on: Bools) -> Bools:
    total = np.cumsum(on, axis=0, dtype=np.int64)
    window = min(FLOOD_WINDOW, len(on))
    before = np.vstack([np.zeros((window, on.shape[1]), dtype=np.int64), total[:-window]])
    return np.asarray(total - before > FLOOD_ALARMS)
