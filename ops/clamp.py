"""Limit a value to a range.

    out = in, raised to min, then lowered to max

If min exceeds max, max wins. To limit the rate too, use `slew`; to limit rate and acceleration, use `slew2`. Source:
LinuxCNC limit1.

>>> function(np.array([-2.0, 0.5]), np.array([0.0, 0.0]), np.array([1.0, 1.0]))["out"].tolist()
[0.0, 0.5]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("1", "value to limit", nan="passes")
min_ = In("1", "lowest value", start=-1e20, nan="compares false")
max_ = In("1", "highest value", start=1e20, nan="compares false")
out = Out("1", "in, within min and max")


def function(in_: Array, min_: Array, max_: Array) -> dict[str, Array]:
    above_min = np.where(in_ < min_, min_, in_)
    return {"out": np.where(above_min > max_, max_, above_min)}
