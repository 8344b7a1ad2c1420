"""Compare two values with hysteresis.

    d = in-1 − in-0, h = hysteresis / 2;  out is false below −h, true above h, and holds in between, where equal is true

To compare a value with a level and count crossings, use `watch`. Source: LinuxCNC comp.

>>> import numpy as np
>>> zero, off = np.array([0.0]), np.array([False])
>>> function(zero, zero + 2.0, off, hysteresis=zero)["out"].tolist()
[True]
"""

from ops.pin import Array, In, Out, Param

in_0 = In("1", "reference", nan="compares false")
in_1 = In("1", "value to compare with the reference", nan="compares false")
out = Out("bit", "in-1 is above in-0; the state of the op")
equal = Out("bit", "the values are within the band, or one is NaN")
hysteresis = Param(0.0, "1", "width of the band", low=0.0)


def function(in_0: Array, in_1: Array, out: Array, *, hysteresis: Array) -> dict[str, Array]:
    difference = in_1 - in_0
    half = 0.5 * hysteresis
    below, above = difference < -half, difference > half
    return {"out": (above | out) & ~below, "equal": ~(above | below)}
