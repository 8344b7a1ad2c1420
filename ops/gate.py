"""Copy one input to every output that is enabled; the others hold.

    out-i = in where enable-i, else as before

With all enabled a plain net does the same. Source: LinuxCNC tristate_float and tristate_bit.

>>> function(np.array([7.0]), np.array([[True], [False]]), np.zeros((2, 1)))["out"].ravel().tolist()
[7.0, 0.0]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("any", "what is copied", nan="kept")
enable = In("bit", "which outputs follow", start=True, many="outputs")
out = Out("any", "outputs; the op's whole state", many=32)


def function(in_: Array, enable: Array, out: Array) -> dict[str, Array]:
    return {"out": np.where(enable, in_, out)}
