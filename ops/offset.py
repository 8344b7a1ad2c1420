"""Add an offset on the way out and take it off the feedback on the way back.

    out = in + offset;  fb-out = fb-in − offset

Source: LinuxCNC offset.

>>> import numpy as np
>>> one = np.array([1.0])
>>> {name: values.tolist() for name, values in function(one, 3 * one, 5 * one).items()}
{'fb_out': [2.0], 'out': [4.0]}
"""

from ops.pin import Array, In, Out

in_ = In("1", "value on its way out", nan="passes")
offset = In("1", "what is added", nan="passes")
fb_in = In("1", "value on its way back", nan="passes")
out = Out("1", "in, with the offset")
fb_out = Out("1", "fb-in, without it")


def function(in_: Array, offset: Array, fb_in: Array) -> dict[str, Array]:
    return back(offset, fb_in) | forth(in_, offset)


def back(offset: Array, fb_in: Array) -> dict[str, Array]:
    """Subtract the offset only."""
    return {"fb_out": fb_in - offset}


def forth(in_: Array, offset: Array) -> dict[str, Array]:
    """Add the offset only."""
    return {"out": in_ + offset}
