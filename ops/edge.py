"""Emit a pulse on each edge of a bit.

    an edge sets time-left to width and out to true;  else time-left falls by T to 0 and out = time-left > 0

The first call emits no pulse. A pulse lasts ⌈width / T⌉ calls, at least one; an edge during a pulse restarts the pulse.
For a reset, or a pulse at the first call, use `oneshot`. Source: LinuxCNC edge.

>>> on, off, zero = np.array([True]), np.array([False]), np.array([0.0])
>>> function(on, zero, off, on, rising=on, falling=off, width=zero, tick=1.0)["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("bit", "bit to watch")
out = Out("bit", "pulse")
out_not = Out("bit", "inverted pulse")
time_left = Out("ms", "remaining time of the pulse")
before = Out("bit", "in at the previous call")
primed = Out("bit", "the op has been called")
rising = Param(True, "bit", "rising edges count")
falling = Param(False, "bit", "falling edges count")
width = Param("0ms", "ms", "length of the pulse", low="0ms")
tick = Tick("ms")


def function(
    in_: Array, time_left: Array, before: Array, primed: Array, *, rising: Array, falling: Array, width: Array, tick: float
) -> dict[str, Array]:
    edge = primed & ((in_ & ~before & rising) | (before & ~in_ & falling))
    left = np.where(edge, width, np.maximum(time_left - tick, 0.0))
    out = edge | (left > 0)
    return {"out": out, "out_not": ~out, "time_left": left, "before": in_, "primed": primed | True}
