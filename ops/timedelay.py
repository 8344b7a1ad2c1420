"""Delay the rising and the falling edge of a bit.

    while in ≠ out the timer rises by T;  when it reaches the delay of this edge, out = in and the timer is 0

A change shorter than the delay has no effect. `elapsed` is the timer's last value. A delay of 0 takes effect in the
same call. Source: LinuxCNC timedelay.

>>> on, off, zero = np.array([True]), np.array([False]), np.array([0.0])
>>> function(on, zero + 2, zero + 2, off, zero + 1, zero, tick=1.0)["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

in_ = In("bit", "bit to delay")
on_delay = In("ms", "time for which in must be true", start="500ms", nan="compares false")
off_delay = In("ms", "time for which in must be false", start="500ms", nan="compares false")
out = Out("bit", "delayed bit")
timer = Out("ms", "time for which in has differed from out")
elapsed = Out("ms", "last value of the timer")
tick = Tick("ms")


def function(
    in_: Array, on_delay: Array, off_delay: Array, out: Array, timer: Array, elapsed: Array, *, tick: float
) -> dict[str, Array]:
    differs = in_ != out
    time = timer + tick
    acts = differs & (time >= np.where(in_, on_delay, off_delay))
    return {
        "out": np.where(acts, in_, out),
        "timer": np.where(differs & ~acts, time, 0.0),
        "elapsed": np.where(differs, time, elapsed),
    }
