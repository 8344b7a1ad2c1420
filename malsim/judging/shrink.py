"""Shrinking of failing cases: a simpler variant that still fails replaces the case, until no simpler variant fails.

Source of `smallest_part`: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, 2002 (ddmin).
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROUNDS = 40
DIGITS = (0, 1, 2)
PAIRS = 16  # maximum number of rows for which removing pairs is tried
Case = TypeVar("Case")


class _Timed(Protocol):
    """Event with a time that can be changed."""

    @property
    def t(self) -> float: ...
    def moved(self, change: Callable[[float], float]) -> Self: ...


Timed = TypeVar("Timed", bound=_Timed)


def smallest(
    case: Case, simpler: Callable[[Case], Iterable[Case]], breaks: Callable[[Case], object], *, rounds: int = ROUNDS
) -> Case:
    """Return the smallest failing case that was found. `simpler` yields variants of a case, simplest first.

    >>> smallest(20, lambda n: [n // 2, n - 1], lambda n: n > 3)
    4
    """
    for _ in range(rounds):
        better = next((variant for variant in simpler(case) if breaks(variant)), None)
        if better is None:
            return case
        case = better
    return case


def simpler_streams(events: list[Timed], *, halve: bool = True) -> Iterator[list[Timed]]:
    """Yield simpler streams: half of the events removed, one event removed, times rounded and, if `halve`, times halved."""
    if len(events) > 4:  # noqa: PLR2004  # shorter streams lose one event at a time
        middle = len(events) // 2
        yield events[:1] + events[middle:]
        yield events[:middle] + events[-1:]
    for index in range(len(events)):
        yield events[:index] + events[index + 1 :]
    for digits in DIGITS:
        coarse = [event.moved(partial(round, ndigits=digits)) for event in events]
        if coarse != events:
            yield coarse
    if halve and events and max(event.t for event in events) > 1.0:
        yield [event.moved(lambda t: float(f"{t / 2:.3g}")) for event in events]


def smallest_part(rows: list[int], passes: Callable[[list[int]], bool]) -> list[int]:
    """Return a minimal subset of `rows`, in order, that passes: no single row can be removed.

    If at most 16 rows remain, no pair of rows can be removed either. All `rows` together must pass.

    >>> smallest_part(list(range(100)), lambda part: {3, 70} <= set(part))
    [3, 70]
    """
    rows = _without_chunks(rows, passes)
    while len(rows) <= PAIRS:
        rest = ([row for row in rows if row not in pair] for pair in combinations(rows, 2))
        fewer = next((part for part in rest if part and passes(part)), None)
        if fewer is None:
            return rows
        rows = _without_chunks(fewer, passes)
    return rows


def _without_chunks(rows: list[int], passes: Callable[[list[int]], bool]) -> list[int]:
    size = max(1, len(rows) // 2)
    while True:
        start, removed = 0, False
        while start < len(rows):
            rest = rows[:start] + rows[start + size :]
            if rest and passes(rest):
                rows, removed = rest, True
            else:
                start += size
        if size == 1 and not removed:
            return rows
        size = max(1, min(size // 2, len(rows) // 2)) if size > 1 else 1
