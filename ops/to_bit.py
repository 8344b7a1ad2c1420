"""Read a number as a bit.

    out = |in| > 2e-7

NaN is false and raises bad. Source: LinuxCNC's mux_generic reads a float as a bit so.

>>> function(np.array([0.0, 1e-8, -3.0]))["out"].tolist()
[False, False, True]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("any", "number", nan="flagged")
out = Out("bit", "whether it is not zero")
bad = Out("bit", "whether it is NaN")


def function(in_: Array) -> dict[str, Array]:
    return {"out": np.abs(in_ * 1.0) > 2e-7, "bad": np.isnan(in_)}  # noqa: PLR2004 - HAL's own zero
