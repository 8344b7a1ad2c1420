"""Declarations in an op's file: `In`, `Out`, `Param`, `Size` and `Tick`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ops.pin.units import is_time, number

__all__ = ["NAN", "Array", "In", "Nan", "Out", "Param", "Pin", "Size", "Tick", "Type", "bound"]

Array: TypeAlias = NDArray[Any]
Start: TypeAlias = float | bool | str
Type: TypeAlias = Literal["float", "int", "bit", "any"]
Nan: TypeAlias = Literal["", "passes", "lingers", "sticks", "kept", "compares false", "flagged"]

NAN: dict[Nan, str] = {
    "": "cannot be NaN",
    "passes": "NaN makes an output NaN in that call, and is gone with the next good value",
    "lingers": "NaN stays in the outputs for a bounded number of calls",
    "sticks": "NaN stays in the outputs until a reset, a load or a fresh start",
    "kept": "NaN is a value like any other: stored where it would be, and gone when it is replaced",
    "compares false": "NaN fails every comparison, and no output turns NaN",
    "flagged": "NaN raises the output that says so",
}


class Pin:
    """Properties of all pins and parameters: unit, meaning, start value, and number of pins in the family."""

    unit: str
    meaning: str
    start: Start | None
    many: int | str

    @property
    def type(self) -> Type:
        """`bit` and `any` by the unit's name; else the type of the start: `0` is an int, `0.0` a float."""
        if self.unit in ("bit", "any"):
            return "bit" if self.unit == "bit" else "any"
        return "int" if isinstance(self.start, int) else "float"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the pin's arrays; an `any` pin holds floats unless its op was loaded for another type."""
        return np.dtype({"bit": np.bool_, "int": np.int64}.get(self.type, np.float64))

    @property
    def first(self) -> float | bool:
        """The start as a number in the pin's own unit."""
        if isinstance(self.start, str):
            return number(self.start, unit=self.unit, where="start")
        return 0.0 if self.start is None else self.start


@dataclass(frozen=True)
class In(Pin):
    """A value the op reads each call; unwired it keeps its start.

    `many=32` makes it `in-0 …`, at most 32, sized by `inputs` where the op is loaded; `many="window"` takes the
    size of that name. `nan` says what NaN on it does; a float must say.
    """

    unit: str
    meaning: str
    _: KW_ONLY
    start: Start | None = None
    many: int | str = 0
    low: float | str | None = None
    high: float | str | None = None
    nan: Nan = ""


@dataclass(frozen=True)
class Out(Pin):
    """A value the op writes each call; where the function also takes it, it is state. Sized by `outputs`."""

    unit: str
    meaning: str
    _: KW_ONLY
    start: Start | None = None
    many: int | str = 0


@dataclass(frozen=True)
class Param(Pin):
    """A setting: constant through a run, or one number a row; never NaN. Its bounds are refused at load."""

    start: Start
    unit: str
    meaning: str
    _: KW_ONLY
    low: float | str | None = None
    high: float | str | None = None
    many: int | str = 0


@dataclass(frozen=True)
class Size:
    """Number of pins in a family of like pins; chosen where the op is loaded, the same for all its rows.

    The function may take it, as a plain int; usually the shape of a family's array shows it.
    """

    start: int
    meaning: str
    _: KW_ONLY
    low: int = 1
    high: int = 1024


@dataclass(frozen=True)
class Tick:
    """The length of the tick, in the one unit of time the op sees. Declaring it makes the op run by the clock."""

    unit: Literal["ms", "d"]
    meaning: str = "length of the tick"

    def __post_init__(self) -> None:
        """Raise `OpError` for a unit that is not a unit of time."""
        if not is_time(self.unit):
            msg = f"a tick is a length of time, not {self.unit!r}"
            raise ValueError(msg)


def bound(pin: Pin, side: Literal["low", "high"]) -> float:
    """Return the pin's lowest or highest value as a number in its unit, or NaN where it has none."""
    given = getattr(pin, side, None)
    if given is None:
        return np.nan
    return number(given, unit=pin.unit, where=f"{pin.meaning}: {side}") if isinstance(given, str) else float(given)
