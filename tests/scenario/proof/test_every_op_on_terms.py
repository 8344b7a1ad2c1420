"""Every op's function on the solver's terms: 50 ticks, each output as numpy has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ops
from malsim.base.errors import DataError
from malsim.scenario.proof.terms.elements import is_constant, term
from malsim.scenario.proof.terms.solver import OutsideError
from malsim.scenario.proof.terms.term_array import TermArray
from ops.pin.declare import Param, bound
from ops.pin.sheet import spell
from ops.pin.units import is_time

if TYPE_CHECKING:
    from ops import Sheet
    from ops.pin import Array
    from ops.pin.declare import Pin

z3 = pytest.importorskip("z3")

OUTSIDE = {"autotune", "biquad", "histogram", "limit3", "slew2"}
# Pins that must be known where the state begins as it starts; of the rest any state at all is taken.
KNOWN = {
    "kalman": {"reset", "passthrough"}, "page-hinkley": {"reset"}, "trend": {"reset"}, "siggen": {"frequency", "reset"},
    "pid": {name for name in ops.load("pid").slots if name not in {"command", "feedback", "enable", "index-enable", "bias"}},
}  # fmt: skip
SMALL = {"record": {"depth": 4}, "replay": {"depth": 4}, "multiclick": {"clicks": 2}, "debounce": {"inputs": 4}}
INSIDE = [name for name in ops.names() if name not in OUTSIDE]
TICKS = 50


def draw(pin: Pin, random: np.random.Generator) -> Array:
    """A value that a float holds exactly, with all that sums of it come to."""
    if pin.type == "bit":
        return random.random(1) < 0.5
    low = max(-3.0, bound(pin, "low")) if not np.isnan(bound(pin, "low")) else -3.0
    low = 0.0 if is_time(pin.unit) else low
    if pin.type == "int":
        return random.integers(int(low), int(low) + 6, 1)
    return np.asarray(low + random.integers(0, 256, 1) / 32)


class Substitution:
    """Names of the solver's and the values that stand for them."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def name(self, value: Array) -> TermArray:
        """A new name for each element."""
        names = np.empty(value.shape, dtype=object)
        for index in np.ndindex(value.shape):
            kind = {"b": z3.Bool, "i": z3.Int, "f": z3.Real}[value.dtype.kind]
            names[index] = kind(f"n{len(self.pairs)}")
            self.pairs.append((names[index], term(value[index].item())))
        return TermArray(names)

    def value(self, element: Any) -> float:
        if is_constant(element):
            return float(element)
        done = z3.simplify(z3.substitute(element, *self.pairs))
        if z3.is_bool(done):
            return float(z3.is_true(done))
        return float(done.as_fraction() if done.is_real() else done.as_long())


def given(sheet: Sheet, random: np.random.Generator) -> dict[str, Array]:
    """One call's inputs by Python name."""
    shapes = {key: (sheet.count(pin), 1) if pin.many else (1,) for key, pin in sheet.ins.items()}
    return {key: np.resize([draw(pin, random)[0] for _ in range(max(sheet.count(pin), 1))], shapes[key])
            for key, pin in sheet.ins.items()}  # fmt: skip


def parts(sheet: Sheet, state: dict[str, Any], kept: dict[str, Any], known: set[str]) -> set[str]:
    """The pins that go in as they are: parameters, inputs that must be known, and what is known of the state then."""
    fixed = {key for key, pin in sheet.declared.items() if isinstance(pin, Param)}
    if known:
        fixed |= {key for key in sheet.ins if spell(key) in known}
        fixed |= {key for key in sheet.outs if all(is_constant(item) for item in kept[key].values.flat)}
    return fixed & state.keys()


@pytest.mark.parametrize("name", INSIDE)
def test_terms_equal_numpy(name: str) -> None:
    sheet, random, known = ops.load(name, **SMALL.get(name, {})), np.random.default_rng(7), KNOWN.get(name, set())
    state: dict[str, Any] = dict(ops.start(sheet))
    answers: dict[str, Any] = {}
    fixed = set[str]()
    for tick in range(TICKS):
        state |= given(sheet, random)
        if known or not tick:
            remaining = answers if tick else {key: TermArray(value) for key, value in state.items()}
            fixed = parts(sheet, state, remaining, known)
        values = Substitution()
        named = {key: values.name(value) for key, value in state.items() if key not in fixed}
        if known or not tick:
            given_as_is = {key: value for key, value in state.items() if key in fixed}
            plain: dict[str, Any] = {
                key: item if key in sheet.params else TermArray(item) for key, item in given_as_is.items()
            }
            answers = {key: TermArray(value) for key, value in ops.call(sheet, plain | named, tick=0.25).items()}
        state = {**ops.step(sheet, state, tick=0.25)}
        for key, pin in sheet.outs.items():
            came = [values.value(item) for item in answers[key].values.flat]
            close = 1e-9 if pin.type == "float" else 0.0
            assert came == pytest.approx(state[key].ravel().astype(float).tolist(), rel=close, abs=close), key


@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_other_programs_state_their_effect(name: str) -> None:
    sheet, random = ops.load(name), np.random.default_rng(7)
    state: dict[str, Any] = dict(ops.start(sheet))
    state |= {key: Substitution().name(value) for key, value in {**state, **given(sheet, random)}.items()
              if not isinstance(sheet.declared[key], Param)}  # fmt: skip
    with pytest.raises(OutsideError, match="numpy"):
        ops.call(sheet, state, tick=0.25)


def test_most_ops_of_the_palette_can_be_proved_about() -> None:
    assert len(INSIDE) >= 0.9 * len(ops.names())
    assert issubclass(OutsideError, DataError)
