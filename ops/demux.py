"""Turn an index into one true bit.

    out-i = (i = index), the index at most n − 1

For a bar of bits use `ladder`, to copy a value to the chosen output `fanout`. Source: LinuxCNC demux.

>>> function(np.array([9]), np.zeros((3, 1), bool))["out"].ravel().tolist()
[False, False, True]
"""

import numpy as np

from ops.pin import Array, In, Out

index = In("1", "which output is true", start=0, low=0)
out = Out("bit", "the chosen one is true; its number is all the op keeps", many=32)


def function(index: Array, out: Array) -> dict[str, Array]:
    return {"out": np.arange(len(out))[:, np.newaxis] == np.minimum(index, len(out) - 1)}
