"""Invert a bit.

    out = not in

Source: LinuxCNC not.

>>> import numpy as np
>>> function(np.array([True, False]))["out"].tolist()
[False, True]
"""

from ops.pin import Array, In, Out

in_ = In("bit", "bit to invert")
out = Out("bit", "inverted bit")


def function(in_: Array) -> dict[str, Array]:
    return {"out": ~in_}
