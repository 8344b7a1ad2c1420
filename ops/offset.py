"""Add an offset to an outgoing value and subtract it from the feedback value.

    out = in + offset;  fb-out = fb-in − offset

Source: LinuxCNC offset.

>>> import numpy as np
>>> one = np.array([1.0])
>>> {name: values.tolist() for name, values in function(one, 3 * one, 5 * one).items()}
{'fb_out': [2.0], 'out': [4.0]}
"""

from ops.pin import Array, In, Out

in_ = In("1", "outgoing value", nan="passes")
offset = In("1", "value to add", nan="passes")
fb_in = In("1", "feedback", nan="passes")
out = Out("1", "in plus the offset")
fb_out = Out("1", "fb-in minus the offset")


def function(in_: Array, offset: Array, fb_in: Array) -> dict[str, Array]:
    return back(offset, fb_in) | forth(in_, offset)


def back(offset: Array, fb_in: Array) -> dict[str, Array]:
    """Compute the corrected feedback only."""
    return {"fb_out": fb_in - offset}


def forth(in_: Array, offset: Array) -> dict[str, Array]:
    """Compute the outgoing value only."""
    return {"out": in_ + offset}
