"""Turn an index into one true bit.

    out-i = (i = index), the index at most n − 1

For a bar of bits use `ladder`, to copy a value to the chosen output `fanout`. Source: LinuxCNC demux.

>>> function(np.array([9]), outputs=3)["out"].ravel().tolist()
[False, False, True]
"""

import numpy as np

from ops.pin import Array, In, Out, Size

outputs = Size(2, "outputs", high=32)
index = In("1", "which output is true", start=0, low=0)
out = Out("bit", "the chosen one is true", many="outputs")


def function(index: Array, *, outputs: int) -> dict[str, Array]:
    return {"out": np.arange(outputs)[:, np.newaxis] == np.minimum(index, outputs - 1)}
