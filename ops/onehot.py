"""Decode an index: one output is true, or none if the index is out of range.

    out-i = enable and i = index

If an index past the end means the last output, use `demux`. Source: LinuxCNC select8.

>>> function(np.array([1, 9]), np.array([True, True]), outputs=2)["out"].tolist()
[[False, False], [True, False]]
"""

import numpy as np

from ops.pin import Array, In, Out, Size

outputs = Size(8, "number of outputs", high=32)
index = In("1", "index of the true output", start=0)
enable = In("bit", "if false, every output is false", start=True)
out = Out("bit", "outputs; the selected one is true", many="outputs")


def function(index: Array, enable: Array, *, outputs: int) -> dict[str, Array]:
    return {"out": (np.arange(outputs)[:, np.newaxis] == index) & enable}
