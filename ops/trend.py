"""Estimate the rate of change and the acceleration of a value from its latest values.

    slope = Σ (i − (n − 1)/2) · x_i / (T · n (n² − 1)/12) over the last n ≤ window values, summed oldest to newest
    acceleration = slope of the late half − slope of the early half, split at ⌊n/2⌋; 0 until each half has two values
    direction = 1 if slope > dead, −1 if slope < −dead, else 0;  valid from two values on

With a window of 2 the slope equals the output of `ddt`. A reset empties the window and stores the current value.
Source: least squares on equally spaced points; Recall trend.

>>> kept = np.array([[0.0], [1.0], [2.0]])
>>> result = function(np.array([3.0]), np.array([False]), kept, np.array([3]), dead=np.array([0.0]), tick=0.5)
>>> result["slope"].tolist(), result["direction"].tolist()
([2.0], [1])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size, Tick

LEAST = 2  # minimum number of values for a slope
window = Size(8, "number of values in the fit", low=2)
in_ = In("1", "value to watch", nan="lingers")
reset = In("bit", "empty the window")
slope = Out("1/d", "rate over the window")
acceleration = Out("1/d", "rate of the late half − rate of the early half")
direction = Out("1", "-1 falling, 0 flat, 1 rising", start=0)
valid = Out("bit", "the window has at least two values")
kept = Out("1", "values of the window, newest last", many="window")
held = Out("1", "number of values in the window", start=0)
dead = Param(0.0, "1/d", "largest |slope| with direction 0", low=0.0)
tick = Tick("d")


def function(in_: Array, reset: Array, kept: Array, held: Array, *, dead: Array, tick: float) -> dict[str, Array]:
    values = np.concatenate([kept[1:], in_[np.newaxis]])
    n = np.minimum(held + 1, len(values))
    if np.count_nonzero(reset):
        n[reset] = 1
    most = int(n.max(initial=1))
    rate, acceleration = _alike(values, most, tick)
    if np.count_nonzero(fewer := n < most):  # rows that were reset, or added later, have fewer values
        rate[fewer], acceleration[fewer] = _apart(values[:, fewer], n[fewer], tick)
    return {
        "slope": rate,
        "acceleration": acceleration,
        "direction": ((rate > dead).view(np.int8) - (rate < -dead).view(np.int8)).astype(np.int64),
        "valid": n > 1,
        "kept": values,
        "held": n,
    }


def _alike(values: Array, n: int, tick: float) -> tuple[Array, Array]:
    """Return the slope and acceleration of rows that all have n values."""
    early = n // 2
    rate = _total(values, n, 0) / (tick * _spread(n))
    if early < LEAST:
        return rate, np.zeros(values.shape[1])
    late = _total(values, n - early, 0) / (tick * _spread(n - early))
    return rate, late - _total(values, early, n - early) / (tick * _spread(early))


def _spread(n: int) -> float:
    """Return the sum of squared deviations of 0 … n − 1 from their mean, or 1 if n is less than 2."""
    return n * (n * n - 1) / 12 if n > 1 else 1.0


def _apart(values: Array, n: Array, tick: float) -> tuple[Array, Array]:
    """Return the slope and acceleration of rows that have different numbers of values."""
    early = n // 2
    rate, late_rate, early_rate = _slopes(
        values, np.array([n, n - early, early]), np.array([0 * early, 0 * early, n - early]), tick
    )
    return rate, np.where(early > 1, late_rate - early_rate, 0.0)


def _slopes(values: Array, n: Array, skip: Array, tick: float) -> Array:
    """Return three least-squares slopes, each over the last n values before the newest `skip` values.

    A slope is 0 if n is less than 2.
    """
    many = n[:, np.newaxis]
    i = np.arange(len(values))[:, np.newaxis] - (len(values) - skip[:, np.newaxis] - many)
    terms = np.where((i >= 0) & (i < many), (i - (many - 1) / 2) * values, 0.0)
    total = terms[:, 0].copy()
    for index in range(1, len(values)):  # values are added one at a time, so that a row's sum does not depend on other rows
        total += terms[:, index]
    slopes: Array = total / (tick * np.where(n > 1, n * (n * n - 1) / 12, 1.0))
    return slopes


def _total(values: Array, many: int, past: int) -> Array:
    """Return Σ (i − (n − 1)/2) · value, oldest first, over the last n = `many` values before the newest `past` values."""
    first = len(values) - past - many
    total: Array = np.zeros_like(values[0])
    term = np.empty_like(values[0])
    for i in range(many):
        np.multiply(values[first + i], i - (many - 1) / 2, out=term)
        total = term.copy() if first + i == 0 else np.add(total, term, out=total)
    return total
