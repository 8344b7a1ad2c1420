"""Track the lowest and highest value of a signal.

    max = in if in > max;  min = in if in < min;  if reset is true, both = in

Both start at 0, as in HAL, so start with a reset. Source: LinuxCNC minmax.

>>> zero, off = np.array([0.0]), np.array([False])
>>> sorted(function(np.array([2.0]), off, zero, zero).items())
[('max_', array([2.])), ('min_', array([0.]))]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("1", "value to watch", nan="kept")
reset = In("bit", "set both to in")
max_ = Out("1", "highest value so far")
min_ = Out("1", "lowest value so far")


def function(in_: Array, reset: Array, max_: Array, min_: Array) -> dict[str, Array]:
    return {"max_": np.where(reset | (in_ > max_), in_, max_), "min_": np.where(reset | (in_ < min_), in_, min_)}
