"""Select one of sixteen inputs by four bits, binary or in Gray code.

    selected = Σ 2^i sel-i, or the number whose Gray code they are;  out = in-selected

With a debounce another selection waits until it has been wanted for so long; going back holds nothing up and does not
restart the wait. With suppress-no-input all bits false means none: everything holds. For other sizes and types use
`route`. Source: LinuxCNC mux16.

>>> ins, off = np.arange(16.0)[:, np.newaxis], np.array([False])
>>> sel = np.array([[False], [True], [True], [False]])
>>> result = function(ins, sel, off, off, off * 0.0, off * 0, off * 0, off, off * 0.0, debounce_time=off * 0.0, tick=1.0)
>>> result["out"].tolist()
[6.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size, Tick

inputs = Size(16, "inputs", low=16, high=16)
bits = Size(4, "bits of the selection", low=4, high=4)
in_ = In("1", "inputs to choose from", many="inputs", nan="kept")
sel = In("bit", "bits of the selection, the first the lowest", many="bits")
use_graycode = In("bit", "the bits are Gray code")
suppress_no_input = In("bit", "all bits false means none: hold")
out = Out("1", "the chosen input")
selected = Out("1", "what the bits say", start=0)
chosen = Out("1", "the selection in force", start=0)
waiting = Out("bit", "another has been wanted")
elapsed = Out("d", "for how long")
debounce_time = Param("0d", "d", "how long another must be wanted", low="0d")
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
