"""State of an op instance as a mapping of arrays, with functions to start, step, save and restore the state.

One state holds all rows of an instance: shape `(rows,)` for a single pin, `(pins, rows)` for a family, and `(1,)` or
`(rows,)` for a parameter. Nothing is changed in place: `step` returns a new mapping.
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
    """Return the state of an op before its first call, with start values and settings for the given number of rows.

    Raises
    ------
    OpError
        If a setting is invalid (see `ops.pin.binding.bind`), or has neither one value nor one value per row.
    """
    state = {key: _initial(sheet, pin, rows) for key, pin in sheet.declared.items()}
    for (key, row), array in bind(sheet, settings or {}).items():
        where = f"{sheet.name}.{key}"
        if array.size not in (1, rows):
            raise OpError("wrong number of values", where=where, given=f"{array.size} values", allowed=f"1 or {rows}")
        if array.size > state[key].shape[-1]:
            state[key] = np.repeat(state[key], rows, axis=-1)
        state[key][... if row is None else row] = array
    return state


def _initial(sheet: Sheet, pin: Pin, rows: int) -> Array:
    width = 1 if isinstance(pin, Param) else rows
    return np.full((sheet.count(pin), width) if pin.many else width, pin.first, pin.dtype)


def step(sheet: Sheet, state: State, tick: float = 0.0) -> State:
    """Call the op once on every row. No warnings are issued, because inf and NaN are valid values.

    Parameters
    ----------
    state
        State from `start` or the last `step`, with this call's inputs stored under their Python names.
    tick
        Tick length in the op's unit of time (`sheet.length("10min")`).
    """
    with np.errstate(all="ignore"):
        return call(sheet, state, tick)


def call(sheet: Sheet, state: State, tick: float = 0.0) -> State:
    """Call the op like `step`, but without silencing numpy's warnings. The caller silences them once for all ops."""
    arguments: dict[str, Any] = {key: state[key] for key in sheet.takes}
    for size in sheet.size_arguments:
        arguments[size] = sheet.counts[size]
    if sheet.tick is not None:
        arguments["tick"] = tick
    return {**state, **sheet.function(**arguments)}


def save(sheet: Sheet, state: State) -> pl.DataFrame:
    """Convert a state to a frame with one column per pin and one row per row of the instance."""
    rows = max(state[key].shape[-1] for key in sheet.declared)
    columns = {}
    for name, (key, row, _) in sheet.slots.items():
        array = state[key] if row is None else state[key][row]
        columns[name] = np.broadcast_to(array, rows)
    return pl.DataFrame(columns)


def restore(sheet: Sheet, saved: pl.DataFrame) -> State:
    """Convert a frame written by `save` back to a state.

    Raises
    ------
    OpError
        If the frame's columns are not the pins of this op.
    """
    if set(saved.columns) != set(sheet.slots):
        odd = sorted(set(saved.columns) ^ set(sheet.slots))
        raise OpError("not a saved state of this op", where=sheet.name, given=odd, hint="load the op with the same sizes")
    state: dict[str, Array] = {}
    for key, pin in sheet.declared.items():
        shape = (sheet.count(pin), saved.height) if pin.many else (saved.height,)
        state[key] = np.empty(shape, pin.dtype)
    for name, (key, row, _) in sheet.slots.items():
        state[key][... if row is None else row] = saved[name].to_numpy()
    return state
