"""Generate a heartbeat: a bit that flips at every call, and two slower bits.

    count += enable;  out, out-2, out-4 = the first three bits of count, false unless enable

A `watchdog` on `out` trips when the thread stops or `enable` falls. Source: LinuxCNC charge_pump.

>>> function(np.array([True]), np.array([1]))["out_2"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out

enable = In("bit", "run; if false, every output is false", start=True)
count = Out("1", "calls while enabled; the op's whole state", start=0)
out = Out("bit", "flips at every call")
out_2 = Out("bit", "flips at every second call")
out_4 = Out("bit", "flips at every fourth call")


def function(enable: Array, count: Array) -> dict[str, Array]:
    beats = count + enable
    on = [enable & ((beats >> bit) & 1).astype(np.bool_) for bit in range(3)]
    return {"count": beats, "out": on[0], "out_2": on[1], "out_4": on[2]}
