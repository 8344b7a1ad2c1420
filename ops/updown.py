"""Count up and down on rising edges.

    count += (countup rose) − (countdown rose), 0 while reset;  then past a bound it wraps, or stays where clamp

The first call only primes. Both edges in one call cancel. Wrap goes before clamp; with neither the bounds do nothing.
The bounds hold for a reset too: a reset below min gives min, or with wrap max. Source: LinuxCNC updown.

>>> on, off, none = np.array([True]), np.array([False]), np.array([0])
>>> function(on, off, off, none + 2, off, off, on, clamp=off, wrap=on, min_=none, max_=none + 2)["count"].tolist()
[0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

countup = In("bit", "count up, on its rising edge")
countdown = In("bit", "count down, on its rising edge")
reset = In("bit", "make count 0")
count = Out("1", "the count", start=0)
up_before = Out("bit", "countup at the last call")
down_before = Out("bit", "countdown at the last call")
primed = Out("bit", "there was a call")
clamp = Param(False, "bit", "stay at a bound")
wrap = Param(False, "bit", "go on from the other bound")
min_ = Param(0, "1", "lowest count where clamped or wrapped")
max_ = Param(0x7FFFFFFF, "1", "highest count where clamped or wrapped")


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
