"""Read a curve of straight pieces through given points.

    out = y-k + (in − x-k) / (x-(k+1) − x-k) · (y-(k+1) − y-k)  between two points, and level outside them

The x must not fall. Source: LinuxCNC lincurve.

>>> x, y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [-1.0]])
>>> [function(np.array([value]), x=x, y=y)["out"].tolist() for value in (-5.0, 0.5, 1.5, 9.0)]
[[1.0], [2.0], [1.0], [-1.0]]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

points = Size(2, "points", low=2, high=16)
in_ = In("1", "where to read the curve", nan="passes")
out = Out("1", "the curve there")
x = Param(0.0, "1", "where the points stand, in order", many="points")
y = Param(0.0, "1", "how high they are", many="points")


def function(in_: Array, *, x: Array, y: Array) -> dict[str, Array]:
    x, y = (np.broadcast_to(table, (len(table), in_.size)) for table in (x, y))
    left = (in_ > x[1:-1]).sum(axis=0)[np.newaxis]
    begin, end, low, high = (np.take_along_axis(table, left + step, axis=0)[0] for table in (x, y) for step in (0, 1))
    share = (in_ - begin) / np.where(end > begin, end - begin, 1.0)
    between = low + share * (high - low)
    return {"out": np.where(in_ >= x[-1], y[-1], np.where(in_ <= x[0], y[0], between))}
