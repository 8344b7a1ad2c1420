"""Emit a single pulse on an edge.

    an edge sets the timer to width;  at each later call the timer falls by T, down to 0;  out = timer > 0

If `in` is true at the first call, this is a rising edge. A pulse lasts ⌈width / T⌉ calls; `width` is read only at the
edge, and a width of 0 or less gives no pulse. A reset ends the pulse and forgets `in`, so that an `in` that is still
true is a new edge. Source: LinuxCNC oneshot.

>>> on, off, zero = np.array([True]), np.array([False]), np.array([0.0])
>>> pulse = function(on, off, zero + 5, zero, zero, off, retriggerable=on, rising=on, falling=off, tick=1.0)
>>> pulse["out"].tolist(), pulse["time_left"].tolist()
([True], [5.0])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("bit", "trigger")
reset = In("bit", "end the pulse")
width = In("ms", "length of the pulse", start="0ms", nan="kept")
out = Out("bit", "pulse")
out_not = Out("bit", "inverted pulse")
time_left = Out("ms", "remaining time of the pulse at its last count")
timer = Out("ms", "remaining time of the pulse")
before = Out("bit", "in at the previous call")
retriggerable = Param(True, "bit", "an edge during the pulse restarts it")
rising = Param(True, "bit", "rising edges trigger")
falling = Param(False, "bit", "falling edges trigger")
tick = Tick("ms")


def function(
    in_: Array, reset: Array, width: Array, time_left: Array, timer: Array, before: Array, *,
    retriggerable: Array, rising: Array, falling: Array, tick: float,
) -> dict[str, Array]:  # fmt: skip
    running = timer > 0
    edge = (in_ & ~before & rising) | (before & ~in_ & falling)
    starts = edge & (retriggerable | ~running) & ~reset
    left = np.where(running, np.maximum(timer - tick, 0.0), timer) if np.count_nonzero(running) else timer
    ends = np.count_nonzero(reset)
    if ends or np.count_nonzero(starts):
        left = np.where(starts, width, np.where(reset, 0.0, left))
    out = left > 0
    return {
        "out": out,
        "out_not": ~out,
        "time_left": np.where(reset, time_left, left) if ends else left,
        "timer": left,
        "before": in_ & ~reset,
    }
