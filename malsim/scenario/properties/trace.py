"""Trace on which properties are evaluated: ticks, replications, arrays by address, and windows of ticks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import ScenarioError
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.scenario.properties.formula import Window

Reader: TypeAlias = Callable[[str], NDArray[Any]]
Events: TypeAlias = Callable[[str, str | None], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Trace:
    """Ticks of a run, with functions that read values and events at each tick.

    `times` are the increasing times of the ticks in milliseconds since the run's start. `replications` has the replication
    number of each column. `read` maps an address to an array of ticks × replications: float64 with NaN for a missing value
    (a cell that does not exist yet), or an object array of strings with None for a missing value. To support more kinds of
    address, wrap `read`: `dataclasses.replace(trace, read=wider(trace.read))`. `events_at` maps an event's kind and
    subject (or None) to a Boolean array of the same shape that is true where the event occurred since the previous tick.
    """

    times: NDArray[np.int64]
    replications: NDArray[np.int64]
    read: Reader
    events_at: Events

    @property
    def period(self) -> int:
        """Median interval between successive ticks in milliseconds. With a single tick, the time of that tick."""
        return int(np.median(np.diff(self.times, prepend=0 if len(self.times) == 1 else self.times[:0])))

    def only(self, column: int) -> Trace:
        """Return the trace of a single replication, given by its column."""
        return replace(
            self,
            replications=self.replications[column : column + 1],
            read=lambda address: self.read(address)[:, column : column + 1],
            events_at=lambda kind, subject: self.events_at(kind, subject)[:, column : column + 1],
        )

    @staticmethod
    def of_arrays(days: Iterable[float], arrays: Mapping[str, NDArray[Any]]) -> Trace:
        """Create a trace from arrays of ticks × replications. The trace has no events.

        NaN is a missing value, and is allowed only before a replication's first value and after its last.

        >>> Trace.of_arrays([1, 2], {"x": np.zeros((2, 3))}).replications.tolist()
        [0, 1, 2]
        """
        times = np.rint(np.fromiter(days, float) * DAY).astype(np.int64)
        shapes = {array.shape for array in arrays.values()}
        shape = next(iter(shapes), ())
        if len(shapes) != 1 or len(shape) != 2 or shape[0] != len(times) or not len(times):  # noqa: PLR2004
            raise ScenarioError("all arrays must have the same shape, ticks × replications", given=sorted(map(str, shapes)))
        for name, array in arrays.items():
            _must_be_unbroken(name, array)

        def read(address: str) -> NDArray[Any]:
            if address not in arrays:
                raise unknown("no such series", address, arrays)
            return arrays[address]

        def events_at(kind: str, _subject: str | None) -> NDArray[np.bool_]:
            raise unknown("no such event", kind, ())

        return Trace(times, np.arange(shape[1]), read, events_at)


def _must_be_unbroken(name: str, array: NDArray[Any]) -> None:
    """Raise `ScenarioError` if there is a NaN between two values of a replication."""
    if array.dtype == object:
        return
    missing = np.isnan(array)
    begun, continues = (np.logical_or.accumulate(~mask, axis=0) for mask in (missing, missing[::-1]))
    inside = missing & begun & continues[::-1]
    if inside.any():
        tick, column = np.argwhere(inside)[0]
        hint = "correct the source of the NaN; NaN is allowed before the first value and after the last"
        raise ScenarioError(f"{name} is NaN at tick {tick} of replication {column}", hint=hint)


def unknown(problem: str, name: str, names: Iterable[str]) -> ScenarioError:
    """Return the error for an unknown name, which suggests the most similar known names."""
    names = sorted(set(names))
    near = get_close_matches(name, names, n=2, cutoff=0.6)
    few = near or names[:5]
    hint = f"did you mean {', '.join(map(repr, near))}?" if near else None
    if re.search(r"-[\d.]|-$", name) or (not hint and "-" in name):
        hint = "a minus between two values needs spaces around it"
    more = "" if len(few) == len(names) else f" … ({len(names)} in all)"
    allowed = ", ".join(few) + more if few else "none in this run"
    return ScenarioError(problem, given=name, allowed=allowed, hint=hint)


Array = NDArray[np.float64]
Rows = NDArray[np.int64]


def extrema(values: Array, first: Rows, last: Rows, *, largest: bool) -> Array:
    """Return the minimum (or maximum) of the rows first[i] … last[i] for each i and column; ±∞ for an empty window.

    The algorithm uses two stacks: rows before a split store extrema up to the split, rows after it share one running
    extremum. Each row enters and leaves once, so a step costs three row operations at any window width. `values` (rows ×
    columns) contain no NaN. `first` and `last` are non-decreasing row numbers; a window with `last < first` is empty.

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
    """Return the first and last tick of a window for each tick, or for a single time `origin` (ms) before all ticks.

    The window [a:b] of tick i contains tick j if times[i] + a ≤ times[j] ≤ times[i] + b, or, in ticks, i + a ≤ j ≤ i + b;
    windows end at the last tick. With an `origin`, ticks are counted from the first tick.
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
