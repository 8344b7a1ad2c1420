"""Store the latest values of a signal in a ring buffer.

    while enabled: append in with the number of the pass;  if full, drop the new value, or with keep-new the oldest

A reader removes the oldest `take` values before the call appends a value. The stored values are kept-j for j = (first +
0 … held − 1) modulo depth. `accepted` counts all recorded values, `overruns` all lost values. In HAL, depth is the
capacity plus one; here depth is the capacity. Source: LinuxCNC sampler.

>>> on, off, none = np.array([True]), np.array([False]), np.array([0])
>>> ring = function(np.array([7.0]), on, none, np.zeros((2, 1)), np.zeros((2, 1), int), none, none, none, none, none,
...                 keep_new=off)
>>> ring["kept"].ravel().tolist(), ring["held"].tolist()
([7.0, 0.0], [1])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

depth = Size(16, "number of values that can be stored", high=1 << 20)
in_ = In("any", "signal to record", nan="kept")
enable = In("bit", "record", start=True)
take = In("1", "number of oldest values to remove first", start=0, low=0)
kept = Out("any", "ring buffer", many="depth")
stamp = Out("calls", "number of the call in which each value was recorded", start=0, many="depth")
first = Out("1", "index of the oldest value", start=0)
held = Out("1", "number of stored values", start=0)
accepted = Out("1", "number of recorded values", start=0)
overruns = Out("1", "number of lost values", start=0)
passes = Out("calls", "calls so far", start=0)
lost = Out("bit", "a value was lost in this call")
curr_depth = Out("1", "number of stored values, plus 1 if a value was lost in this call, as in HAL", start=0)
full = Out("bit", "a value was lost, or would have been lost if enabled")
keep_new = Param(False, "bit", "when full, drop the oldest value instead of the new one")


def function(
    in_: Array, enable: Array, take: Array, kept: Array, stamp: Array, first: Array, held: Array, accepted: Array,
    overruns: Array, passes: Array, *, keep_new: Array,
) -> dict[str, Array]:  # fmt: skip
    depth = len(kept)
    takes = np.minimum(np.maximum(take, 0), held)
    start, rest = first + takes, held - takes
    fits = rest < depth
    lost = enable & ~fits
    appends = enable & (keep_new | ~lost)
    here = appends & (np.arange(depth)[:, np.newaxis] == (start + rest) % depth)
    now = passes + 1
    return {
        "kept": np.where(here, in_, kept),
        "stamp": np.where(here, now, stamp),
        "first": (start + (lost & keep_new)) % depth,
        "held": np.minimum(rest + appends, depth),
        "accepted": accepted + appends,
        "overruns": overruns + lost,
        "passes": now,
        "lost": lost,
        "curr_depth": np.minimum(rest + appends, depth) + lost,
        "full": ~fits,
    }
