"""Compare a value with a level, and detect crossings.

    above if in > level + hysteresis / 2;  below if in < level − hysteresis / 2;  in between, unchanged
    rose, fell: now above (below), and below (above) at the previous call

A value equal to the level is below, and so is a first value within the band. NaN is neither above nor below, and a crossing
through NaN does not count. The position of the op in its thread matters. Source: LinuxCNC halscope's trigger, comp.

>>> zero, off, on = np.array([0.0]), np.array([False]), np.array([True])
>>> result = function(zero + 2, zero, off, on, np.array([0]), np.array([4]), hysteresis=zero)
>>> result["above"].tolist(), result["rose"].tolist(), result["since"].tolist()
([True], [True], [0])
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "value to watch", nan="compares false")
level = In("1", "level to compare with", nan="compares false")
above = Out("bit", "in is above the level")
below = Out("bit", "in is not above the level")
rose = Out("bit", "the value crossed upwards in this call")
fell = Out("bit", "the value crossed downwards in this call")
count = Out("1", "number of crossings", start=0)
since = Out("calls", "calls since the last crossing, or since the first call; -1 before it", start=-1)
hysteresis = Param(0.0, "1", "width of the band around the level", low=0.0)


def function(
    in_: Array, level: Array, above: Array, below: Array, count: Array, since: Array, *, hysteresis: Array
) -> dict[str, Array]:
    if np.count_nonzero(hysteresis):
        half = 0.5 * hysteresis
        top = level + half
        stays = above & (in_ >= level - half) & (hysteresis > 0.0)
        is_above, is_below = stays | (in_ > top), (in_ <= top) & ~stays
    else:
        is_above, is_below = in_ > level, in_ <= level
    rose, fell = is_above & below, is_below & above
    since = since + 1
    crosses = rose | fell
    if np.count_nonzero(crosses):
        count, since = count + crosses, since * ~crosses
    return {"above": is_above, "below": is_below, "rose": rose, "fell": fell, "count": count, "since": since}
