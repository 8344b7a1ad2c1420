"""Compute the rate of change of a value.

    out = (in − in of the previous call) / T

The first call differentiates from 0. For noisy signals, use `trend`. Source: LinuxCNC ddt.

>>> import numpy as np
>>> function(np.array([3.0]), np.array([1.0]), tick=0.5)["out"].tolist()
[4.0]
"""

from ops.pin import Array, In, Out, Tick

in_ = In("1", "value to differentiate", nan="lingers")
out = Out("1/d", "rate of change")
before = Out("1", "in at the previous call")
tick = Tick("d")


def function(in_: Array, before: Array, *, tick: float) -> dict[str, Array]:
    return {"out": (in_ - before) / tick, "before": in_}
