"""Convert a bit or a whole number to a float.

    out = in

Source: LinuxCNC conv_bit_float, conv_s32_float.

>>> function(np.array([True, False]))["out"].tolist()
[1.0, 0.0]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("any", "bit or whole number", nan="passes")
out = Out("1", "in as a float")


def function(in_: Array) -> dict[str, Array]:
    return {"out": in_.astype(np.float64)}
