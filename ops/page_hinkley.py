"""Detect a shift from the mean so far, either way: the Page–Hinkley test.

    mean = mean of all values since the reset;  up = fade · up + in − mean − slack;  down = fade · down + mean − in − slack
    rose where up − its least > threshold;  fell where down − its least > threshold, from `warmup` values on

An alarm lasts while the sum stays that far above its least: it falls silent when the mean catches up with the shift or the
values return. `reset` on an alarm starts again from the new level; put a `latch` behind it to hold an alarm. Where the mean
is known use `cusum`. Source: E. S. Page, Biometrika
41 (1954); D. V. Hinkley, Biometrika 58 (1971).

>>> one, off, none = np.array([1.0]), np.array([False]), np.array([9])
>>> result = function(9 * one, off, none, 0 * one, 0 * one, 0 * one, 0 * one, 0 * one,
...                 slack=0 * one, threshold=5 * one, fade=one, warmup=none)
>>> result["mean"].round(1).tolist(), result["rose"].tolist()
([0.9], [True])
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "value to watch", nan="sticks")
reset = In("bit", "forget, and start from this value")
rose = Out("bit", "it shifted up")
fell = Out("bit", "it shifted down")
count = Out("1", "values since the reset", start=0)
mean = Out("1", "their mean")
up = Out("1", "sum of what is above mean + slack")
down = Out("1", "sum of what is below mean − slack")
least_up = Out("1", "the least up has been")
least_down = Out("1", "the least down has been")
slack = Param(0.005, "1", "departure from the mean that is no shift", low=0.0)
threshold = Param(50.0, "1", "rise of a sum over its least that alarms", low=0.0)
fade = Param(1.0, "1", "share of a sum kept each call", low=0.0, high=1.0)
warmup = Param(30, "1", "values before the first alarm", low=0)


def function(
    in_: Array, reset: Array, count: Array, mean: Array, up: Array, down: Array, least_up: Array, least_down: Array,
    *, slack: Array, threshold: Array, fade: Array, warmup: Array,
) -> dict[str, Array]:  # fmt: skip
    if np.count_nonzero(reset):
        count, mean, up, down, least_up, least_down = (
            np.where(reset, 0, item) for item in (count, mean, up, down, least_up, least_down)
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
