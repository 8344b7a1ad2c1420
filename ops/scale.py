"""Multiply a value by a gain and add an offset.

    out = in · gain + offset

Gain and offset are 0 until set, as in HAL. Source: LinuxCNC scale.

>>> import numpy as np
>>> function(np.array([2.0]), np.array([3.0]), np.array([1.0]))["out"].tolist()
[7.0]
"""

from ops.pin import Array, In, Out

in_ = In("1", "value to scale", nan="passes")
gain = In("1", "factor", nan="passes")
offset = In("1", "value added after scaling", nan="passes")
out = Out("1", "scaled value")


def function(in_: Array, gain: Array, offset: Array) -> dict[str, Array]:
    return {"out": in_ * gain + offset}
