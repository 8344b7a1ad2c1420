"""Fall on any fault, and come back only on a fresh reset.

    healthy = ok-in and not fault-in;  ok-out = healthy and (ok-out or a rising reset);  fault-out = not ok-out

It starts faulted. A reset held true does not bring it back, and an edge during the fault is used up. While ok,
watchdog turns over each call. Source: LinuxCNC estop_latch.

>>> import numpy as np
>>> on, off = np.array([True]), np.array([False])
>>> function(on, off, on, off, off, off)["ok_out"].tolist()
[True]
"""

from ops.pin import Array, In, Out

ok_in = In("bit", "all is well upstream", start=True)
fault_in = In("bit", "something is wrong")
reset = In("bit", "come back, on its rising edge")
ok_out = Out("bit", "all is well")
fault_out = Out("bit", "latched fault", start=True)
watchdog = Out("bit", "turns over each call while ok")
reset_before = Out("bit", "reset at the last call")


def function(
    ok_in: Array, fault_in: Array, reset: Array, ok_out: Array, watchdog: Array, reset_before: Array
) -> dict[str, Array]:
    ok = ok_in & ~fault_in & (ok_out | (reset & ~reset_before))
    return {"ok_out": ok, "fault_out": ~ok, "watchdog": watchdog ^ ok, "reset_before": reset}
