"""Tell the rate and the acceleration of a value over its last calls.

    slope = Σ (i − (n − 1)/2) · x_i / (T · n (n² − 1)/12) over the last n ≤ window values, summed oldest to newest
    acceleration = slope of the late half − slope of the early half, split at ⌊n/2⌋; 0 until each half has two values
    direction = 1 where slope > dead, −1 where slope < −dead, else 0;  valid from two values on

A window of 2 is `ddt`. A reset empties the window and takes the present value. Source: least squares on equally
spaced points; Recall trend.

>>> kept = np.array([[0.0], [1.0], [2.0]])
>>> result = function(np.array([3.0]), np.array([False]), kept, np.array([3]), dead=np.array([0.0]), tick=0.5)
>>> result["slope"].tolist(), result["direction"].tolist()
([2.0], [1])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size, Tick

LEAST = 2  # values that have a slope
window = Size(8, "values fitted", low=2)
in_ = In("1", "value to watch", nan="lingers")
reset = In("bit", "empty the window")
slope = Out("1/d", "rate over the window")
acceleration = Out("1/d", "rate of its late half − rate of its early half")
direction = Out("1", "-1, 0 or 1", start=0)
valid = Out("bit", "two values or more")
kept = Out("1", "the window, newest last", many="window")
held = Out("1", "values in the window", start=0)
dead = Param(0.0, "1/d", "slopes this small have no direction", low=0.0)
tick = Tick("d")


def function(in_: Array, reset: Array, kept: Array, held: Array, *, dead: Array, tick: float) -> dict[str, Array]:
    values = np.concatenate([kept[1:], in_[np.newaxis]])
    n = np.minimum(held + 1, len(values))
    if np.count_nonzero(reset):
        n[reset] = 1
    most = int(n.max(initial=1))
    rate, acceleration = _alike(values, most, tick)
    if np.count_nonzero(fewer := n < most):  # after a reset, and of rows that came later
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
    """Slope and acceleration of rows that hold n values."""
    early = n // 2
    rate = _total(values, n, 0) / (tick * _spread(n))
    if early < LEAST:
        return rate, np.zeros(values.shape[1])
    late = _total(values, n - early, 0) / (tick * _spread(n - early))
    return rate, late - _total(values, early, n - early) / (tick * _spread(early))


def _spread(n: int) -> float:
    """Return the sum of squares of 0 … n − 1 about their mean; 1 below two."""
    return n * (n * n - 1) / 12 if n > 1 else 1.0


def _apart(values: Array, n: Array, tick: float) -> tuple[Array, Array]:
    """Slope and acceleration of rows of which each holds its own number of values."""
    early = n // 2
    rate, late_rate, early_rate = _slopes(
        values, np.array([n, n - early, early]), np.array([0 * early, 0 * early, n - early]), tick
    )
    return rate, np.where(early > 1, late_rate - early_rate, 0.0)


def _slopes(values: Array, n: Array, skip: Array, tick: float) -> Array:
    """Three least-squares slopes, each of the n values that end `skip` before the newest; 0 where n < 2."""
    many = n[:, np.newaxis]
    i = np.arange(len(values))[:, np.newaxis] - (len(values) - skip[:, np.newaxis] - many)
    terms = np.where((i >= 0) & (i < many), (i - (many - 1) / 2) * values, 0.0)
    total = terms[:, 0].copy()
    for index in range(1, len(values)):  # one by one, so a row alone adds up as it does among many
        total += terms[:, index]
    slopes: Array = total / (tick * np.where(n > 1, n * (n * n - 1) / 12, 1.0))
    return slopes


def _total(values: Array, many: int, past: int) -> Array:
    """Return the sum of (i − (n − 1)/2) · value over n values that end `past` before the newest, in the same order."""
    first = len(values) - past - many
    total: Array = np.zeros_like(values[0])
    term = np.empty_like(values[0])
    for i in range(many):
        np.multiply(values[first + i], i - (many - 1) / 2, out=term)
        total = term.copy() if first + i == 0 else np.add(total, term, out=total)
    return total
