"""Bounds of a check's value, derived from its parts, and of the metrics of its series."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isnan
from typing import TYPE_CHECKING

from malsim.base.intervals import ANY, COUNT, SHARE
from malsim.scenario.properties.formula import Apply, Number, Read
from malsim.sim.context.turn_counters import COUNTS, ONCE_A_TURN
from malsim.sim.record.metrics import METRICS as FIGURES
from malsim.sim.record.metrics import metric_bounds

if TYPE_CHECKING:
    from malsim.base.intervals import Bounds
    from malsim.scenario.properties.formula import Value

_FIELDS = r"(right|belief|eff|conf|curr)\(.*\)"
BETWEEN_0_AND_1 = re.compile(rf"{_FIELDS}|share\(.*\)|(mean|min|max)\({_FIELDS}\)|.*-calibration")
OF_VALUE = ("mean", "lowest", "highest", "last")


def bounds_of_metric(metric: str, value: Value, days: float) -> Bounds:
    """Return the bounds of a metric of a value over a window of so many days, and of its mean.

    >>> bounds_of_metric("mean", Apply("/", (Read("acted_false"), Read("acted"))), 30.0)
    (0.0, 1.0)
    """
    low, high = value_bounds(value)
    if metric in OF_VALUE:
        return low, high
    if metric == "peak":
        return 0.0, max(abs(low), abs(high))
    return (0.0, days) if metric.endswith("time") else COUNT


def value_bounds(value: Value) -> Bounds:
    """Return the bounds of a value at each tick; infinite where they are unknown.

    >>> value_bounds(Apply("/", (Apply("+", (Read("right(a)"), Read("right(b)"))), Number(2.0))))
    (0.0, 1.0)
    >>> value_bounds(Apply("+", (Read("acted_false"), Read("acted_stale")))), value_bounds(Read("blocks"))
    ((0.0, 2.0), (0.0, inf))
    """
    if isinstance(value, Number):
        return value.value, value.value
    if isinstance(value, Read):
        return _of_read(value.address)
    if not isinstance(value, Apply):
        return ANY
    if value.function == "/" and _is_part(*value.arguments):
        return SHARE
    low, high = _JOIN[value.function](*map(value_bounds, value.arguments))
    return ANY if isnan(low) or isnan(high) else (low, high)


def _of_read(address: str) -> Bounds:
    if address in FIGURES:
        return metric_bounds(address)
    if address in COUNTS:
        return SHARE if address in ONCE_A_TURN else COUNT
    return SHARE if BETWEEN_0_AND_1.fullmatch(address) else ANY


def _is_part(part: Value, whole: Value) -> bool:
    """Return whether one count is a part of the other, judged by its name: `acted_false` of `acted`."""
    return isinstance(part, Read) and isinstance(whole, Read) and part.address.startswith(f"{whole.address}_")


def _product(one: Bounds, other: Bounds) -> Bounds:
    ends = [a * b for a in one for b in other]
    return (min(ends), max(ends)) if not any(map(isnan, ends)) else ANY


def _ratio(one: Bounds, other: Bounds) -> Bounds:
    if other[0] > 0.0:
        return _product(one, (1.0 / other[1], 1.0 / other[0]))
    return COUNT if one[0] >= 0.0 and other[0] >= 0.0 else ANY


def _size(one: Bounds) -> Bounds:
    inside = one[0] <= 0.0 <= one[1]
    return 0.0 if inside else min(map(abs, one)), max(map(abs, one))


_JOIN: Mapping[str, Callable[..., Bounds]] = {
    "+": lambda one, other: (one[0] + other[0], one[1] + other[1]),
    "-": lambda one, other: (one[0] - other[1], one[1] - other[0]),
    "*": _product,
    "/": _ratio,
    "abs": _size,
    "negative": lambda one: (-one[1], -one[0]),
    "prev": lambda one: one,
    "next": lambda one: one,
    "min": lambda *several: (min(low for low, _ in several), min(high for _, high in several)),
    "max": lambda *several: (max(low for low, _ in several), max(high for _, high in several)),
}
