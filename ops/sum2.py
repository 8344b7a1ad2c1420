"""Add two values, each multiplied by a gain, and an offset.

    out = in-0 · gain-0 + in-1 · gain-1 + offset

For more inputs, or for bounds, use `score`. Source: LinuxCNC sum2.

>>> import numpy as np
>>> one = np.array([1.0])
>>> function(2 * one, 3 * one, gain_0=one, gain_1=-one, offset=0.5 * one)["out"].tolist()
[-0.5]
"""

from ops.pin import Array, In, Out, Param

in_0 = In("1", "first value", nan="passes")
in_1 = In("1", "second value", nan="passes")
out = Out("1", "weighted sum")
gain_0 = Param(1.0, "1", "gain of in-0")
gain_1 = Param(1.0, "1", "gain of in-1")
offset = Param(0.0, "1", "value added last")


def function(in_0: Array, in_1: Array, *, gain_0: Array, gain_1: Array, offset: Array) -> dict[str, Array]:
    return {"out": in_0 * gain_0 + in_1 * gain_1 + offset}
