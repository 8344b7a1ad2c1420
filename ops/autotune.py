"""Find gains for `pid` by a relay test: drive the plant one way, then the other, and measure the oscillation.

    from a rising start: output = bias ± effort, by the sign of error = command − feedback
    after skip + 1 crossings, over `cycles` half cycles: a = mean peak of |error|, Tu = 2 · time / half cycles
    Ku = 4 effort / (π a);  Pgain = 0.6 Ku, Igain = 1.2 Ku / Tu, Dgain = 0.075 Ku Tu;  then done, and output = bias

Wire `output` to the plant while `running` is true, and the output of `pid` afterwards. `done` stays false if the plant
does not oscillate. In LinuxCNC this test is part of pid. Source: K. J. Åström and T. Hägglund, Automatica 20 (1984);
LinuxCNC pid's tune mode.

>>> one, off, on, none, pin = np.array([1.0]), np.array([False]), np.array([True]), np.array([0]), np.array([0.0])
>>> function(one, 0 * one, on, off, off, off, none, *[pin] * 6, effort=2 * one, cycles=none + 6, skip=none, bias=0 * one,
...          tick=0.1)["output"].tolist()
[2.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

command = In("1", "set point of the oscillation", nan="kept")
feedback = In("1", "measured value", nan="kept")
start = In("bit", "start the test on the rising edge")
output = Out("1", "input to the plant")
running = Out("bit", "the test is running")
done = Out("bit", "the gains have been found")
started = Out("bit", "start at the previous call")
half_cycles = Out("1", "crossings so far", start=0)
side = Out("1", "sign of the error at the previous call")
peak = Out("1", "largest |error| of this half cycle")
peaks = Out("1", "sum of the peaks of all half cycles")
elapsed = Out("1·d", "duration of the measurement so far")
ultimate_gain = Out("1", "ultimate gain Ku")
ultimate_period = Out("1·d", "ultimate period Tu")
Pgain = Out("1", "proportional gain found")
Igain = Out("1/d", "integral gain found")
Dgain = Out("1·d", "derivative gain found")
effort = Param(1.0, "1", "amplitude of the output around bias", low=1e-300)
cycles = Param(20, "1", "number of half cycles to measure", low=2)
skip = Param(10, "1", "number of half cycles to skip while the oscillation settles", low=0)
bias = Param(0.0, "1", "mean of the output")
tick = Tick("d")


def function(
    command: Array, feedback: Array, start: Array, running: Array, done: Array, started: Array, half_cycles: Array,
    side: Array, peak: Array, peaks: Array, elapsed: Array, ultimate_gain: Array, ultimate_period: Array, *,
    effort: Array, cycles: Array, skip: Array, bias: Array, tick: float,
) -> dict[str, Array]:  # fmt: skip
    begins = start & ~started
    runs = running | begins
    error = command - feedback
    now = np.where(error < 0.0, -1.0, 1.0)
    crosses = runs & ~begins & (now != side)
    count = np.where(begins, 0, half_cycles + crosses)
    time_so_far = np.where(begins, 0.0, elapsed) + np.where(runs & (count > crosses + skip), tick, 0.0)
    total = np.where(begins, 0.0, peaks) + np.where(crosses & (count > 1 + skip), peak, 0.0)
    ends = crosses & (count > cycles + skip)
    gain = np.where(ends, 4.0 * effort * cycles / (np.pi * np.where(ends, total, 1.0)), ultimate_gain)
    period = np.where(ends, 2.0 * time_so_far / cycles, ultimate_period)
    return {
        "output": np.where(runs & ~ends, bias + effort * now, bias),
        "running": runs & ~ends,
        "done": (done & ~begins) | ends,
        "started": start,
        "half_cycles": count,
        "side": now,
        "peak": np.where(crosses | begins, np.abs(error), np.maximum(peak, np.abs(error))),
        "peaks": total,
        "elapsed": time_so_far,
        "ultimate_gain": gain,
        "ultimate_period": period,
        "Pgain": 0.6 * gain,
        "Igain": 1.2 * gain / np.where(period > 0.0, period, np.inf),
        "Dgain": 0.075 * gain * period,
    }
