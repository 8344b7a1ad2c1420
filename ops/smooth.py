"""Smooth a signal.

    out += (in − out) · gain;  if load is true, out = in

With gain 0 `out` holds; with gain 1, out = in. The gain is a share per call; for a time constant, use `lag`. Source:
LinuxCNC lowpass, Recall smooth.

>>> off = np.array([False, False])
>>> function(np.array([0.0, 1.0]), off, np.array([0.0, 0.0]), gain=np.array([0.3]))["out"].tolist()
[0.0, 0.3]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "signal to smooth", nan="sticks")
load = In("bit", "copy in to out, which also clears NaN")
out = Out("1", "smoothed signal; the state of the op")
gain = Param(0.3, "1", "share of the gap closed in each call", low=0.0, high=1.0)


def function(in_: Array, load: Array, out: Array, *, gain: Array) -> dict[str, Array]:
    value = in_ - out
    value *= gain
    value += out
    np.copyto(value, in_, where=load)
    return {"out": value}
