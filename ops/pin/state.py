"""An instance's state: a mapping of arrays, made once, stepped call by call, saved to a frame and restored from one.

One state holds all rows of an instance: a single pin's array has the shape `(rows,)`, a family's `(pins, rows)`,
a parameter's `(1,)` or `(rows,)`. Nothing is changed in place: `step` gives a new mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from ops.pin.binding import bind
from ops.pin.declare import Array, Param
from ops.pin.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.pin.declare import Pin
    from ops.pin.sheet import Sheet

__all__ = ["State", "call", "restore", "save", "start", "step"]

State: TypeAlias = "Mapping[str, Array]"


def start(sheet: Sheet, rows: int = 1, settings: Mapping[str, object] | None = None) -> State:
    """Return the state before the first call: starts and settings, for so many rows.

    Raises
    ------
    OpError
        A setting that `ops.pin.binding.bind` refuses, or one a row where the rows are not so many.
    """
    state = {key: _initial(sheet, pin, rows) for key, pin in sheet.declared.items()}
    for (key, row), array in bind(sheet, settings or {}).items():
        where = f"{sheet.name}.{key}"
        if array.size not in (1, rows):
            raise OpError("not one value per row", where=where, given=f"{array.size} values", allowed=f"1 or {rows}")
        if array.size > state[key].shape[-1]:
            state[key] = np.repeat(state[key], rows, axis=-1)
        state[key][... if row is None else row] = array
    return state


def _initial(sheet: Sheet, pin: Pin, rows: int) -> Array:
    width = 1 if isinstance(pin, Param) else rows
    return np.full((sheet.count(pin), width) if pin.many else width, pin.first, pin.dtype)


def step(sheet: Sheet, state: State, tick: float = 0.0) -> State:
    """Call the op once on every row, quietly: inf and NaN are answers here, and each sheet says what they do.

    Parameters
    ----------
    state
        As `start` or the last `step` gave it, with the inputs of this call put in by Python name.
    tick
        The tick's length in the op's own unit of time (`sheet.length("10min")`).
    """
    with np.errstate(all="ignore"):
        return call(sheet, state, tick)


def call(sheet: Sheet, state: State, tick: float = 0.0) -> State:
    """Step the op as `step` does, but without silencing numpy, which the caller does for all ops at once."""
    arguments: dict[str, Any] = {key: state[key] for key in sheet.takes}
    for size in sheet.size_arguments:
        arguments[size] = sheet.counts[size]
    if sheet.tick is not None:
        arguments["tick"] = tick
    return {**state, **sheet.function(**arguments)}


def save(sheet: Sheet, state: State) -> pl.DataFrame:
    """Return the state as a frame with a row per row and a column per pin: exact, and readable."""
    rows = max(state[key].shape[-1] for key in sheet.declared)
    columns = {}
    for name, (key, row, _) in sheet.slots.items():
        array = state[key] if row is None else state[key][row]
        columns[name] = np.broadcast_to(array, rows)
    return pl.DataFrame(columns)


def restore(sheet: Sheet, saved: pl.DataFrame) -> State:
    """Return the state a frame of `save` holds.

    Raises
    ------
    OpError
        The frame's columns are not this op's pins.
    """
    if set(saved.columns) != set(sheet.slots):
        odd = sorted(set(saved.columns) ^ set(sheet.slots))
        raise OpError("not a saved state of this op", where=sheet.name, given=odd, hint="load it with the same sizes")
    state: dict[str, Array] = {}
    for key, pin in sheet.declared.items():
        shape = (sheet.count(pin), saved.height) if pin.many else (saved.height,)
        state[key] = np.empty(shape, pin.dtype)
    for name, (key, row, _) in sheet.slots.items():
        state[key][... if row is None else row] = saved[name].to_numpy()
    return state
