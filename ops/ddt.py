"""Tell how fast a value changes.

    out = (in − in of the last call) / T

The first call differentiates from 0. On a noisy signal use `trend`. Source: LinuxCNC ddt.

>>> import numpy as np
>>> function(np.array([3.0]), np.array([1.0]), tick=0.5)["out"].tolist()
[4.0]
"""

from ops.pin import Array, In, Out, Tick

in_ = In("1", "value to differentiate", nan="lingers")
out = Out("1/d", "its rate of change")
before = Out("1", "in of the last call")
tick = Tick("d")


def function(in_: Array, before: Array, *, tick: float) -> dict[str, Array]:
    return {"out": (in_ - before) / tick, "before": in_}
