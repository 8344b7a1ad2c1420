"""Drop out on any fault, and recover only on a new rising edge of reset.

    healthy = ok-in and not fault-in;  ok-out = healthy and (ok-out or a rising reset);  fault-out = not ok-out

The op starts in the faulted state. A reset that stays true does not clear the fault, and an edge during a fault has no
later effect. While ok-out is true, `watchdog` flips at each call. Source: LinuxCNC estop_latch.

>>> import numpy as np
>>> on, off = np.array([True]), np.array([False])
>>> function(on, off, on, off, off, off)["ok_out"].tolist()
[True]
"""

from ops.pin import Array, In, Out

ok_in = In("bit", "true if there is no fault upstream", start=True)
fault_in = In("bit", "fault")
reset = In("bit", "clear the fault on the rising edge")
ok_out = Out("bit", "no fault")
fault_out = Out("bit", "latched fault", start=True)
watchdog = Out("bit", "flips at each call while ok-out is true")
reset_before = Out("bit", "reset at the previous call")


def function(
    ok_in: Array, fault_in: Array, reset: Array, ok_out: Array, watchdog: Array, reset_before: Array
) -> dict[str, Array]:
    ok = ok_in & ~fault_in & (ok_out | (reset & ~reset_before))
    return {"ok_out": ok, "fault_out": ~ok, "watchdog": watchdog ^ ok, "reset_before": reset}
