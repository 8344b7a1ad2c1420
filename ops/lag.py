"""Follow a signal with a time constant that does not depend on the length of the tick.

    out += (in − out) · (1 − exp(−T / tau));  if load is true, out = in

n ticks of length T / n move `out` as far as one tick of length T. For a share per call, use `smooth`. Source: the
first-order lag sampled exactly; LinuxCNC lowpass with gain 1 − exp(−2π f T).

>>> off, zero = np.array([False]), np.array([0.0])
>>> function(np.array([1.0]), off, zero, tau=np.array([1.0]), tick=1.0)["out"].round(3).tolist()
[0.632]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("1", "signal to follow", nan="sticks")
load = In("bit", "copy in to out, which also clears NaN")
out = Out("1", "lagging value of in; the state of the op")
tau = Param("1d", "d", "time constant: time after which out has covered 63 % of a step", low="1ms")
tick = Tick("d")


def function(in_: Array, load: Array, out: Array, *, tau: Array, tick: float) -> dict[str, Array]:
    value = out - (in_ - out) * np.expm1(-tick / tau)
    return {"out": np.where(load, in_, value)}
