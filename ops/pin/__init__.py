"""What an op's file imports: the declarations, and the arrays its function takes and gives."""

from ops.pin.declare import Array, In, Out, Param, Size, Tick

__all__ = ["Array", "In", "Out", "Param", "Size", "Tick"]
