"""Multiply two values.

    out = in-0 · in-1

For a constant factor, use `scale`. Source: LinuxCNC mult2.

>>> import numpy as np
>>> function(np.array([3.0]), np.array([-2.0]))["out"].tolist()
[-6.0]
"""

from ops.pin import Array, In, Out

in_0 = In("1", "first factor", nan="passes")
in_1 = In("1", "second factor", nan="passes")
out = Out("1", "product")


def function(in_0: Array, in_1: Array) -> dict[str, Array]:
    return {"out": in_0 * in_1}
