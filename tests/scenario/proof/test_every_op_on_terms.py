"""Tests that ops on solver terms agree with numpy, and that properties on solver terms agree with their margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

import ops
from malsim.base.errors import DataError
from malsim.scenario.proof.terms.elements import OutsideError, is_constant, term
from malsim.scenario.proof.terms.term_array import TermArray
from malsim.scenario.proof.ticks.meaning import Meaning, Truth
from malsim.scenario.properties import Trace
from malsim.scenario.properties.margins import Margins
from ops.pin.declare import Param, bound
from ops.pin.sheet import spell
from ops.pin.units import is_time
from tests.scenario.test_properties_margins import DAY, columns, formulas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.scenario.properties.formula import Formula
    from ops import Sheet
    from ops.pin import Array
    from ops.pin.declare import Pin

z3 = pytest.importorskip("z3")

OUTSIDE = {"autotune", "biquad", "histogram", "limit3", "slew2"}
# Pins of each op that must have known values. These ops start from their initial state; all others start from any state.
KNOWN = {
    "kalman": {"reset", "passthrough"}, "page-hinkley": {"reset"}, "trend": {"reset"}, "siggen": {"frequency", "reset"},
    "pid": {name for name in ops.load("pid").slots if name not in {"command", "feedback", "enable", "index-enable", "bias"}},
}  # fmt: skip
SMALL = {"record": {"depth": 4}, "replay": {"depth": 4}, "multiclick": {"clicks": 2}, "debounce": {"inputs": 4}}
INSIDE = [name for name in ops.names() if name not in OUTSIDE]
TICKS = 50


def draw(pin: Pin, random: np.random.Generator) -> Array:
    """Draw a multiple of 1/32, an integer or a bit, so that sums have no floating-point rounding error."""
    if pin.type == "bit":
        return random.random(1) < 0.5
    low = max(-3.0, bound(pin, "low")) if not np.isnan(bound(pin, "low")) else -3.0
    low = 0.0 if is_time(pin.unit) else low
    if pin.type == "int":
        return random.integers(int(low), int(low) + 6, 1)
    return np.asarray(low + random.integers(0, 256, 1) / 32)


class Substitution:
    """Pairs of solver symbols and the values to substitute for them."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def symbols(self, value: Array) -> TermArray:
        """Replace each element with a new symbol, and add the pair to `pairs`."""
        symbols = np.empty(value.shape, dtype=object)
        for index in np.ndindex(value.shape):
            kind = {"b": z3.Bool, "i": z3.Int, "f": z3.Real}[value.dtype.kind]
            symbols[index] = kind(f"n{len(self.pairs)}")
            self.pairs.append((symbols[index], term(value[index].item())))
        return TermArray(symbols)

    def value(self, element: Any) -> float:
        if is_constant(element):
            return float(element)
        done = z3.simplify(z3.substitute(element, *self.pairs))
        if z3.is_bool(done):
            return float(z3.is_true(done))
        return float(done.as_fraction() if done.is_real() else done.as_long())


def random_inputs(sheet: Sheet, random: np.random.Generator) -> dict[str, Array]:
    shapes = {key: (sheet.count(pin), 1) if pin.many else (1,) for key, pin in sheet.ins.items()}
    return {key: np.resize([draw(pin, random)[0] for _ in range(max(sheet.count(pin), 1))], shapes[key])
            for key, pin in sheet.ins.items()}  # fmt: skip


def constant_pins(sheet: Sheet, state: dict[str, Any], terms: dict[str, Any], known: set[str]) -> set[str]:
    """Return the pins not replaced by symbols: parameters, inputs that must be known, and outputs known to be constant."""
    fixed = {key for key, pin in sheet.declared.items() if isinstance(pin, Param)}
    if known:
        fixed |= {key for key in sheet.ins if spell(key) in known}
        fixed |= {key for key in sheet.outs if all(map(is_constant, terms[key].values.flat))}
    return fixed & state.keys()


@pytest.mark.parametrize("name", INSIDE)
def test_ops_on_solver_terms_equal_numpy(name: str) -> None:
    sheet, random, known = ops.load(name, **SMALL.get(name, {})), np.random.default_rng(7), KNOWN.get(name, set())
    state: dict[str, Any] = dict(ops.start(sheet))
    answers: dict[str, Any] = {}
    fixed = set[str]()
    for tick in range(TICKS):
        state |= random_inputs(sheet, random)
        if known or not tick:
            terms = answers if tick else {key: TermArray(value) for key, value in state.items()}
            fixed = constant_pins(sheet, state, terms, known)
        values = Substitution()
        symbols = {key: values.symbols(value) for key, value in state.items() if key not in fixed}
        if known or not tick:
            plain: dict[str, Any] = {key: state[key] if key in sheet.params else TermArray(state[key]) for key in fixed}
            answers = {key: TermArray(value) for key, value in ops.call(sheet, plain | symbols, tick=0.25).items()}
        state = {**ops.step(sheet, state, tick=0.25)}
        for key, pin in sheet.outs.items():
            numbers = [values.value(element) for element in answers[key].values.flat]
            tolerance = 1e-9 if pin.type == "float" else 0.0
            expected = state[key].ravel().astype(float).tolist()
            assert numbers == pytest.approx(expected, rel=tolerance, abs=tolerance), key


@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_error_names_the_untranslatable_numpy_function(name: str) -> None:
    sheet, random = ops.load(name), np.random.default_rng(7)
    state: dict[str, Any] = dict(ops.start(sheet))
    state |= {key: Substitution().symbols(value) for key, value in {**state, **random_inputs(sheet, random)}.items()
              if not isinstance(sheet.declared[key], Param)}  # fmt: skip
    with pytest.raises(OutsideError, match="numpy"):
        ops.call(sheet, state, tick=0.25)


def test_most_ops_can_be_translated_to_solver_terms() -> None:
    assert len(INSIDE) >= 0.9 * len(ops.names())
    assert issubclass(OutsideError, DataError)


TRACE_TICKS = 6


def margin_sign(truth: Truth, values: list[tuple[Any, Any]]) -> float:
    """Return 1 for true, −1 for false, and NaN if the property has no value."""
    holds, has_value = (
        bit if isinstance(bit, bool) else z3.is_true(z3.simplify(z3.substitute(bit, *values))) for bit in truth
    )
    return float("nan") if not has_value else 1.0 if holds else -1.0


@settings(max_examples=60, deadline=None)
@given(formulas("ticks", prev=True) | formulas("d", prev=True), columns(TRACE_TICKS, 2))
def test_margin_sign_on_solver_terms_equals_numeric_margin_sign(formula: Formula, numbers: NDArray[np.float64]) -> None:
    times = np.arange(1, TRACE_TICKS + 1) * DAY
    trace = Trace.of_arrays(times / DAY, {"x": numbers[:, :1], "y": numbers[:, 1:]})
    names = {(name, tick): z3.Real(f"{name}{tick}") for name in "xy" for tick in range(TRACE_TICKS)}
    values = [(symbol, z3.RealVal(numbers[tick]["xy".index(name)])) for (name, tick), symbol in names.items()]
    margins = Margins(trace, truth=True)
    for read in (lambda name, tick: float(numbers[tick]["xy".index(name)]), lambda name, tick: names[name, tick]):
        meaning = Meaning(read, times)
        signs = [margin_sign(meaning.at(formula, tick), values) for tick in range(TRACE_TICKS)]
        assert np.array_equal(signs, np.sign(margins.of(formula)[:, 0]), equal_nan=True)
        start = margin_sign(meaning.at_start(formula), values)
        assert start == pytest.approx(np.sign(margins.at_start(formula)[0]), nan_ok=True)
