"""Detect a shift from the running mean in either direction: the Page–Hinkley test.

    mean = mean of all values since the reset;  up = fade · up + in − mean − slack;  down = fade · down + mean − in − slack
    rose if up − least-up > threshold;  fell if down − least-down > threshold, from `warmup` values on

An alarm ends when the mean catches up with the shift or the values return to the old level. Wire the alarm to `reset`
to start again from the new level, or to a `latch` to hold the alarm. If the mean is known, use `cusum`. Source: E. S.
Page, Biometrika 41 (1954); D. V. Hinkley, Biometrika 58 (1971).

>>> one, off, none = np.array([1.0]), np.array([False]), np.array([9])
>>> result = function(9 * one, off, none, 0 * one, 0 * one, 0 * one, 0 * one, 0 * one,
...                 slack=0 * one, threshold=5 * one, fade=one, warmup=none)
>>> result["mean"].round(1).tolist(), result["rose"].tolist()
([0.9], [True])
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "value to watch", nan="sticks")
reset = In("bit", "start again from the current value")
rose = Out("bit", "the mean shifted up")
fell = Out("bit", "the mean shifted down")
count = Out("1", "number of values since the reset", start=0)
mean = Out("1", "mean since the reset")
up = Out("1", "sum of the excess above mean + slack")
down = Out("1", "sum of the shortfall below mean − slack")
least_up = Out("1", "lowest value of up")
least_down = Out("1", "lowest value of down")
slack = Param(0.005, "1", "deviation from the mean that does not count as a shift", low=0.0)
threshold = Param(50.0, "1", "rise of a sum above its lowest value that raises an alarm", low=0.0)
fade = Param(1.0, "1", "share of each sum that remains after a call", low=0.0, high=1.0)
warmup = Param(30, "1", "number of values before the first possible alarm", low=0)


def function(
    in_: Array, reset: Array, count: Array, mean: Array, up: Array, down: Array, least_up: Array, least_down: Array,
    *, slack: Array, threshold: Array, fade: Array, warmup: Array,
) -> dict[str, Array]:  # fmt: skip
    if np.count_nonzero(reset):
        count, mean, up, down, least_up, least_down = (
            np.where(reset, 0, last) for last in (count, mean, up, down, least_up, least_down)
        )
    n = count + 1
    average = mean + (in_ - mean) / n
    departure = in_ - average
    rises = fade * up + departure - slack
    falls = fade * down - departure - slack
    lowest, highest = np.minimum(least_up, rises), np.minimum(least_down, falls)
    ready = n >= warmup
    return {
        "rose": ready & (rises - lowest > threshold),
        "fell": ready & (falls - highest > threshold),
        "count": n,
        "mean": average,
        "up": rises,
        "down": falls,
        "least_up": lowest,
        "least_down": highest,
    }
