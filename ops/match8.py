"""Compare two groups of eight bits.

    out = in and (a-m = b-m for m = 0 … 7)

`in` is the cascade input: wire the `out` of one match8 to the `in` of the next to compare longer words. Source:
LinuxCNC match8.

>>> import numpy as np
>>> code = np.array([[True], [False], [True], [True], [False], [False], [False], [True]])
>>> function(np.array([True]), code, code)["out"].tolist(), function(np.array([True]), code, ~code)["out"].tolist()
([True], [False])
"""

from ops.pin import Array, In, Out, Size

bits = Size(8, "number of bits per word", low=8, high=8)
in_ = In("bit", "cascade input; if false, out is false", start=True)
a = In("bit", "bits of the first word", many="bits")
b = In("bit", "bits of the second word", many="bits")
out = Out("bit", "in is true and the words are equal")


def function(in_: Array, a: Array, b: Array) -> dict[str, Array]:
    return {"out": in_ & (a == b).all(axis=0)}
