"""Turn a bit round.

    out = not in

Source: LinuxCNC not.

>>> import numpy as np
>>> function(np.array([True, False]))["out"].tolist()
[False, True]
"""

from ops.pin import Array, In, Out

in_ = In("bit", "bit")
out = Out("bit", "its opposite")


def function(in_: Array) -> dict[str, Array]:
    return {"out": ~in_}
