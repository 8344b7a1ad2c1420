"""Responses of ops to test signals (step, ramp, impulse, sine), and frequency responses of linear ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from ops.bench.sweep import run
from ops.pin.declare import Out
from ops.pin.errors import OpError
from ops.pin.state import start
from ops.pin.units import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.pin.declare import Array
    from ops.pin.sheet import Sheet

__all__ = ["SIGNALS", "Signal", "frequency", "respond", "signal"]

Signal = Literal["step", "ramp", "impulse", "sine"]
SIGNALS: tuple[Signal, ...] = ("step", "ramp", "impulse", "sine")
LONG = (4096, 65536)
SMALL = 1e-9


def signal(kind: Signal, calls: int) -> Array:
    """Return a test signal: 0 for a tenth of the calls, then a step to 1, a ramp to 1, a unit impulse, or two sine cycles.

    >>> signal("impulse", 10).tolist()
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    begin = calls // 10
    index = np.arange(calls) - begin
    part = np.maximum(index, 0) / max(calls - begin, 1)
    shapes = {
        "step": np.where(index >= 0, 1.0, 0.0),
        "ramp": part,
        "impulse": np.where(index == 0, 1.0, 0.0),
        "sine": np.sin(4 * np.pi * part),
    }
    return shapes[kind]


def respond(
    sheet: Sheet, kind: Signal, settings: Mapping[str, object] | None = None, *, tick: str = "1d", calls: int = 100
) -> pl.DataFrame:
    """Feed a test signal to the first input of an op. Return a frame with `t` (days), `input` and one column per output.

    For a bit input, samples above one half are true; for an int input, they are truncated. `enable` is true unless set.

    >>> import ops
    >>> respond(ops.load("smooth"), "step", {"gain": 0.5}, calls=4)["out"].to_list()
    [0.5, 0.75, 0.875, 0.9375]
    """
    if calls < 1:
        raise OpError("the number of calls is out of bounds", where=sheet.name, given=calls, allowed="1 or more")
    name, slot = next(iter(sheet.slots.items()))
    wave = signal(kind, calls)
    values = wave > 0.5 if slot.pin.type == "bit" else wave.astype(slot.pin.dtype)  # noqa: PLR2004 - one half
    outs = [pin for pin, slot in sheet.slots.items() if isinstance(slot.pin, Out) and (slot.row is None or pin[:3] == "out")]
    state = start(sheet, 1, _with_enable(sheet, settings))
    _, answer = run(sheet, state, {name: values[:, np.newaxis]}, tick=tick, outs=outs)
    days = number(tick, unit="d", where="tick")
    return pl.DataFrame({"t": np.arange(calls) * days, "input": values, **{pin: row[:, 0] for pin, row in answer.items()}})


def frequency(
    sheet: Sheet, settings: Mapping[str, object] | None = None, *, tick: str = "1d", points: int = 200
) -> pl.DataFrame | None:
    """Compute the frequency response of the first float output, as columns `frequency` (1/d), `gain` and `phase` (degrees).

    Return None if the op is not linear and time-invariant in its first input at these settings, tested with two
    signals, their weighted sum, and a delayed signal. H is the transform of the impulse response. If the response
    settles at a constant, as for an integrator, H is computed from the differences: H = ΔH / (1 − z⁻¹).

    Raises
    ------
    OpError
        If the impulse response neither decays nor settles within 65,536 calls.

    >>> import ops
    >>> frequency(ops.load("clamp"), {"max": 0.5}) is None
    True
    """
    output = _linear_output(sheet, settings, tick)
    if output is None:
        return None
    terms, integrates = _impulse_response(sheet, settings, tick, output)
    days = number(tick, unit="d", where="tick")
    cycles = np.geomspace(1 / 1000, 0.5, points)  # frequencies in cycles per call
    backward = np.exp(-2j * np.pi * cycles)
    response = np.polynomial.polynomial.polyval(backward, terms) / ((1 - backward) if integrates else 1.0)
    phase = np.degrees(np.unwrap(np.angle(response)))
    return pl.DataFrame({"frequency": cycles / days, "gain": np.abs(response), "phase": phase})


def _impulse_response(sheet: Sheet, settings: Mapping[str, object] | None, tick: str, output: str) -> tuple[Array, bool]:
    """Return the impulse response and False, or its differences and True if the response settles at a constant."""
    for calls in LONG:
        impulse = np.zeros((calls, 1))
        impulse[0] = 1.0
        h = _answers(sheet, settings, tick, output, impulse)[:, 0]
        for terms, integrates in ((h, False), (np.diff(h, prepend=0.0), True)):
            if np.abs(terms[-1]) <= SMALL * np.abs(terms).max():
                return terms, integrates
    raise OpError("the impulse response does not decay", where=sheet.name, hint="plot the step response instead")


def _linear_output(sheet: Sheet, settings: Mapping[str, object] | None, tick: str) -> str | None:
    slot = next(iter(sheet.slots.values()))
    floats = [pin for pin, slot in sheet.slots.items() if isinstance(slot.pin, Out) and slot.pin.dtype == np.float64]
    if slot.pin.dtype != np.float64 or not floats:
        return None
    calls = np.arange(64.0)
    first, second = np.sin(calls * calls), np.cos(3.0 * calls) * (calls % 5 - 2)
    later = np.concatenate([[0.0], first[:-1]])
    signals = np.stack([first, second, 0.7 * first - 1.3 * second, later, 0 * first], axis=1)
    y = _answers(sheet, settings, tick, floats[0], signals)
    scale = np.abs(y).max() or 1.0
    adds_up = np.abs(0.7 * y[:, 0] - 1.3 * y[:, 1] - y[:, 2]).max() < SMALL * scale
    keeps = np.abs(y[:-1, 0] - y[1:, 3]).max() < SMALL * scale
    return floats[0] if adds_up and keeps and not y[:, 4].any() and y.any() else None


def _answers(sheet: Sheet, settings: Mapping[str, object] | None, tick: str, output: str, signals: Array) -> Array:
    name = next(iter(sheet.slots))
    state = start(sheet, signals.shape[1], _with_enable(sheet, settings))
    return run(sheet, state, {name: signals}, tick=tick, outs=[output])[1][output]


def _with_enable(sheet: Sheet, settings: Mapping[str, object] | None) -> dict[str, object]:
    enable = {"enable": True} if "enable" in sheet.slots else {}
    return {**enable, **(settings or {})}
