"""Follow a whole number slowly, in finer steps than its own.

    value += (in − value) · gain;  out = ⌊value · scale + ½⌋, of which 32 bits are kept

Past 2³¹ − 1 out goes on at −2³¹, as a counter does. The gain is a share a call. For numbers that are not whole use
`smooth`. Source: LinuxCNC ilowpass.

>>> function(np.array([3]), np.array([1.0]), gain=np.array([0.5]), scale=np.array([10.0]))["out"].tolist()
[20]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "whole number to follow", start=0)
out = Out("1", "in times scale, smoothed, to the nearest whole number", start=0)
value = Out("1", "in, smoothed; the op's whole state")
gain = Param(0.5, "1", "share of the gap closed each call", low=0.0, high=1.0)
scale = Param(1024.0, "1", "steps of out to one of in")

HALF = 2.0**31


def function(in_: Array, value: Array, *, gain: Array, scale: Array) -> dict[str, Array]:
    average = value + (in_ - value) * gain
    steps = np.floor(average * scale + 0.5)
    return {"out": (np.mod(steps + HALF, 2.0 * HALF) - HALF).astype(np.int64), "value": average}
