"""Interpolate linearly between given points.

    out = y-k + (in − x-k) / (x-(k+1) − x-k) · (y-(k+1) − y-k)  between two points, constant outside

The values of x must not decrease. Source: LinuxCNC lincurve.

>>> x, y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [-1.0]])
>>> [function(np.array([value]), x=x, y=y)["out"].tolist() for value in (-5.0, 0.5, 1.5, 9.0)]
[[1.0], [2.0], [1.0], [-1.0]]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

points = Size(2, "number of points", low=2, high=16)
in_ = In("1", "position on the curve", nan="passes")
out = Out("1", "value of the curve")
x = Param(0.0, "1", "positions of the points, in ascending order", many="points")
y = Param(0.0, "1", "values of the points", many="points")


def function(in_: Array, *, x: Array, y: Array) -> dict[str, Array]:
    x, y = (np.broadcast_to(table, (len(table), in_.size)) for table in (x, y))
    left = (in_ > x[1:-1]).sum(axis=0)[np.newaxis]
    begin, end, low, high = (np.take_along_axis(table, left + step, axis=0)[0] for table in (x, y) for step in (0, 1))
    share = (in_ - begin) / np.where(end > begin, end - begin, 1.0)
    between = low + share * (high - low)
    return {"out": np.where(in_ >= x[-1], y[-1], np.where(in_ <= x[0], y[0], between))}
