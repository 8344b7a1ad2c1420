"""Convert a number to a whole number within a range.

    whole = in without its fraction
    clamp true:   out = whole limited to low … high;  out-of-range = out ≠ whole
    clamp false:  out = low + (whole − low) mod (high − low + 1);  out-of-range becomes true when that differs from in

While clamp is false, `out-of-range` stays true once set, as in HAL; a fraction also sets `out-of-range`. NaN gives 0
and is out of range. Without clamp, a float outside the range is undefined behaviour in C; here the float wraps around
like an integer. Source: LinuxCNC conv_float_s32 and the other conv components with a narrower output.

>>> low, high = np.array([-2147483648]), np.array([2147483647])
>>> off = np.array([False])
>>> result = function(np.array([2147483648.0]), off, clamp=off, low=low, high=high)
>>> result["out"].tolist(), result["out_of_range"].tolist()
([-2147483648], [True])
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("any", "number", nan="flagged")
out = Out("1", "whole number", start=0)
out_of_range = Out("bit", "in does not fit; stays true while clamp is false")
clamp = Param(False, "bit", "limit to the range instead of wrapping around")
low = Param(-(2**31), "1", "lowest value", low=-(2**52), high=2**52)
high = Param(2**31 - 1, "1", "highest value", low=-(2**52), high=2**52)


def function(in_: Array, out_of_range: Array, *, clamp: Array, low: Array, high: Array) -> dict[str, Array]:
    value = np.trunc(np.nan_to_num(in_ * 1.0, nan=0.0, posinf=2.0**62, neginf=-(2.0**62)))
    limited = np.minimum(np.maximum(value, low), high)
    wrapped = low + np.mod(value - low, high - low + 1)
    whole = np.where(clamp, limited, wrapped)
    differs = np.where(clamp, limited != value, out_of_range | (whole != in_))
    return {"out": whole.astype(np.int64), "out_of_range": differs | np.isnan(in_ * 1.0)}
