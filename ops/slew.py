"""Limit a value and its rate of change.

    t = in within min and max;  out moves toward t by at most maxv · T;  if load is true, out = t

The rate has priority: if the range moves faster than maxv, `out` lies outside the range for a while. After a NaN, `out`
jumps to the next valid value. Source: LinuxCNC limit2.

>>> one, off = np.array([1.0]), np.array([False])
>>> function(9 * one, off, -9 * one, 9 * one, 2 * one, 0 * one, tick=0.5)["out"].tolist()
[1.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

in_ = In("1", "value to follow", nan="passes")
load = In("bit", "set out to the limited input")
min_ = In("1", "lowest value", start=-1e20, nan="compares false")
max_ = In("1", "highest value", start=1e20, nan="compares false")
maxv = In("1/d", "highest rate", start=1e20, low=0.0, nan="compares false")
out = Out("1", "limited value; the state of the op")
tick = Tick("d")


def function(in_: Array, load: Array, min_: Array, max_: Array, maxv: Array, out: Array, *, tick: float) -> dict[str, Array]:
    reach = maxv * tick
    aim = np.where(in_ < min_, min_, np.where(in_ > max_, max_, in_))
    low, high = out - reach, out + reach
    follow = np.where(aim < low, low, np.where(aim > high, high, aim))
    return {"out": np.where(load, aim, follow)}
