"""Turn a bit over at each press.

    in true: count rises to debounce, and on reaching it out turns over, once;  in false: count falls, and at 0 it re-arms

Source: LinuxCNC toggle.

>>> on, off = np.array([True]), np.array([False])
>>> function(on, off, np.array([1]), off, debounce=np.array([2]))["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("bit", "button")
out = Out("bit", "what it turns over")
count = Out("calls", "calls counted", start=0)
pressed = Out("bit", "turned over, and not re-armed yet")
debounce = Param(2, "calls", "calls a press must stand", low=1, high=10000)


def function(in_: Array, out: Array, count: Array, pressed: Array, *, debounce: Array) -> dict[str, Array]:
    presses = np.where(in_, np.minimum(count + 1, debounce), np.maximum(count - 1, 0))
    turns = in_ & (presses >= debounce) & ~pressed
    return {"out": out ^ turns, "count": presses, "pressed": (pressed | turns) & (in_ | (presses > 0))}
