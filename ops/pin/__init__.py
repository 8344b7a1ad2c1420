"""Names that an op's file imports: the declarations, and the types of its arrays."""

from ops.pin.declare import Array, In, Out, Param, Size, Tick

__all__ = ["Array", "In", "Out", "Param", "Size", "Tick"]
