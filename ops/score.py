"""Combine several values into one bounded number.

    raw = ((in-0 · gain-0 + in-1 · gain-1) + …) + offset;  out = raw, raised to min, then lowered to max

The values are added from left to right, then the offset. Source: LinuxCNC sum2 and limit1, Recall score.

>>> two, one = np.array([[0.5], [2.0]]), np.array([1.0])
>>> function(two, gain=np.array([[1.0], [1.0]]), offset=0 * one, min_=0 * one, max_=one)["out"].tolist()
[1.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "values to combine", many=32, nan="passes")
out = Out("1", "bounded sum")
raw = Out("1", "sum before the bounds")
over = Out("bit", "the sum is outside the bounds")
bad = Out("bit", "the sum is NaN")
gain = Param(1.0, "1", "factor on each value", many="inputs")
offset = Param(0.0, "1", "value added last")
min_ = Param(-1e20, "1", "lowest value of out")
max_ = Param(1e20, "1", "highest value of out")


def function(in_: Array, *, gain: Array, offset: Array, min_: Array, max_: Array) -> dict[str, Array]:
    raw = in_[0] * gain[0]
    for value, factor in zip(in_[1:], gain[1:], strict=True):
        raw = raw + value * factor
    raw = raw + offset
    below = raw < min_
    above_min = np.where(below, min_, raw)
    above = above_min > max_
    return {"out": np.where(above, max_, above_min), "raw": raw, "over": below | above, "bad": np.isnan(raw)}
