"""Conversion of settings to arrays, with checks of names, units and bounds, so that ops can skip these checks."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ops.pin.declare import Array, Out, Pin, bound
from ops.pin.errors import OpError
from ops.pin.palette import sheets
from ops.pin.units import is_time, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.pin.sheet import Sheet

__all__ = ["bind", "value"]

WHOLE = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)")
LARGEST = 2**63 - 1
BITS = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


def bind(sheet: Sheet, settings: Mapping[str, object]) -> dict[tuple[str, int | None], Array]:
    """Convert settings to arrays of one value, or one value per row, keyed by their slot in the state.

    A family name (`weight`) sets all pins of the family, a pin name (`weight-1`) one pin. `_` means `-`.

    Raises
    ------
    OpError
        If a name is unknown or names an output, or a value has the wrong type or unit, is out of bounds or is NaN.
    """
    arrays: dict[tuple[str, int | None], Array] = {}
    families = {name.rsplit("-", 1)[0]: slot for name, slot in sheet.slots.items() if slot.row is not None}
    for given_name, given in settings.items():
        name = given_name.rstrip("_").replace("_", "-")
        where = f"{sheet.name}.{name}"
        slot = sheet.slots.get(name) or families.get(name)
        if slot is None or isinstance(slot.pin, Out):
            raise _unknown(sheet, name, where, is_output=slot is not None)
        array = value(slot.pin, given, where=where)
        rows = [slot.row] if name in sheet.slots else range(sheet.count(slot.pin))
        arrays |= {(slot.key, row): array for row in rows}
    return arrays


def value(pin: Pin, given: object, *, where: str) -> Array:
    """Convert a value, or a sequence with one value per row, to an array of the pin's type, and check its bounds."""
    if isinstance(given, (np.ndarray, pl.Series)) and not is_time(pin.unit):
        array = _numeric(pin, np.asarray(given), where)
    elif isinstance(given, (list, tuple, np.ndarray, pl.Series)):
        array = np.array([_scalar(pin, value, where) for value in given], pin.dtype)
    else:
        array = np.array([_scalar(pin, given, where)], pin.dtype)
    _within(pin, array, given, where)
    return array


def _numeric(pin: Pin, array: Array, where: str) -> Array:
    kinds = {"bit": "b", "int": "iu"}.get(pin.type, "fiu")
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise OpError(
            "the column has the wrong type", where=where, given=f"{array.dtype}{list(array.shape)}", allowed=pin.type
        )
    return array.astype(pin.dtype)


def _scalar(pin: Pin, given: object, where: str) -> float | bool:
    if pin.type == "bit":
        word = str(given).strip().lower()
        if word not in BITS:
            raise OpError("not a bit", where=where, given=given, allowed=", ".join(BITS))
        return BITS[word]
    if pin.type == "int":
        return _whole(given, where)
    return number(given, unit=pin.unit, where=where)


def _whole(given: object, where: str) -> int:
    text = str(int(given)) if isinstance(given, float) and given.is_integer() else str(given).strip()
    if not WHOLE.fullmatch(text) or not -LARGEST <= (whole := int(text, 0)) <= LARGEST:
        raise OpError(
            "not a whole number", where=where, given=given, allowed="a number of at most 63 bits, such as 12, -3 or 0xe"
        )
    return whole


def _within(pin: Pin, array: Array, given: object, where: str) -> None:
    low, high = bound(pin, "low"), bound(pin, "high")
    outside = (array < low) | (array > high) | np.isnan(array)
    if outside.any():
        bad: Any = given if array.size == 1 else array[outside.argmax()].item()
        limits = [f"{word} {limit:g}" for word, limit in (("from", low), ("to", high)) if not np.isnan(limit)]
        allowed = f"{' '.join(limits) or 'a number'} in {pin.unit}".removesuffix(" in 1")
        raise OpError("out of bounds", where=where, given=bad, allowed=allowed)


def _unknown(sheet: Sheet, name: str, where: str, *, is_output: bool) -> OpError:
    if is_output:
        return OpError("an output cannot be set", where=where, hint="start from another state instead")
    inputs = [pin for pin, slot in sheet.slots.items() if not isinstance(slot.pin, Out)]
    near = get_close_matches(name, inputs, n=1)
    hint = f"did you mean {near[0]}?" if near else _elsewhere(name)
    return OpError("no such pin or parameter", where=where, allowed=", ".join([*inputs[:40], *sheet.sizes]), hint=hint)


def _elsewhere(name: str) -> str | None:
    """Return a hint that names the other ops with a pin of this name, or None if there are none or too many."""
    having = [op for op, sheet in sheets().items() if not isinstance(sheet, OpError) and name in sheet.slots]
    return f"{' and '.join(having)} {'has' if len(having) == 1 else 'have'} this pin" if 0 < len(having) < 4 else None  # noqa: PLR2004
