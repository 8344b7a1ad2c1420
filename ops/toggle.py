"""Toggle a bit at each press of a button.

    in true: count rises to debounce, where out flips once;  in false: count falls to 0, where the button is re-armed

Source: LinuxCNC toggle.

>>> on, off = np.array([True]), np.array([False])
>>> function(on, off, np.array([1]), off, debounce=np.array([2]))["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("bit", "button")
out = Out("bit", "toggled bit")
count = Out("calls", "calls counted toward debounce", start=0)
pressed = Out("bit", "out has flipped and the button is not yet re-armed")
debounce = Param(2, "calls", "calls that a press must last", low=1, high=10000)


def function(in_: Array, out: Array, count: Array, pressed: Array, *, debounce: Array) -> dict[str, Array]:
    presses = np.where(in_, np.minimum(count + 1, debounce), np.maximum(count - 1, 0))
    turns = in_ & (presses >= debounce) & ~pressed
    return {"out": out ^ turns, "count": presses, "pressed": (pressed | turns) & (in_ | (presses > 0))}
