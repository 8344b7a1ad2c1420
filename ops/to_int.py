"""Convert a number to a whole number.

    out = in without its fraction, within low and high

NaN gives 0 and sets bad. Source: the conversion in LinuxCNC mux_generic.

>>> s32 = np.array([-2147483648]), np.array([2147483647])
>>> function(np.array([2.9, -2.9, 1e300]), low=s32[0], high=s32[1])["out"].tolist()
[2, -2, 2147483647]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("any", "number", nan="flagged")
out = Out("1", "whole number", start=0)
bad = Out("bit", "in is NaN")
low = Param(-(2**31), "1", "lowest value", low=-(2**52), high=2**52)
high = Param(2**31 - 1, "1", "highest value", low=-(2**52), high=2**52)


def function(in_: Array, *, low: Array, high: Array) -> dict[str, Array]:
    bad = np.isnan(in_)
    value = np.minimum(np.maximum(in_ * 1.0, low), high)
    return {"out": np.where(bad, 0.0, value).astype(np.int64), "bad": bad}
