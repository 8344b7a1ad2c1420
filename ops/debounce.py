"""Debounce several bits: pass on a change only after it has lasted for a given number of calls.

    in-i true: count-i rises to delay, then out-i is true;  false: count-i falls to 0, then out-i is false

With a delay of 0, out-i = in-i. For one bit with a delay that can be wired, use `dbounce`. Source: LinuxCNC debounce.

>>> two = np.array([[True], [False]])
>>> function(two, two & False, np.array([[2], [0]]), delay=np.array([2]))["out"].ravel().tolist()
[True, False]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("bit", "bits that may bounce", many=32)
out = Out("bit", "debounced bits", many="inputs")
count = Out("calls", "calls counted toward delay, per bit", start=0, many="inputs")
delay = Param(5, "calls", "calls that a change must last", low=0)


def function(in_: Array, out: Array, count: Array, *, delay: Array) -> dict[str, Array]:
    waits = np.where(in_, count < delay, count > 0)
    return {"out": np.where(waits, out, in_), "count": count + np.where(waits, np.where(in_, 1, -1), 0)}
