"""Trace on which a property is judged: the ticks, the replications, and arrays of ticks × replications by name."""

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

Reader: TypeAlias = Callable[[str], NDArray[Any]]
Events: TypeAlias = Callable[[str, str | None], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Trace:
    """Ticks of a run, and functions to read it.

    `times` are the milliseconds of each tick since the run's start, rising, and `replications` the numbers of the columns.
    `read` maps an address to an array of ticks × replications: float64 with NaN where there is no value (a cell that is not
    yet there), or an object array of strings with None there. To read more kinds of address, wrap it:
    `dataclasses.replace(trace, read=wider(trace.read))`. `events_at` maps an event's kind and subject (or None) to a Boolean
    array of the same shape: whether the event occurred since the tick before.
    """

    times: NDArray[np.int64]
    replications: NDArray[np.int64]
    read: Reader
    events_at: Events

    @property
    def period(self) -> int:
        """Usual distance of two ticks in milliseconds; of a single tick, its time."""
        return int(np.median(np.diff(self.times, prepend=0 if len(self.times) == 1 else self.times[:0])))

    def only(self, column: int) -> Trace:
        """Return the same trace with one of its replications."""
        return replace(
            self,
            replications=self.replications[column : column + 1],
            read=lambda address: self.read(address)[:, column : column + 1],
            events_at=lambda kind, subject: self.events_at(kind, subject)[:, column : column + 1],
        )

    @staticmethod
    def of_arrays(days: Iterable[float], arrays: Mapping[str, NDArray[Any]]) -> Trace:
        """Return a trace of arrays of ticks × replications, without events.

        NaN says that there is no value yet, or no more; NaN between two values is refused.

        >>> Trace.of_arrays([1, 2], {"x": np.zeros((2, 3))}).replications.tolist()
        [0, 1, 2]
        """
        times = np.rint(np.fromiter(days, float) * DAY).astype(np.int64)
        shapes = {array.shape for array in arrays.values()}
        shape = next(iter(shapes), ())
        if len(shapes) != 1 or len(shape) != 2 or shape[0] != len(times) or not len(times):  # noqa: PLR2004
            raise ScenarioError("arrays of one shape, ticks × replications, are needed", given=sorted(map(str, shapes)))
        for name, array in arrays.items():
            _must_not_break_off(name, array)

        def read(address: str) -> NDArray[Any]:
            if address not in arrays:
                raise unknown("series", address, arrays)
            return arrays[address]

        def events_at(kind: str, _subject: str | None) -> NDArray[np.bool_]:
            raise unknown("event", kind, ())

        return Trace(times, np.arange(shape[1]), read, events_at)


def _must_not_break_off(name: str, array: NDArray[Any]) -> None:
    """Refuse NaN between two values of one replication."""
    if array.dtype == object:
        return
    missing = np.isnan(array)
    begun, goes_on = (np.logical_or.accumulate(~item, axis=0) for item in (missing, missing[::-1]))
    inside = missing & begun & goes_on[::-1]
    if inside.any():
        tick, column = np.argwhere(inside)[0]
        hint = "correct the source of the NaN; NaN is allowed before the first value and after the last"
        raise ScenarioError(f"{name} is not a number at tick {tick} of replication {column}", hint=hint)


def unknown(what: str, name: str, names: Iterable[str]) -> ScenarioError:
    """Return the error for an unknown name, with the nearest known names."""
    names = sorted(set(names))
    near = get_close_matches(name, names, n=2, cutoff=0.6)
    few = near or names[:5]
    hint = f"did you mean {', '.join(map(repr, near))}?" if near else None
    if re.search(r"-[\d.]|-$", name) or (not hint and "-" in name):
        hint = "a minus between two values needs spaces round it"
    more = "" if len(few) == len(names) else f" … ({len(names)} in all)"
    allowed = ", ".join(few) + more if few else "this run holds none"
    return ScenarioError(f"no such {what}", given=name, allowed=allowed, hint=hint)
