"""Tests that every op of the palette, and every preset of an op, must pass."""

from __future__ import annotations

import doctest
import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ops
from ops.pin.declare import NAN, In, Out, bound
from ops.pin.sheet import spell
from ops.pin.units import is_time

if TYPE_CHECKING:
    from types import FrameType

    from ops.pin.declare import Pin

NAMES = ops.names()
OPEN = {"enable", "ok-in", "valid", "write"}
every_op = pytest.mark.parametrize("name", NAMES)
some_seeds = given(seed=st.integers(0, 2**32 - 1))


def sample(pin: Pin, shape: tuple[int, ...], random: np.random.Generator, *, nan: bool = False) -> Any:
    """Draw values for a pin, including repeats, signed zeros, large and small numbers and, on request, NaN."""
    if pin.type == "bit":
        return random.random(shape) < 0.5
    low = 0.0 if np.isnan(bound(pin, "low")) else bound(pin, "low")
    if pin.type == "int":
        return random.integers(int(low), int(low) + 6, shape)
    values = random.choice([0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 1e6], shape) + random.normal(size=shape).round(2)
    values = np.abs(values) + low if is_time(pin.unit) or not np.isnan(bound(pin, "low")) else values
    return np.where(random.random(shape) < 0.1, np.nan, values) if nan and isinstance(pin, In) else values


def inputs(sheet: ops.Sheet, steps: int, rows: int, seed: int, *, nan: bool = False) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    pins = {name: slot.pin for name, slot in sheet.slots.items() if isinstance(slot.pin, In)}
    return {name: sample(pin, (steps, rows), random, nan=nan) for name, pin in pins.items()}


def same(array: Any, other: Any) -> bool:
    return bool(np.array_equal(array, other, equal_nan=array.dtype.kind == "f"))


def arguments_of(sheet: ops.Sheet, state: ops.State) -> dict[str, Any]:
    sizes = {size: sheet.counts[size] for size in sheet.size_arguments}
    return {**{key: state[key] for key in sheet.takes}, **({"tick": 1.0} if sheet.tick else {}), **sizes}


@every_op
def test_data_sheet_of_an_op_is_complete(name: str) -> None:
    sheet = ops.load(name)
    assert sheet.summary.endswith(".")
    assert "Source:" in sheet.text
    assert doctest.DocTestParser().get_examples(sheet.text), "the sheet has a doctest"
    assert list(sheet.outs)
    assert list(sheet.ins)
    for pin in sheet.declared.values():
        assert pin.unit
        assert pin.meaning
        if isinstance(pin, In):
            assert bool(pin.nan) == (pin.dtype == np.float64), "float inputs, and only these, declare the effect of NaN"
    text = str(sheet)
    assert all(word in text for word in (*sheet.sizes, "Cadence", "NaN", "Outputs"))
    for key in sheet.declared:
        assert spell(key) in text
    assert sheet.name == name


@every_op
@pytest.mark.parametrize("kind", ["any", "bit", "int", "float"])
def test_outputs_have_the_declared_types_and_shapes(name: str, kind: str) -> None:
    sheet = ops.load(name, type=kind)
    state = ops.start(sheet, 4)
    stream = inputs(sheet, 3, 4, seed=5)
    after, _ = ops.run(sheet, state, stream, tick="1h")
    answer = sheet.function(**arguments_of(sheet, after))
    assert set(answer) == set(sheet.outs)
    for key, pin in sheet.outs.items():
        assert after[key].dtype == pin.dtype
        assert after[key].shape == ((sheet.count(pin), 4) if pin.many else (4,))


@every_op
@settings(max_examples=4)
@some_seeds
def test_rows_are_independent(name: str, seed: int) -> None:
    sheet = ops.load(name)
    stream = inputs(sheet, 30, 3, seed, nan=True)
    _, together = ops.run(sheet, ops.start(sheet, 3), stream, tick="6h")
    for row in range(3):
        _, alone = ops.run(sheet, ops.start(sheet), {pin: array[:, [row]] for pin, array in stream.items()}, tick="6h")
        assert all(same(alone[pin][:, 0], together[pin][:, row]) for pin in together)


@every_op
@settings(max_examples=4)
@some_seeds
def test_restored_op_continues_as_if_never_interrupted(name: str, seed: int) -> None:
    sheet = ops.load(name)
    stream = inputs(sheet, 30, 3, seed, nan=True)
    whole, _ = ops.run(sheet, ops.start(sheet, 3), stream, tick="6h")
    half, _ = ops.run(sheet, ops.start(sheet, 3), {pin: array[:13] for pin, array in stream.items()}, tick="6h")
    restored = ops.restore(sheet, ops.save(sheet, half))
    rest, _ = ops.run(sheet, restored, {pin: array[13:] for pin, array in stream.items()}, tick="6h")
    assert ops.save(sheet, rest).equals(ops.save(sheet, whole))


@every_op
@settings(max_examples=5)
@some_seeds
def test_no_array_is_changed_in_place(name: str, seed: int) -> None:
    sheet = ops.load(name)
    before = ops.start(sheet, 3)
    random = np.random.default_rng(seed)
    before = {**before, **{key: sample(pin, before[key].shape, random, nan=True) for key, pin in sheet.ins.items()}}
    copies = {key: array.copy() for key, array in before.items()}
    after = ops.step(sheet, before, tick=0.25)
    assert all(same(before[key], copies[key]) for key in copies)
    again = ops.step(sheet, before, tick=0.25)
    assert all(same(after[key], again[key]) for key in sheet.outs), "the same call gives the same result"


@every_op
def test_settings_out_of_bounds_are_refused_at_load(name: str) -> None:
    sheet = ops.load(name)
    for pin, slot in sheet.slots.items():
        if isinstance(slot.pin, Out):
            with pytest.raises(ops.OpError, match="an output cannot be set"):
                ops.start(sheet, settings={pin: 1})
            continue
        unit = slot.pin.unit if is_time(slot.pin.unit) else ""
        beyond = [bound(slot.pin, "low") - 1, bound(slot.pin, "high") + 1]
        for wrong in [f"{value:.17g}{unit}" for value in beyond if not np.isnan(value)]:
            with pytest.raises(ops.OpError, match="out of bounds") as error:
                ops.start(sheet, settings={pin: wrong})
            assert error.value.where == f"{name}.{pin}"
            assert error.value.given is not None
            assert error.value.allowed
        for junk in ("", "nan", "banana", "10 parsecs", None, np.nan, {}, object(), b"1", [], [1, "x"]):
            with pytest.raises(ops.OpError):
                ops.start(sheet, settings={pin: junk})


@every_op
def test_time_without_a_unit_is_refused(name: str) -> None:
    sheet = ops.load(name)
    for pin, slot in sheet.slots.items():
        if isinstance(slot.pin, Out):
            continue
        if is_time(slot.pin.unit):
            for bare in (5, 5.0, "5", np.array([5.0])):
                with pytest.raises(ops.OpError, match="not a duration"):
                    ops.start(sheet, settings={pin: bare})
        else:
            with pytest.raises(ops.OpError):
                ops.start(sheet, settings={pin: "10min"})


@every_op
def test_op_depends_on_time_and_state_only_as_its_sheet_declares(name: str) -> None:
    sheet = ops.load(name)
    word = sheet.cadence.split(":")[0]
    assert (word == "by the clock") == (sheet.tick is not None)
    assert (sheet.length("1h") > 0) == (sheet.tick is not None)
    if word == "none":
        stream = inputs(sheet, 2, 6, seed=3)
        once, _ = ops.run(sheet, ops.start(sheet, 6), {pin: array[1:] for pin, array in stream.items()})
        after, _ = ops.run(sheet, ops.start(sheet, 6), stream)
        assert all(same(once[key], after[key]) for key in sheet.outs)
    else:
        assert sheet.state, "an op that depends on earlier calls has state"


def nan_seen(sheet: ops.Sheet, pin: str, *, quiet: bool) -> list[bool]:
    stream = inputs(sheet, 110, 128, seed=1)
    for name, slot in sheet.slots.items():
        if quiet and slot.pin.type == "bit" and name in stream:
            stream[name][:] = name.rsplit("-", 1)[0] in OPEN or name in OPEN
    stream = {name: array for name, array in stream.items() if name == pin or not np.isnan(sheet.slots[name].pin.first)}
    stream[pin][10] = np.nan
    _, result = ops.run(sheet, ops.start(sheet, 128), stream, tick="1d")
    floats = [out for out in result.values() if out.dtype == np.float64]
    return [any(np.isnan(out[call]).any() for out in floats) for call in range(110)]


@every_op
def test_nan_is_handled_as_the_data_sheet_states(name: str) -> None:
    sheet = ops.load(name)
    for pin, slot in sheet.slots.items():
        if not isinstance(slot.pin, In) or not slot.pin.nan:
            continue
        word = slot.pin.nan
        assert word in NAN
        calls = nan_seen(sheet, pin, quiet=word not in ("kept", "compares false"))
        assert not any(calls[:10])
        if word in ("passes", "lingers", "sticks", "kept"):
            assert any(calls), f"{pin}: NaN never reaches an output"
        if word == "passes":
            assert calls[10:] == [True] + [False] * 99, pin
        if word == "lingers":
            assert calls[10:12] == [True, True], pin
            assert not calls[-1], pin
        if word == "sticks":
            assert all(calls[11:]), pin
        if word in ("compares false", "flagged"):
            assert not any(calls), pin


LEFT = {  # outputs that a reset may leave unchanged, with the reason
    "oneshot": {"time_left"},  # HAL leaves time_left unchanged too; out and the timer are cleared
    "trend": {"kept"},  # old values remain, but `held` excludes them
}
ELSEWHERE = {  # outputs that a reset does not return to their initial values
    "estop-latch": {"ok_out", "fault_out", "watchdog", "reset_before"},  # a reset arms the latch
    "safety-latch": {"reset_before"},
    "siggen": {"triangle", "sine", "cosine", "index"},  # a reset holds siggen in mid-cycle
}


@every_op
@settings(max_examples=3)
@some_seeds
def test_reset_clears_the_state(name: str, seed: int) -> None:
    sheet = ops.load(name)
    if "reset" not in sheet.slots:
        return
    stream = {pin: array for pin, array in inputs(sheet, 41, 64, seed).items() if not np.isnan(sheet.slots[pin].pin.first)}
    stream["reset"][:40], stream["reset"][40] = False, True
    last = {pin: array[40:] for pin, array in stream.items()}
    after, _ = ops.run(sheet, ops.start(sheet, 64), stream, tick="6h")
    fresh, _ = ops.run(sheet, ops.start(sheet, 64), last, tick="6h")
    assert [key for key in sheet.outs if key not in LEFT.get(name, ()) and not same(after[key], fresh[key])] == []


@every_op
def test_reset_restores_the_initial_state(name: str) -> None:
    sheet = ops.load(name)
    if "reset" not in sheet.slots:
        return
    begun = ops.start(sheet)
    reset, fresh = (ops.run(sheet, begun, {"reset": np.array([[value]])}, tick="6h")[0] for value in (True, False))
    initial = {key: (fresh[key], np.broadcast_to(begun[key], fresh[key].shape)) for key in sheet.outs}
    other = {key for key in sheet.outs if not any(same(reset[key], value) for value in initial[key])}
    assert other <= ELSEWHERE.get(name, set())


def steps_taken(sheet: ops.Sheet, rows: int) -> int:
    stream = {pin: np.repeat(array, rows, axis=1) for pin, array in inputs(sheet, 2, 1, seed=7).items()}
    begun, _ = ops.run(sheet, ops.start(sheet, rows), stream, tick="6h")
    function, counted = sys.modules[sheet.function.__module__].__dict__["function"], 0
    file = function.__code__.co_filename

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal counted
        if frame.f_code.co_filename != file:
            return None
        frame.f_trace_opcodes = True
        counted += event == "opcode"
        return trace

    if here := inspect.currentframe():
        here.f_trace_opcodes = True  # Python 3.12 traces opcodes in the first call only if the caller is traced
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(**arguments_of(sheet, begun))
    finally:
        sys.settrace(before)
    return counted


@every_op
def test_op_does_not_loop_over_rows(name: str) -> None:
    sheet = ops.load(name)
    assert steps_taken(sheet, 2) == steps_taken(sheet, 100) > 0, "the op loops over rows"


@pytest.mark.parametrize("name", [name for name in NAMES if "bad" in ops.load(name).slots])
def test_bad_output_is_true_where_the_input_is_nan(name: str) -> None:
    sheet = ops.load(name)
    first = next(iter(sheet.slots))
    _, result = ops.run(sheet, ops.start(sheet), {first: np.array([[0.0], [np.nan], [1.0]])}, outs=["bad"])
    assert result["bad"][:, 0].tolist() == [False, True, False]


@every_op
def test_op_runs_over_a_frame_and_over_test_signals(name: str) -> None:
    sheet = ops.load(name)
    kind = next(iter(sheet.ins.values())).type
    column = {"bit": [True, False, True], "int": [0, 1, 1]}.get(kind, [0.5, 0.25, 1.0])
    frame = pl.DataFrame({"t": [0.0, 1.0, 2.0], "x": column})
    answer = ops.over(frame, name, x="x")
    assert answer.height == 3
    assert set(answer.columns) - {"t", "x"} == {pin for pin, slot in sheet.slots.items() if isinstance(slot.pin, Out)}
    assert ops.over(frame.clear(), name, x="x", tick="1d").schema == answer.schema
    for signal in ("step", "ramp", "impulse", "sine"):
        assert ops.respond(sheet, signal, calls=20).height == 20
