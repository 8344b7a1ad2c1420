"""Declarations in an op's module: `In`, `Out`, `Param`, `Size` and `Tick`."""

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
    "passes": "NaN makes an output NaN in that call only",
    "lingers": "NaN stays in the outputs for a bounded number of calls",
    "sticks": "NaN stays in the outputs until a reset, a load or a new start",
    "kept": "NaN is stored like any other value, until it is replaced",
    "compares false": "NaN fails every comparison, and no output becomes NaN",
    "flagged": "NaN sets the output that reports it",
}


class Pin:
    """Base class of pins and parameters: unit, meaning, start value, and the number of pins in a family."""

    unit: str
    meaning: str
    start: Start | None
    many: int | str

    @property
    def type(self) -> Type:
        """Type of the pin: `bit` or `any` if that is the unit, otherwise the type of the start value.

        For example, `0` is an int and `0.0` a float.
        """
        if self.unit in ("bit", "any"):
            return "bit" if self.unit == "bit" else "any"
        return "int" if isinstance(self.start, int) else "float"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type of the pin's arrays. An `any` pin holds floats unless its op was loaded for another type."""
        return np.dtype({"bit": np.bool_, "int": np.int64}.get(self.type, np.float64))

    @property
    def first(self) -> float | bool:
        """Start value as a number in the pin's unit."""
        if isinstance(self.start, str):
            return number(self.start, unit=self.unit, where="start")
        return 0.0 if self.start is None else self.start


@dataclass(frozen=True)
class In(Pin):
    """Input that the op reads at each call. An unwired input keeps its start value.

    `many=32` declares a family of up to 32 pins `in-0 …`, whose number is given by `inputs` when the op is loaded;
    `many="window"` uses the size `window`. `nan` is the effect of NaN and is required for floats.
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
    """Output that the op writes at each call. If the function also reads the output, the output is state.

    A family's size is called `outputs`.
    """

    unit: str
    meaning: str
    _: KW_ONLY
    start: Start | None = None
    many: int | str = 0


@dataclass(frozen=True)
class Param(Pin):
    """Setting that is constant during a run: one number, or one per row, and never NaN. Bounds are checked at load time."""

    start: Start
    unit: str
    meaning: str
    _: KW_ONLY
    low: float | str | None = None
    high: float | str | None = None
    many: int | str = 0


@dataclass(frozen=True)
class Size:
    """Number of pins in a family, chosen when the op is loaded and equal for all rows.

    The op's function may have the size as an int argument, but usually reads it from the shape of an array.
    """

    start: int
    meaning: str
    _: KW_ONLY
    low: int = 1
    high: int = 1024


@dataclass(frozen=True)
class Tick:
    """Tick length in the op's unit of time, declared by an op that depends on elapsed time instead of counting calls."""

    unit: Literal["ms", "d"]
    meaning: str = "length of the tick"

    def __post_init__(self) -> None:
        """Raise `ValueError` if the unit is not a unit of time."""
        if not is_time(self.unit):
            msg = f"the unit of a tick must be a unit of time, not {self.unit!r}"
            raise ValueError(msg)


def bound(pin: Pin, side: Literal["low", "high"]) -> float:
    """Return the lowest or highest value of a pin in its unit, or NaN if the pin has no such bound."""
    given = getattr(pin, side, None)
    if given is None:
        return np.nan
    return number(given, unit=pin.unit, where=f"{pin.meaning}: {side}") if isinstance(given, str) else float(given)
