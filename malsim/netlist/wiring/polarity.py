"""Direction in which an output moves when an input rises, measured on the op itself, not declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

import ops

if TYPE_CHECKING:
    from collections.abc import Collection

    from malsim.netlist.wiring.net import Instance
    from ops.pin import Array
    from ops.pin.state import State

Polarity = Literal["+", "−", "±", "0"]

TRIALS = 64
CALLS = 6
RISE = 0.37
SMALLEST = 1e-12


def polarity(instance: Instance, reads: str, writes: str, wired: Collection[str] = ()) -> Polarity:
    """Return the response of an output to a raised input: `+` never falls, `−` never rises, `±` both, `0` none.

    The op runs a few calls from its start, its wired inputs on fixed scattered values and the rest as set, twice: the
    second time with the one input higher in every call (a bit: true instead of false). What it shows is seen, not proven.
    """
    sheet = instance.sheet
    scatter = np.random.Generator(np.random.Philox(0))
    low = high = ops.start(sheet, TRIALS, instance.settings)
    rose = fell = False
    for _ in range(CALLS):
        values = {name: _values(instance, name, scatter) for name in sorted({*wired, reads})}
        low = ops.step(sheet, _with(instance, low, values), 1.0)
        values[reads] = _higher(values[reads])
        high = ops.step(sheet, _with(instance, high, values), 1.0)
        gap = _pin(instance, high, writes) - _pin(instance, low, writes)
        rose, fell = rose or bool((gap > SMALLEST).any()), fell or bool((gap < -SMALLEST).any())
    if rose and fell:
        return "±"
    return "+" if rose else "−" if fell else "0"


def _values(instance: Instance, name: str, scatter: np.random.Generator) -> Array:
    kind = instance.sheet.slots[name].pin.type
    if kind == "bit":
        return scatter.random(TRIALS) < 0.5  # noqa: PLR2004 - a fair bit
    values = scatter.normal(0.5, 1.0, TRIALS)
    return np.abs(4 * values).astype(np.int64) if kind == "int" else values


def _higher(values: Array) -> Array:
    if values.dtype == np.bool_:
        return np.ones_like(values)
    return values + (1 if values.dtype == np.int64 else RISE)


def _with(instance: Instance, state: State, inputs: dict[str, Array]) -> dict[str, Array]:
    result = dict(state)
    for name, values in inputs.items():
        key, row, _ = instance.sheet.slots[name]
        result[key] = result[key].copy()
        result[key][... if row is None else row] = values
    return result


def _pin(instance: Instance, state: State, name: str) -> Array:
    key, row, _ = instance.sheet.slots[name]
    return np.asarray(state[key] if row is None else state[key][row], dtype=np.float64)
