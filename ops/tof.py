"""Delay the falling edge of a bit: the off-delay timer of IEC 61131-3.

    while in is false: out false if elapsed ≥ delay, else elapsed += T;  while in is true: out true, elapsed 0

Source: LinuxCNC tof.

>>> on, off, zero = np.array([True]), np.array([False]), np.array([0.0])
>>> function(off, on, zero + 1, delay=zero + 2, tick=1.0)["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("bit", "bit to delay")
out = Out("bit", "in with a delayed falling edge")
elapsed = Out("ms", "time for which in has been false, up to the delay")
delay = Param("0ms", "ms", "time for which in must be false", low="0ms")
tick = Tick("ms")


def function(in_: Array, out: Array, elapsed: Array, *, delay: Array, tick: float) -> dict[str, Array]:
    is_over = elapsed >= delay
    time = np.where(is_over, elapsed, elapsed + tick)
    return {"out": in_ | (out & ~is_over), "elapsed": np.where(in_, 0.0, time)}
