"""Show a level as a bar graph, with one bit per segment.

    level = max(index limited to n − 1, 1 + the highest true bit-i);  out-i = i < level

The index alone never lights the last output, as in HAL; a bit lights its own output and all outputs below. To light a
single output, use `demux`. Source: LinuxCNC demux with bargraph.

>>> bits = np.array([[False], [True], [False]])
>>> function(np.array([0]), bits)["out"].ravel().tolist()
[True, True, False]
"""

import numpy as np

from ops.pin import Array, In, Out

index = In("1", "number of outputs to light; never the last output", start=0, low=0)
bit = In("bit", "severities; the highest true bit counts", many="outputs")
out = Out("bit", "bits of the bar graph", many=32)


def function(index: Array, bit: Array) -> dict[str, Array]:
    step = np.arange(len(bit))[:, np.newaxis]
    from_bits = np.logical_or.accumulate(bit[::-1])[::-1]
    return {"out": from_bits | (step < np.minimum(index, len(bit) - 1))}
