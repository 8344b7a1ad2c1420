"""Measure how far a value is from a captured baseline, and detect when the deviation exceeds a limit.

    first call, or a rising capture: baseline = in;  error = in − baseline
    outside is set by |error| > limit and cleared by |error| ≤ limit − hysteresis; drifted follows after hold more calls
    then, if not drifted, baseline += error · adapt

Adaptation stops while `drifted` is true, so that a slow drift is not hidden. If hold, hysteresis and adapt are 0,
drifted = |error| > limit. NaN changes nothing, but a captured NaN stays until the next capture. Source: LinuxCNC
sample_hold, comp and dbounce, Recall drift.

>>> zero, off, none = np.array([0.0]), np.array([False]), np.array([0])
>>> result = function(zero + 3, off, zero + 1, off, off, none, off, none, limit=zero + 1.5, hysteresis=zero,
...                 hold=none, adapt=zero)
>>> result["error"].tolist(), result["drifted"].tolist(), result["age"].tolist()
([2.0], [True], [1])
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "value to watch", nan="passes")
capture = In("bit", "set the baseline to in on the rising edge")
error = Out("1", "in − baseline")
drifted = Out("bit", "|error| is beyond the limit, after the hold")
baseline = Out("1", "captured value")
age = Out("calls", "calls since the capture; -1 before the first call", start=-1)
outside = Out("bit", "|error| is beyond the limit, before the hold")
held = Out("calls", "calls counted toward hold", start=0)
captured = Out("bit", "capture at the previous call")
limit = Param(0.1, "1", "largest allowed |error|", low=0.0)
hysteresis = Param(0.0, "1", "distance below the limit to which |error| must return", low=0.0)
hold = Param(0, "calls", "number of additional calls that a change must last", low=0)
adapt = Param(0.0, "1", "share of the error added to the baseline in each call", low=0.0, high=1.0)


def function(
    in_: Array, capture: Array, baseline: Array, drifted: Array, outside: Array, held: Array, captured: Array,
    age: Array, *, limit: Array, hysteresis: Array, hold: Array, adapt: Array,
) -> dict[str, Array]:  # fmt: skip
    starts = (age < 0) | (capture & ~captured)
    base = np.where(starts, in_, baseline)
    error = in_ - base
    size = np.abs(error)
    out = (size > limit) | (outside & ~(size <= limit - hysteresis))
    waiting = np.where(out, held < hold, held > 0)
    is_out = np.where(waiting, drifted, out)
    takes = ~is_out & (adapt > 0.0) & ~np.isnan(error)
    return {
        "error": error,
        "drifted": is_out,
        "baseline": np.where(takes, base + error * adapt, base),
        "age": np.where(starts, 0, age + 1),
        "outside": out,
        "held": held + np.where(waiting, np.where(out, 1, -1), 0),
        "captured": capture,
    }
