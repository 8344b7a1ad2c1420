"""Select which input feeds the next op.

    wanted = select + Σ 2^i bit-i, waiting while it differs from selected for less than debounce;  out = in-selected

An index past the end picks the last input. While waiting, or where nothing is wanted and suppress-no-input, out
holds; going back ends the wait, wanting something else does not restart it. Out has the inputs' type. Source:
LinuxCNC mux_generic (mux2, mux4, mux8).

>>> two, none, off = np.array([[1.0], [2.0]]), np.array([0]), np.array([False])
>>> function(two, none + 7, np.zeros((5, 1), bool), np.array([0.0]), none, np.array([0.0]), suppress_no_input=off,
...          debounce=np.array([0.0]), tick=1.0)["out"].tolist()
[2.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size, Tick

bits = Size(5, "bits of the index", low=1, high=5)
in_ = In("any", "inputs to choose from", many=32, nan="passes")
select = In("1", "index of the input", start=0, low=0)
bit = In("bit", "bits added to select, the first the lowest", many="bits")
out = Out("any", "the chosen input")
selected = Out("1", "the index in force", start=0)
elapsed = Out("ms", "how long another has been wanted")
suppress_no_input = Param(False, "bit", "an index of 0 means none: keep what there is")
debounce = Param("0ms", "ms", "how long another must be wanted", low="0ms")
tick = Tick("ms")


def function(
    in_: Array, select: Array, bit: Array, out: Array, selected: Array, elapsed: Array, *,
    suppress_no_input: Array, debounce: Array, tick: float,
) -> dict[str, Array]:  # fmt: skip
    index = np.maximum(select, 0) + np.packbits(bit, axis=0, bitorder="little")[0]
    idle = suppress_no_input & (index == 0)
    waits = (index != selected) & (elapsed < debounce) & ~idle
    holds = idle | waits
    source = in_[np.minimum(index, len(in_) - 1), np.arange(in_.shape[1])]
    return {
        "out": np.where(holds, out, source),
        "selected": np.where(holds, selected, index),
        "elapsed": np.where(waits, elapsed + tick, np.where(idle, elapsed, 0.0)),
    }
