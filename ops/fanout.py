"""Copy one input to the selected output; the other outputs hold their values.

    out-i = in for i = select + Σ 2^j bit-j; the others keep their values

An index past the end selects the last output. To enable outputs individually, use `gate`; for a bar graph, `ladder`.
Source: LinuxCNC demux_generic.

>>> zero, none = np.array([0.0]), np.array([1])
>>> function(zero + 7, none, np.zeros((5, 1), bool), np.zeros((3, 1)))["out"].ravel().tolist()
[0.0, 7.0, 0.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Size

bits = Size(5, "number of index bits", low=1, high=5)
in_ = In("any", "value to copy", nan="kept")
select = In("1", "index of the output", start=0, low=0)
bit = In("bit", "bits added to select, lowest first", many="bits")
out = Out("any", "outputs; the state of the op", many=32)


def function(in_: Array, select: Array, bit: Array, out: Array) -> dict[str, Array]:
    index = np.maximum(select, 0) + np.packbits(bit, axis=0, bitorder="little")[0]
    here = np.arange(len(out))[:, np.newaxis] == np.minimum(index, len(out) - 1)
    return {"out": np.where(here, in_, out)}
