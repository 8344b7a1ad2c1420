"""Follow a signal with a time constant that holds at any cadence.

    out += (in − out) · (1 − exp(−T / tau));  where load is true, out = in

n ticks of T / n move it as far as one tick of T. To state the share a call instead, use `smooth`. Source: the
first-order lag sampled exactly; LinuxCNC lowpass with gain 1 − exp(−2π f T).

>>> off, zero = np.array([False]), np.array([0.0])
>>> function(np.array([1.0]), off, zero, tau=np.array([1.0]), tick=1.0)["out"].round(3).tolist()
[0.632]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("1", "signal to follow", nan="sticks")
load = In("bit", "take in as it is, and forget NaN")
out = Out("1", "in, lagging; the op's whole state")
tau = Param("1d", "d", "time after which 63 % of a step is closed", low="1ms")
tick = Tick("d")


def function(in_: Array, load: Array, out: Array, *, tau: Array, tick: float) -> dict[str, Array]:
    value = out - (in_ - out) * np.expm1(-tick / tau)
    return {"out": np.where(load, in_, value)}
