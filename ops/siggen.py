"""Generate test signals.

    index += T · frequency, minus 1 if it exceeds 1;  s = 2 index − 1
    sawtooth = s;  triangle = 1 − 2 |s|;  square = ±1 and clock true for index > 0.5;  sine, cosine of 2π index
    all except clock times amplitude, plus offset

Source: LinuxCNC siggen.

>>> one, off, zero = np.array([1.0]), np.array([False]), np.array([0.0])
>>> function(one, one, zero, off, zero, tick=0.75)["sawtooth"].tolist()
[0.5]
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

frequency = In("1/d", "number of cycles per unit of time", start=1.0, low=0.0, nan="sticks")
amplitude = In("1", "amplitude: half the peak-to-peak value", start=1.0, nan="passes")
offset = In("1", "mean value", nan="passes")
reset = In("bit", "hold the signals in the middle of the cycle")
sawtooth = Out("1", "sawtooth rising from −1 to 1")
triangle = Out("1", "triangle wave")
square = Out("1", "square wave: −1, then 1")
sine = Out("1", "sine wave")
cosine = Out("1", "cosine wave")
clock = Out("bit", "clock: false, then true")
index = Out("1", "elapsed share of the cycle; the state of the op")
tick = Tick("d")


def function(
    frequency: Array, amplitude: Array, offset: Array, reset: Array, index: Array, *, tick: float
) -> dict[str, Array]:
    phase = np.where(reset, 0.5, index + tick * frequency)
    index = np.where(phase > 1.0, phase - 1.0, phase)
    ramp = index * 2.0 - 1.0
    clock = index > 0.5  # noqa: PLR2004 - half a cycle
    angle = 2.0 * np.pi * index
    return {
        "sawtooth": ramp * amplitude + offset,
        "triangle": (1.0 - 2.0 * np.abs(ramp)) * amplitude + offset,
        "square": np.where(clock, amplitude, -amplitude) + offset,
        "sine": np.sin(angle) * amplitude + offset,
        "cosine": np.cos(angle) * amplitude + offset,
        "clock": clock,
        "index": index,
    }
