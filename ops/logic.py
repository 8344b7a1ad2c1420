"""Combine up to sixteen bits: and, or, xor, nand and nor.

    and = every in-i;  or = any in-i;  xor = an odd number of them;  nand = not and;  nor = not or

For any other truth table of up to five bits, use `reflex`. Source: LinuxCNC logic.

>>> result = function(np.array([[True], [False], [True]]))
>>> [bool(result[name][0]) for name in ("and_", "or_", "xor", "nand", "nor")]
[False, True, False, True, False]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("bit", "bits to combine", many=16)
and_ = Out("bit", "all are true")
or_ = Out("bit", "at least one is true")
xor = Out("bit", "an odd number is true")
nand = Out("bit", "at least one is false")
nor = Out("bit", "none is true")


def function(in_: Array) -> dict[str, Array]:
    every, some = in_.all(axis=0), in_.any(axis=0)
    return {"and_": every, "or_": some, "xor": np.logical_xor.reduce(in_, axis=0), "nand": ~every, "nor": ~some}
