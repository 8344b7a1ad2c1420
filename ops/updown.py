"""Count up and down on rising edges.

    count += 1 on a rising countup, then −= 1 on a rising countdown;  past a bound it wraps, or stays where clamp

The first call only primes. Wrap goes before clamp; with neither the bounds do nothing. Reset makes it 0. Source:
LinuxCNC updown.

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
    countup: Array,
    countdown: Array,
    reset: Array,
    count: Array,
    up_before: Array,
    down_before: Array,
    primed: Array,
    *,
    clamp: Array,
    wrap: Array,
    min_: Array,
    max_: Array,
) -> dict[str, Array]:
    raised = count + (countup & ~up_before & primed)
    raised = np.where((raised > max_) & (wrap | clamp), np.where(wrap, min_, max_), raised)
    lowered = raised - (countdown & ~down_before & primed)
    lowered = np.where((lowered < min_) & (wrap | clamp), np.where(wrap, max_, min_), lowered)
    return {
        "count": np.where(reset, 0, lowered),
        "up_before": countup,
        "down_before": countdown,
        "primed": primed | True,
    }
