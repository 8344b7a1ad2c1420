"""Follow a signal, slowly.

    out += (in − out) · gain;  where load is true, out = in

A gain of 0 freezes and 1 passes. It is a share a call: for a time constant that holds at any cadence use `lag`.
Source: LinuxCNC lowpass, Recall smooth.

>>> off = np.array([False, False])
>>> function(np.array([0.0, 1.0]), off, np.array([0.0, 0.0]), gain=np.array([0.3]))["out"].tolist()
[0.0, 0.3]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "signal to follow", nan="sticks")
load = In("bit", "take in as it is, and forget NaN")
out = Out("1", "in, smoothed; the op's whole state")
gain = Param(0.3, "1", "share of the gap closed each call", low=0.0, high=1.0)


def function(in_: Array, load: Array, out: Array, *, gain: Array) -> dict[str, Array]:
    value = in_ - out
    value *= gain
    value += out
    np.copyto(value, in_, where=load)
    return {"out": value}
