"""Copy one input to every enabled output; the other outputs hold their values.

    out-i = in if enable-i, else unchanged

If all outputs are always enabled, a plain net is equivalent. Source: LinuxCNC tristate_float and tristate_bit.

>>> function(np.array([7.0]), np.array([[True], [False]]), np.zeros((2, 1)))["out"].ravel().tolist()
[7.0, 0.0]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("any", "value to copy", nan="kept")
enable = In("bit", "mask of outputs that follow in", start=True, many="outputs")
out = Out("any", "outputs; the state of the op", many=32)


def function(in_: Array, enable: Array, out: Array) -> dict[str, Array]:
    return {"out": np.where(enable, in_, out)}
