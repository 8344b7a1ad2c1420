"""Declarations and array types that each op's module imports."""

from ops.pin.declare import Array, In, Out, Param, Size, Tick

__all__ = ["Array", "In", "Out", "Param", "Size", "Tick"]
