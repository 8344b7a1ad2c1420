"""Compute the Euclidean length of three values.

    out = √(in-0² + in-1² + in-2²)

An unlinked input is 0, so two linked inputs give the hypotenuse of a right triangle. Source: LinuxCNC hypot.

>>> three, four, zero = np.array([3.0]), np.array([4.0]), np.array([0.0])
>>> function(three, four, zero)["out"].tolist()
[5.0]
"""

import numpy as np

from ops.pin import Array, In, Out

in_0 = In("1", "first value", nan="passes")
in_1 = In("1", "second value", nan="passes")
in_2 = In("1", "third value", nan="passes")
out = Out("1", "length of the vector of the three values")


def function(in_0: Array, in_1: Array, in_2: Array) -> dict[str, Array]:
    return {"out": np.sqrt(in_0 * in_0 + in_1 * in_1 + in_2 * in_2)}
