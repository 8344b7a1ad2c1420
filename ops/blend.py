"""Mix two inputs.

    out = in1 · s + in2 · (1 − s),  s = select, limited to 0 … 1 unless open

Source: LinuxCNC blend.

>>> one = np.array([1.0])
>>> function(one, one * 3, one * 2, open=np.array([False]))["out"].tolist()
[1.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in1 = In("1", "value for select 1", nan="passes")
in2 = In("1", "value for select 0", nan="passes")
select = In("1", "share of in1", nan="passes")
out = Out("1", "mixed value")
open = Param(False, "bit", "allow select to lie outside 0 … 1")


def function(in1: Array, in2: Array, select: Array, *, open: Array) -> dict[str, Array]:  # noqa: A002
    share = np.where(open, select, np.minimum(np.maximum(select, 0.0), 1.0))
    return {"out": in1 * share + in2 * (1.0 - share)}
