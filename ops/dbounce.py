"""Take over a bit only after it has stood for some calls.

    in true: count rises to delay, then out is true;  in false: count falls to 0, then out is false

It needs delay + 1 more calls one way than the other; 0 passes. For several bits with one delay use `debounce`.
Source: LinuxCNC dbounce.

>>> function(np.array([True]), np.array([2]), np.array([False]), np.array([2]))["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("bit", "bit that may chatter")
delay = In("calls", "calls it must stand", start=5, low=0)
out = Out("bit", "in, without its chatter")
count = Out("calls", "calls counted", start=0)


def function(in_: Array, delay: Array, out: Array, count: Array) -> dict[str, Array]:
    waits = np.where(in_, count < delay, count > 0)
    return {"out": np.where(waits, out, in_), "count": count + np.where(waits, np.where(in_, 1, -1), 0)}
