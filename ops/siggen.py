"""Make test signals.

    index += T · frequency, less 1 where it passes 1;  s = 2 index − 1
    sawtooth = s;  triangle = 1 − 2 |s|;  square = ±1 and clock where index > 0.5;  sine, cosine of 2π index
    each but clock times amplitude, plus offset

Source: LinuxCNC siggen.

>>> one, off, zero = np.array([1.0]), np.array([False]), np.array([0.0])
>>> function(one, one, zero, off, zero, tick=0.75)["sawtooth"].tolist()
[0.5]
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

frequency = In("1/d", "cycles in a unit of time", start=1.0, low=0.0, nan="sticks")
amplitude = In("1", "half of what it swings over", start=1.0, nan="passes")
offset = In("1", "middle of the swing", nan="passes")
reset = In("bit", "hold it in the middle of its cycle")
sawtooth = Out("1", "rises from −1 to 1")
triangle = Out("1", "rises and falls")
square = Out("1", "−1, then 1")
sine = Out("1", "sine")
cosine = Out("1", "cosine")
clock = Out("bit", "false, then true")
index = Out("1", "share of the cycle done; the op's whole state")
tick = Tick("d")


def function(
    frequency: Array, amplitude: Array, offset: Array, reset: Array, index: Array, *, tick: float
) -> dict[str, Array]:
    phase = np.where(reset, 0.5, index + tick * frequency)
    at = np.where(phase > 1.0, phase - 1.0, phase)
    ramp = at * 2.0 - 1.0
    clock = at > 0.5  # noqa: PLR2004 - half a cycle
    angle = 2.0 * np.pi * at
    return {
        "sawtooth": ramp * amplitude + offset,
        "triangle": (1.0 - 2.0 * np.abs(ramp)) * amplitude + offset,
        "square": np.where(clock, amplitude, -amplitude) + offset,
        "sine": np.sin(angle) * amplitude + offset,
        "cosine": np.cos(angle) * amplitude + offset,
        "clock": clock,
        "index": at,
    }
