"""Debounce a bit: pass on a change only after it has lasted for a given number of calls.

    in true: count rises to delay, then out is true;  in false: count falls to 0, then out is false

For a change, `in` must be in the new state for delay + 1 calls more than in the old state. With a delay of 0, out = in.
For several bits with one delay, use `debounce`. Source: LinuxCNC dbounce.

>>> function(np.array([True]), np.array([2]), np.array([False]), np.array([2]))["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("bit", "bit that may bounce")
delay = In("calls", "calls that a change must last", start=5, low=0)
out = Out("bit", "debounced bit")
count = Out("calls", "calls counted toward delay", start=0)


def function(in_: Array, delay: Array, out: Array, count: Array) -> dict[str, Array]:
    waits = np.where(in_, count < delay, count > 0)
    return {"out": np.where(waits, out, in_), "count": count + np.where(waits, np.where(in_, 1, -1), 0)}
