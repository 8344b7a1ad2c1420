"""Compute the absolute value and the sign of a number.

    out = |in|;  sign = in < 0;  positive = in > 1e-6;  negative = in < −1e-6

Source: LinuxCNC abs.

>>> function(np.array([-2.0, 3.0]))["out"].tolist()
[2.0, 3.0]
"""

import numpy as np

from ops.pin import Array, In, Out

SMALL = 1e-6

in_ = In("1", "number", nan="passes")
out = Out("1", "absolute value")
sign = Out("bit", "in is below 0")
positive = Out("bit", "in is above 1e-6")
negative = Out("bit", "in is below -1e-6")


def function(in_: Array) -> dict[str, Array]:
    return {"out": np.abs(in_), "sign": in_ < 0.0, "positive": in_ > SMALL, "negative": in_ < -SMALL}
