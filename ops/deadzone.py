"""Ignore small deviations from a center.

    h = threshold / 2;  out = in + h below center − h, in − h above center + h, else center

`out` is continuous only if center is 0. Source: LinuxCNC deadzone.

>>> one = np.array([1.0])
>>> function(np.array([0.4, 2.0]), center=0 * one, threshold=one)["out"].tolist()
[0.0, 1.5]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "value to filter", nan="passes")
out = Out("1", "value without small deviations")
center = Param(0.0, "1", "middle of the zone")
threshold = Param(1.0, "1", "width of the zone", low=0.0)


def function(in_: Array, *, center: Array, threshold: Array) -> dict[str, Array]:
    half = threshold / 2
    inside = np.where(np.isnan(in_), in_, center)
    return {"out": np.where(in_ < center - half, in_ + half, np.where(in_ > center + half, in_ - half, inside))}
