"""Repeated calls of one op, vectorised over rows, with a single loop over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ops.pin.declare import Out
from ops.pin.errors import OpError
from ops.pin.state import call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.pin.declare import Array
    from ops.pin.sheet import Sheet, Slot
    from ops.pin.state import State

__all__ = ["run", "sweep"]


def run(
    sheet: Sheet, state: State, inputs: Mapping[str, Array], *, tick: object = "1d", outs: Sequence[str] | None = None
) -> tuple[State, dict[str, Array]]:
    """Call an op once per step on arrays of shape `(steps, rows)`, one array per input pin.

    Parameters
    ----------
    state
        State from `ops.start` with the same number of rows.
    tick
        Tick length, with its unit.
    outs
        Output pins; all of them by default.

    Returns
    -------
    The state after the last step, and the outputs, each of shape `(steps, rows)`.

    Raises
    ------
    OpError
        If there are no inputs, their shapes differ, or a pin is unknown.

    >>> import ops
    >>> smooth = ops.load("smooth")
    >>> run(smooth, ops.start(smooth, 2), {"in": np.ones((2, 2))})[1]["out"].round(2).tolist()
    [[0.3, 0.3], [0.51, 0.51]]
    """
    shapes = {np.shape(array) for array in inputs.values()}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 2:  # noqa: PLR2004 - steps and rows
        raise OpError("all inputs must have the same shape (steps, rows)", where=sheet.name, given=sorted(map(str, shapes)))
    steps, rows = shape
    flat = {name: np.ascontiguousarray(array).reshape(-1) for name, array in inputs.items()}
    state, results = sweep(sheet, state, flat, [rows] * steps, tick=sheet.length(tick), outs=outs)
    return state, {name: array.reshape(shape) for name, array in results.items()}


def sweep(
    sheet: Sheet,
    state: State,
    inputs: Mapping[str, Array],
    counts: Sequence[int],
    *,
    tick: float,
    outs: Sequence[str] | None = None,
) -> tuple[State, dict[str, Array]]:
    """Call an op repeatedly on a decreasing number of rows.

    Step k reads the next `counts[k]` values of each input, one per row. Finished rows are dropped from the end of the
    state, so that no input needs padding.
    """
    slots = [(slot_of(sheet, name, output=False), array) for name, array in inputs.items()]
    names = outs if outs is not None else [name for name, slot in sheet.slots.items() if isinstance(slot.pin, Out)]
    out_slots = [(name, slot_of(sheet, name, output=True)) for name in names]
    total = sum(counts)
    results = {name: np.empty(total, slot.pin.dtype) for name, slot in out_slots}
    begin, rows = 0, counts[0] if counts else 0
    with np.errstate(all="ignore"):
        for count in counts:
            if count < rows:
                state = {key: array[..., :count] if array.shape[-1] == rows else array for key, array in state.items()}
                rows = count
            end = begin + count
            state = call(sheet, _with(state, slots, begin, end), tick)
            for name, (key, row, _) in out_slots:
                results[name][begin:end] = state[key] if row is None else state[key][row]
            begin = end
    return state, results


def slot_of(sheet: Sheet, name: str, *, output: bool) -> Slot:
    """Return the slot of the input or output pin with this public name. Raise `OpError` if there is no such pin."""
    slot = sheet.slots.get(name)
    if slot is None or isinstance(slot.pin, Out) != output:
        pins = [pin for pin, slot in sheet.slots.items() if isinstance(slot.pin, Out) == output]
        kind = "output" if output else "input"
        raise OpError(f"no such {kind}", where=f"{sheet.name}.{name}", allowed=", ".join(pins[:40]))
    return slot


def _with(state: State, slots: Sequence[tuple[Slot, Array]], begin: int, end: int) -> State:
    result = dict(state)
    for (key, row, _), array in slots:
        if row is None:
            result[key] = array[begin:end]
        else:
            family = result[key].copy()
            family[row] = array[begin:end]
            result[key] = family
    return result
