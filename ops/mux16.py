"""Select one of sixteen inputs by four bits, in binary or Gray code.

    selected = Σ 2^i sel-i, or the number with this Gray code;  out = in-selected

With a debounce-time, a new selection takes effect only after lasting that long; a return to the current selection takes
effect at once and does not restart the wait. With suppress-no-input, all outputs hold while all bits are false. For
other sizes and types, use `route`. Source: LinuxCNC mux16.

>>> ins, off = np.arange(16.0)[:, np.newaxis], np.array([False])
>>> sel = np.array([[False], [True], [True], [False]])
>>> result = function(ins, sel, off, off, off * 0.0, off * 0, off * 0, off, off * 0.0, debounce_time=off * 0.0, tick=1.0)
>>> result["out"].tolist()
[6.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size, Tick

inputs = Size(16, "number of inputs", low=16, high=16)
bits = Size(4, "number of selection bits", low=4, high=4)
in_ = In("1", "inputs to choose from", many="inputs", nan="kept")
sel = In("bit", "bits of the selection, lowest first", many="bits")
use_graycode = In("bit", "read the bits as a Gray code")
suppress_no_input = In("bit", "hold while all bits are false")
out = Out("1", "selected input")
selected = Out("1", "number given by the bits", start=0)
chosen = Out("1", "current selection", start=0)
waiting = Out("bit", "another selection is waiting")
elapsed = Out("d", "time that the other selection has waited")
debounce_time = Param("0d", "d", "time that a new selection must last", low="0d")
tick = Tick("d")


def function(
    in_: Array, sel: Array, use_graycode: Array, suppress_no_input: Array, out: Array,
    selected: Array, chosen: Array, waiting: Array, elapsed: Array, *, debounce_time: Array,
    tick: float,
) -> dict[str, Array]:  # fmt: skip
    binary = np.packbits(sel, axis=0, bitorder="little")[0].astype(np.int64)
    gray = binary ^ (binary >> 1) ^ (binary >> 2) ^ (binary >> 3)
    idle = suppress_no_input & (binary == 0)
    number = np.where(idle, selected, np.where(use_graycode, gray, binary))
    other = (debounce_time != 0.0) & (number != chosen) & ~idle
    since = np.where(other & ~waiting, 0.0, elapsed)
    holds = other & (since < debounce_time)
    takes = other & ~holds
    return {
        "out": np.where(idle | holds, out, in_[number, np.arange(in_.shape[1])]),
        "selected": number,
        "chosen": np.where(takes, number, chosen),
        "waiting": np.where(other, holds, waiting),
        "elapsed": np.where(holds, since + tick, since),
    }
