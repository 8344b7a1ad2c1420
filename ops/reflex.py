"""Compute any Boolean function of up to five inputs from a truth table.

    out = bit number (in-0 + 2 in-1 + 4 in-2 + 8 in-3 + 16 in-4) of the table

Unwired inputs are false, so a table of two inputs uses only bits 0 to 3. Common tables have presets: and2 0x8, or2 0xe,
xor2 0x6 … Source: LinuxCNC lut5, Recall reflex.

>>> function(np.array([[False, True], [True, True]]), table=np.array([0x8]))["out"].tolist()
[False, True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

inputs = Size(5, "number of inputs", high=5)
in_ = In("bit", "bits of the index, lowest first", many="inputs")
out = Out("bit", "selected bit of the table")
table = Param(0, "1", "32-bit table, for example 0xe for or2", low=0, high=0xFFFFFFFF)


def function(in_: Array, *, table: Array) -> dict[str, Array]:
    index = np.packbits(in_, axis=0, bitorder="little")[0]
    return {"out": (table >> index & 1).astype(np.bool_)}
