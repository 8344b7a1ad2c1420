"""Hold a bit until it is reset.

    reset → false;  else set → true;  else a rising clk → data;  else as before

A clk edge during set or reset is used up; clk true at the first call is an edge. Source: LinuxCNC flipflop.

>>> on, off = np.array([True]), np.array([False])
>>> function(off, off, on, off, off, off)["out"].tolist(), function(off, off, on, on, on, off)["out"].tolist()
([True], [False])
"""

import numpy as np

from ops.pin import Array, In, Out

data = In("bit", "what a rising clk takes")
clk = In("bit", "takes data on its rising edge")
set_ = In("bit", "make out true")
reset = In("bit", "make out false, before anything else")
out = Out("bit", "the held bit")
out_not = Out("bit", "its opposite")
clocked = Out("bit", "clk at the last call")


def function(data: Array, clk: Array, set_: Array, reset: Array, out: Array, clocked: Array) -> dict[str, Array]:
    after_clock = np.where(clk & ~clocked, data, out)
    value = (after_clock | set_) & ~reset
    return {"out": value, "out_not": ~value, "clocked": clk}
