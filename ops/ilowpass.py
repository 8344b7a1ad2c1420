"""Smooth a whole number and scale the result, so that the output changes in finer steps.

    value += (in − value) · gain;  out = ⌊value · scale + ½⌋, as 32 bits

Above 2³¹ − 1, `out` wraps around to −2³¹. The gain is a share per call. For other numbers, use `smooth`. Source:
LinuxCNC ilowpass.

>>> function(np.array([3]), np.array([1.0]), gain=np.array([0.5]), scale=np.array([10.0]))["out"].tolist()
[20]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "whole number to smooth", start=0)
out = Out("1", "smoothed in times scale, rounded to a whole number", start=0)
value = Out("1", "smoothed value of in; the state of the op")
gain = Param(0.5, "1", "share of the gap closed in each call", low=0.0, high=1.0)
scale = Param(1024.0, "1", "steps of out per unit of in")

HALF = 2.0**31


def function(in_: Array, value: Array, *, gain: Array, scale: Array) -> dict[str, Array]:
    average = value + (in_ - value) * gain
    steps = np.floor(average * scale + 0.5)
    return {"out": (np.mod(steps + HALF, 2.0 * HALF) - HALF).astype(np.int64), "value": average}
