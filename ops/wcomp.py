"""Test whether a value is inside a window.

    under = in ≤ min;  over = in ≥ max;  out = neither

The bounds themselves are outside. NaN is inside, so detect NaN with a `watch` or `score.bad`. Source: LinuxCNC wcomp.

>>> import numpy as np
>>> one = np.array([1.0])
>>> function(0.5 * one, 0 * one, one)["out"].tolist()
[True]
"""

from ops.pin import Array, In, Out

in_ = In("1", "value to compare", nan="compares false")
min_ = In("1", "lower bound", nan="compares false")
max_ = In("1", "upper bound", nan="compares false")
out = Out("bit", "inside the window")
under = Out("bit", "at or below min")
over = Out("bit", "at or above max")


def function(in_: Array, min_: Array, max_: Array) -> dict[str, Array]:
    under, over = in_ <= min_, in_ >= max_
    return {"out": ~(under | over), "under": under, "over": over}
