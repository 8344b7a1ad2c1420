"""Hold a bit until it is reset.

    reset → false;  else set → true;  else a rising clk → data;  else unchanged

A clk edge during set or reset has no later effect. If clk is true at the first call, this is an edge. Source: LinuxCNC
flipflop.

>>> on, off = np.array([True]), np.array([False])
>>> function(off, off, on, off, off, off)["out"].tolist(), function(off, off, on, on, on, off)["out"].tolist()
([True], [False])
"""

import numpy as np

from ops.pin import Array, In, Out

data = In("bit", "value that a rising clk stores")
clk = In("bit", "store data on the rising edge")
set_ = In("bit", "set out to true")
reset = In("bit", "set out to false; overrides all other inputs")
out = Out("bit", "held bit")
out_not = Out("bit", "inverted out")
clocked = Out("bit", "clk at the previous call")


def function(data: Array, clk: Array, set_: Array, reset: Array, out: Array, clocked: Array) -> dict[str, Array]:
    after_clock = np.where(clk & ~clocked, data, out)
    value = (after_clock | set_) & ~reset
    return {"out": value, "out_not": ~value, "clocked": clk}
