"""Count up and down on rising edges.

    count += (countup rose) − (countdown rose), 0 while reset;  beyond a bound it wraps around (wrap) or stops (clamp)

The first call does not count. Two edges in one call cancel out. `wrap` takes precedence over `clamp`; without either,
the bounds have no effect. The bounds also apply to a reset: if 0 is below min, count becomes min, or max with wrap.
Source: LinuxCNC updown.

>>> on, off, none = np.array([True]), np.array([False]), np.array([0])
>>> function(on, off, off, none + 2, off, off, on, clamp=off, wrap=on, min_=none, max_=none + 2)["count"].tolist()
[0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

countup = In("bit", "count up on the rising edge")
countdown = In("bit", "count down on the rising edge")
reset = In("bit", "set count to 0")
count = Out("1", "current count", start=0)
up_before = Out("bit", "countup at the previous call")
down_before = Out("bit", "countdown at the previous call")
primed = Out("bit", "the op has been called")
clamp = Param(False, "bit", "stop at the bounds")
wrap = Param(False, "bit", "continue at the other bound")
min_ = Param(0, "1", "lowest count, with clamp or wrap")
max_ = Param(0x7FFFFFFF, "1", "highest count, with clamp or wrap")


def function(
    countup: Array, countdown: Array, reset: Array, count: Array, up_before: Array, down_before: Array,
    primed: Array, *, clamp: Array, wrap: Array, min_: Array, max_: Array,
) -> dict[str, Array]:  # fmt: skip
    total = count + (countup & ~up_before & primed) - (countdown & ~down_before & primed)
    now = np.where(reset, 0, total) if np.count_nonzero(reset) else total
    if np.count_nonzero(wrap) or np.count_nonzero(clamp):
        above, below = now > max_, now < min_
        around = np.where(above, min_, np.where(below, max_, now))
        bound = np.where(above, max_, np.where(below, min_, now))
        now = np.where(wrap, around, np.where(clamp, bound, now))
    return {"count": now, "up_before": countup, "down_before": countdown, "primed": primed | True}
