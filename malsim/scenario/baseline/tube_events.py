"""Events against recorded ones: each must come once, within its lead and lag."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.sim.world.clock import days, milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from malsim.scenario.checks.tube import Tube


def event_differences(
    then: pl.DataFrame, now: pl.DataFrame, keys: tuple[str, ...], tube_of: Callable[[str, Mapping[str, Any]], Tube]
) -> Iterator[dict[str, Any]]:
    """One row for each event that is missing or unexpected; a pair of them, in order, is one that is late or early."""
    sides = [
        frame.sort("t").group_by(keys, maintain_order=True).agg(pl.col("t").alias(side))
        for side, frame in (("then", then), ("now", now))
    ]
    groups = sides[0].join(sides[1], on=keys, how="full", nulls_equal=True, coalesce=True, maintain_order="left_right")
    for group in groups.filter(~pl.col("then").eq_missing(pl.col("now"))).to_dicts():
        tube = tube_of("events", group)
        missing, unexpected = unmatched(group["then"] or [], group["now"] or [], tube)
        for expected, got in zip_longest(missing, unexpected):
            yield _row(group, expected, got)


def unmatched(then: list[float], now: list[float], tube: Tube) -> tuple[list[float], list[float]]:
    """The times of events, both rising, that find no partner: the recorded ones and the run's.

    Each takes the first partner still free, which leaves the fewest alone when the tube is the same for all.
    """
    missing, unexpected = [], []
    waiting = list(reversed(then))
    for time in now:
        while waiting and milliseconds(waiting[-1]) + tube.behind < milliseconds(time):
            missing.append(waiting.pop())
        if waiting and milliseconds(waiting[-1]) - tube.ahead <= milliseconds(time):
            waiting.pop()
        else:
            unexpected.append(time)
    return [*missing, *reversed(waiting)], unexpected


def _row(group: Mapping[str, Any], expected: float | None, got: float | None) -> dict[str, Any]:
    shift = None if expected is None or got is None else days(milliseconds(got) - milliseconds(expected))
    fault = "unexpected" if expected is None else "missing" if got is None else "late" if (shift or 0) > 0 else "early"
    return {
        "series": f"{group['subject']}, replication {group['rep']}",
        "column": group["kind"],
        "fault": fault,
        "t": got if expected is None else expected,
        "expected": "nothing" if expected is None else f"day {expected:.6g}",
        "got": "nothing" if got is None else f"day {got:.6g}",
        "shift": shift,
        "ticks": 1,
    }
