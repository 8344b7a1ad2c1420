"""Integrate a value over time.

    out += (gain · in) · T, then lowered to max, then raised to min;  if reset is true, out starts from 0

If min exceeds max, min wins. Source: LinuxCNC integ (its documented reset).

>>> one, off = np.array([1.0]), np.array([False])
>>> function(3 * one, off, one, -9 * one, 9 * one, one, tick=0.5)["out"].tolist()
[2.5]
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

in_ = In("1", "value to integrate", nan="sticks")
reset = In("bit", "set the sum to 0")
gain = In("1", "factor on in", start=1.0, nan="sticks")
min_ = In("1·d", "lowest sum", start=-1e20, nan="compares false")
max_ = In("1·d", "highest sum", start=1e20, nan="compares false")
out = Out("1·d", "sum; the state of the op")
tick = Tick("d")


def function(
    in_: Array, reset: Array, gain: Array, min_: Array, max_: Array, out: Array, *, tick: float
) -> dict[str, Array]:
    total = np.where(reset, 0.0, out + gain * in_ * tick)
    total = np.where(total > max_, max_, total)
    return {"out": np.where(total < min_, min_, total)}
