"""Delay a bit's fall: the off-delay timer of IEC 61131-3.

    while not in: out false where elapsed ≥ delay, else elapsed rises by T;  in true: out true, elapsed 0

Source: LinuxCNC tof.

>>> on, off, zero = np.array([True]), np.array([False]), np.array([0.0])
>>> function(off, on, zero + 1, delay=zero + 2, tick=1.0)["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("bit", "bit to delay")
out = Out("bit", "in, its fall delayed")
elapsed = Out("ms", "how long in has been false, to the delay")
delay = Param("0ms", "ms", "how long in must be false", low="0ms")
tick = Tick("ms")


def function(in_: Array, out: Array, elapsed: Array, *, delay: Array, tick: float) -> dict[str, Array]:
    is_over = elapsed >= delay
    time = np.where(is_over, elapsed, elapsed + tick)
    return {"out": in_ | (out & ~is_over), "elapsed": np.where(in_, 0.0, time)}
