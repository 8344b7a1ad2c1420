"""Extrema over windows that slide along the first axis, every column at once, in time linear in the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from malsim.scenario.properties.formula import Window

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


def extrema(values: Array, first: Rows, last: Rows, *, largest: bool) -> Array:
    """Return the smallest (or largest) of rows first[i] … last[i], for each i and column; an empty window gives ±∞.

    Two stacks: the rows from `first` up to a split carry extrema toward the split, those after it one running extremum. Each
    row enters and leaves once, so a window of any width costs three row operations a step. `values` (rows × columns) hold no
    NaN. `first` and `last` are row numbers that never fall; `last < first` is an empty window.

    >>> column = np.array([[3.0], [1.0], [2.0]])
    >>> extrema(column, np.array([0, 1, 2]), np.array([1, 2, 2]), largest=False).ravel().tolist()
    [1.0, 1.0, 2.0]
    """
    better, neutral = (np.maximum, -np.inf) if largest else (np.minimum, np.inf)
    if len(first) == 1:
        alone: Array = better.reduce(values[first[0] : last[0] + 1], axis=0, keepdims=True, initial=neutral)
        return alone
    result = np.empty((len(first), values.shape[1]))
    running = np.full(values.shape[1], neutral)
    widest = max(int((last - first).max()) + 1, 0)
    rows, front, out = list(values), list(np.empty((widest, values.shape[1]))), list(result)
    start = split = end = 0
    for step, (low, stop) in enumerate(zip(first.tolist(), (last + 1).tolist(), strict=True)):
        if low >= stop:
            out[step][:] = neutral
            continue
        if low >= split:
            front[stop - low - 1][:] = rows[stop - 1]
            for row in range(stop - 2, low - 1, -1):
                better(rows[row], front[row - low + 1], out=front[row - low])
            running[:] = neutral
            start, split, end = low, stop, stop
        for row in range(end, stop):
            better(running, rows[row], out=running)
        end = stop
        better(front[low - start], running, out=out[step])
    return result


def spans(window: Window | None, times: Rows, *, origin: int | None = None) -> tuple[Rows, Rows]:
    """Return the first and last tick of a window, seen from each tick, or from one instant `origin` (ms) before all ticks.

    A tick j is spanned by [a:b] of tick i if times[i] + a ≤ times[j] ≤ times[i] + b, or, in ticks, i + a ≤ j ≤ i + b; what
    lies beyond the last tick is cut off. From an `origin`, ticks are counted from the first one.
    """
    count = len(times)
    here = np.arange(count if origin is None else 1)
    if window is None:
        return here, np.full_like(here, count - 1)
    if window.in_ticks:
        first = here + window.low.size
        last = np.full_like(here, count) if window.high is None else here + window.high.size
    else:
        now = times if origin is None else np.array([origin])
        first = np.searchsorted(times, now + window.low.size, "left")
        end = np.full_like(now, times[-1]) if window.high is None else now + window.high.size
        last = np.searchsorted(times, end, "right") - 1
    return np.minimum(first, count), np.minimum(last, count - 1)
