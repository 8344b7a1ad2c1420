"""Trip when a value has not changed for too long.

    arm: a rising enable, while ok is false, sets every time-left-i to timeout-i and sets ok
    watch, while enable and ok: time-left-i = timeout-i if in-i changed, else time-left-i − T;  below 0, ok falls

A trip is latched until `enable` falls and rises again. The op trips at the first call after more than the timeout, and
pauses while `enable` is false. A changed timeout applies from the next reload. A NaN that stays NaN is unchanged.
Source: LinuxCNC watchdog, set-timeouts then process.

>>> on, off, value = np.array([True]), np.array([False]), np.array([[7.0]])
>>> function(value, on, on, off, value, np.array([[0.5]]), on, timeout=np.array([[9.0]]), tick=1.0)["tripped"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("any", "values that must keep changing", many=32, nan="kept")
enable = In("bit", "watch the values; a rising edge arms the op")
ok = Out("bit", "armed, and all values are changing")
tripped = Out("bit", "a value stopped changing; stays true until the op is armed again")
seen = Out("any", "values at the previous call", many="inputs")
time_left = Out("ms", "remaining time of each value", many="inputs")
enabled = Out("bit", "enable at the previous call")
timeout = Param("0ms", "ms", "longest time that each value may stay the same", low="0ms", many="inputs")
tick = Tick("ms")


def function(
    in_: Array, enable: Array, ok: Array, tripped: Array, seen: Array, time_left: Array, enabled: Array, *,
    timeout: Array, tick: float,
) -> dict[str, Array]:  # fmt: skip
    state = arm(enable, ok, tripped, time_left, enabled, timeout)
    return state | watch(in_, enable, state["ok"], state["tripped"], seen, state["time_left"], timeout, tick)


def arm(enable: Array, ok: Array, tripped: Array, time_left: Array, enabled: Array, timeout: Array) -> dict[str, Array]:
    """Reload the timer and clear the alarm on a rising edge of enable."""
    arms = enable & ~enabled & ~ok
    left = np.where(arms, timeout, time_left)
    return {"ok": ok | arms, "tripped": tripped & ~arms, "time_left": left, "enabled": enable}


def watch(
    in_: Array, enable: Array, ok: Array, tripped: Array, seen: Array, time_left: Array, timeout: Array, tick: float
) -> dict[str, Array]:
    """Reload the timer of each input that has changed, and count the other timers down."""
    runs = enable & ok
    changes = (in_ != seen) & ~(np.isnan(in_) & np.isnan(seen))
    left = np.where(runs, np.where(changes, timeout, time_left - tick), time_left)
    silent = runs & (left < 0).any(axis=0)
    return {"ok": ok & ~silent, "tripped": tripped | silent, "seen": np.where(runs, in_, seen), "time_left": left}
