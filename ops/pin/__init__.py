"""Declarations and array types that the file of an op imports."""

from ops.pin.declare import Array, In, Out, Param, Size, Tick

__all__ = ["Array", "In", "Out", "Param", "Size", "Tick"]
