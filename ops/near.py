"""Test whether two values are roughly equal, by ratio or by difference.

    out = (scale > 1 and in-0 / scale ≤ in-1 ≤ in-0 · scale) or |in-0 − in-1| ≤ difference

If in-0 is negative, both values are negated first. Source: LinuxCNC near.

>>> one = np.array([1.0])
>>> function(10 * one, 11 * one, scale=1.2 * one, difference=0 * one)["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_0 = In("1", "reference", nan="compares false")
in_1 = In("1", "value to compare with the reference", nan="compares false")
out = Out("bit", "the values are roughly equal")
scale = Param(1.0, "1", "largest ratio; 1 or less turns off the ratio test", low=0.0)
difference = Param(0.0, "1", "largest difference", low=0.0)


def function(in_0: Array, in_1: Array, *, scale: Array, difference: Array) -> dict[str, Array]:
    sign = np.where(in_0 < 0.0, -1.0, 1.0)
    first, second = in_0 * sign, in_1 * sign
    by_ratio = (scale > 1.0) & (first / scale <= second) & (second <= first * scale)
    return {"out": by_ratio | (np.abs(first - second) <= difference)}
