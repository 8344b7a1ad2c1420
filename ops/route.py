"""Select one of several inputs by index.

    index = select + Σ 2^i bit-i;  selected = index once it has differed for debounce;  out = in-selected

An index past the end selects the last input. `out` holds during the wait and, with suppress-no-input, while the index
is 0. A return to the selected input ends the wait; a third index does not restart the wait. `out` has the type of the
inputs. Source: LinuxCNC mux_generic (mux2, mux4, mux8).

>>> two, none, off = np.array([[1.0], [2.0]]), np.array([0]), np.array([False])
>>> function(two, none + 7, np.zeros((5, 1), bool), np.array([0.0]), none, np.array([0.0]), suppress_no_input=off,
...          debounce=np.array([0.0]), tick=1.0)["out"].tolist()
[2.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size, Tick

bits = Size(5, "number of index bits", low=1, high=5)
in_ = In("any", "inputs to choose from", many=32, nan="passes")
select = In("1", "index of the input", start=0, low=0)
bit = In("bit", "bits added to select, lowest first", many="bits")
out = Out("any", "selected input")
selected = Out("1", "current index", start=0)
elapsed = Out("ms", "time for which another index has lasted")
suppress_no_input = Param(False, "bit", "hold while the index is 0")
debounce = Param("0ms", "ms", "time for which another index must last", low="0ms")
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
