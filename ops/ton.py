"""Delay the rising edge of a bit: the on-delay timer of IEC 61131-3.

    while in is true: out true if elapsed ≥ delay, else elapsed += T;  while in is false: out false, elapsed 0

`out` rises one call later than with `timedelay`. Source: LinuxCNC ton.

>>> on, off, zero = np.array([True]), np.array([False]), np.array([0.0])
>>> function(on, off, zero + 2, delay=zero + 2, tick=1.0)["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("bit", "bit to delay")
out = Out("bit", "in with a delayed rising edge")
elapsed = Out("ms", "time for which in has been true, up to the delay")
delay = Param("0ms", "ms", "time for which in must be true", low="0ms")
tick = Tick("ms")


def function(in_: Array, out: Array, elapsed: Array, *, delay: Array, tick: float) -> dict[str, Array]:
    is_over = elapsed >= delay
    time = np.where(is_over, elapsed, elapsed + tick)
    return {"out": in_ & (is_over | out), "elapsed": np.where(in_, time, 0.0)}
