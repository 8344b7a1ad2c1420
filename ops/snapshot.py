"""Sample and hold a value.

    out = in while hold is false, else unchanged

Source: LinuxCNC sample_hold.

>>> function(np.array([7.0, 7.0]), np.array([False, True]), np.array([0.0, 0.0]))["out"].tolist()
[7.0, 0.0]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("any", "value to sample", nan="kept")
hold = In("bit", "hold the current sample")
out = Out("any", "sample; the state of the op")


def function(in_: Array, hold: Array, out: Array) -> dict[str, Array]:
    return {"out": np.where(hold, out, in_)}
