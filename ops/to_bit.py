"""Convert a number to a bit.

    out = |in| > 2e-7

NaN gives false and sets bad. Source: the conversion in LinuxCNC mux_generic.

>>> function(np.array([0.0, 1e-8, -3.0]))["out"].tolist()
[False, False, True]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("any", "number", nan="flagged")
out = Out("bit", "in is not zero")
bad = Out("bit", "in is NaN")


def function(in_: Array) -> dict[str, Array]:
    return {"out": np.abs(in_ * 1.0) > 2e-7, "bad": np.isnan(in_)}  # noqa: PLR2004 - HAL's own zero
