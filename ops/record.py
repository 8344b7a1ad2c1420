"""Keep the last values of a signal in a ring.

    while enabled: append in with the number of the pass;  when full the new one is dropped, or where keep-new the oldest

A reader takes the oldest `take` values before the call appends. The values kept are kept-j, j = (first + 0 … held −
1) modulo depth; accepted counts those ever taken in, so a gap shows in `overruns`. HAL's depth is one more than what
it can hold; here depth is what it can hold. Source: LinuxCNC sampler.

>>> on, off, none = np.array([True]), np.array([False]), np.array([0])
>>> ring = function(np.array([7.0]), on, none, np.zeros((2, 1)), np.zeros((2, 1), int), none, none, none, none, none,
...                 keep_new=off)
>>> ring["kept"].ravel().tolist(), ring["held"].tolist()
([7.0, 0.0], [1])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

depth = Size(16, "values it can hold", high=1 << 20)
in_ = In("any", "signal to record", nan="kept")
enable = In("bit", "record", start=True)
take = In("1", "values a reader takes first, the oldest", start=0, low=0)
kept = Out("any", "the ring", many="depth")
stamp = Out("calls", "the pass each was recorded in", start=0, many="depth")
first = Out("1", "where the oldest stands", start=0)
held = Out("1", "values kept", start=0)
accepted = Out("1", "values ever recorded", start=0)
overruns = Out("1", "values lost", start=0)
passes = Out("calls", "calls so far", start=0)
lost = Out("bit", "a value was lost in this call")
curr_depth = Out("1", "values kept, and one more where one was lost, as HAL counts", start=0)
full = Out("bit", "one was lost, or while not enabled none would fit")
keep_new = Param(False, "bit", "when full, lose the oldest instead of the new")


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
