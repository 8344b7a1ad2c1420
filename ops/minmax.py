"""Keep the lowest and highest value seen.

    max = in where in > max;  min = in where in < min;  where reset is true, both = in

Both start at 0, as in HAL: reset first. Source: LinuxCNC minmax.

>>> zero, off = np.array([0.0]), np.array([False])
>>> sorted(function(np.array([2.0]), off, zero, zero).items())
[('max_', array([2.])), ('min_', array([0.]))]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("1", "value to watch", nan="kept")
reset = In("bit", "forget, and start from in")
max_ = Out("1", "highest so far")
min_ = Out("1", "lowest so far")


def function(in_: Array, reset: Array, max_: Array, min_: Array) -> dict[str, Array]:
    return {"max_": np.where(reset | (in_ > max_), in_, max_), "min_": np.where(reset | (in_ < min_), in_, min_)}
