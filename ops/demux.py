"""Decode an index: exactly one output is true.

    out-i = (i = index), with the index limited to n − 1

For a bar graph, use `ladder`; to copy a value to the selected output, use `fanout`. Source: LinuxCNC demux.

>>> function(np.array([9]), outputs=3)["out"].ravel().tolist()
[False, False, True]
"""

import numpy as np

from ops.pin import Array, In, Out, Size

outputs = Size(2, "number of outputs", high=32)
index = In("1", "index of the true output", start=0, low=0)
out = Out("bit", "outputs; the selected one is true", many="outputs")


def function(index: Array, *, outputs: int) -> dict[str, Array]:
    return {"out": np.arange(outputs)[:, np.newaxis] == np.minimum(index, outputs - 1)}
