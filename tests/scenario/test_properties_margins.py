"""Tests that margins equal two oracles: rtamt, and a direct implementation of the definition, tick by tick."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from malsim.scenario.properties import Trace
from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.margins import Margins

Array = NDArray[np.float64]
DAY = 86_400_000

quarters = st.integers(-16, 16).map(lambda quarter: quarter / 4)


def values(*, prev: bool) -> st.SearchStrategy[stl.Value]:
    leaves: st.SearchStrategy[stl.Value] = st.sampled_from([stl.Read("x"), stl.Read("y")]) | quarters.map(stl.Number)
    functions = st.sampled_from(["+", "-", "*"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda function, left, right: stl.Apply(function, (left, right)), functions, inner, inner),
            inner.map(lambda value: stl.Apply("abs", (value,))),
            *([inner.map(lambda value: stl.Apply("prev", (value,)))] if prev else []),
        ),
        max_leaves=3,
    )


def formulas(unit: str, *, prev: bool = False, max_leaves: int = 4) -> st.SearchStrategy[stl.Formula]:
    bounds = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)
    windows = st.none() | bounds.map(lambda ends: stl.Window(stl.Bound(ends[0], unit), stl.Bound(ends[1], unit)))  # type: ignore[arg-type]
    relations = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    leaves: st.SearchStrategy[stl.Formula] = st.builds(
        stl.Compare, values(prev=prev), relations, st.just(stl.Read("x")), st.sampled_from([None, 0.5])
    )
    return compositions(leaves, windows, max_leaves)


def compositions(
    leaves: st.SearchStrategy[stl.Formula], windows: st.SearchStrategy[stl.Window | None], max_leaves: int
) -> st.SearchStrategy[stl.Formula]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(stl.Not, inner),
            st.builds(stl.Join, st.sampled_from(["and", "or", "implies"]), inner, inner),
            st.builds(stl.Over, st.sampled_from(["always", "eventually", "historically", "once"]), inner, windows),
            st.builds(stl.Between, st.sampled_from(["until", "since"]), inner, inner, windows),
            st.builds(stl.Edge, st.sampled_from(["rise", "fall"]), inner),
        ),
        max_leaves=max_leaves,
    )


def columns(ticks: int, replications: int) -> st.SearchStrategy[Array]:
    row = st.lists(quarters, min_size=replications, max_size=replications)
    return st.lists(row, min_size=ticks, max_size=ticks).map(lambda rows: np.array(rows).reshape(ticks, replications))


# --- first oracle: rtamt ----------------------------------------------------------------------------------------------


def rtamt_text(formula: stl.Formula) -> str:
    """Return a formula in rtamt's syntax. `s_prev` is false at the first tick, so no edge falls there."""
    match formula:
        case stl.Compare(left, relation, right, scale):
            words = f"({number(left)}) / {scale or 1.0} {relation.replace('!=', '!==')} ({number(right)}) / {scale or 1.0}"
        case stl.Not(operand):
            words = f"not ({rtamt_text(operand)})"
        case stl.Join(word, left, right):
            words = f"({rtamt_text(left)}) {word} ({rtamt_text(right)})"
        case stl.Over(word, operand, window):
            words = f"{word}{ticks_of(window)} ({rtamt_text(operand)})"
        case stl.Between(word, left, right, window):
            words = f"({rtamt_text(left)}) {word}{ticks_of(window)} ({rtamt_text(right)})"
        case stl.Edge("rise", operand):
            words = f"rise({rtamt_text(operand)})"
        case stl.Edge(_, operand):
            words = f"(s_prev({rtamt_text(operand)})) and (not ({rtamt_text(operand)}))"
        case _:
            raise AssertionError(formula)
    return f"({words})"


def number(value: stl.Value) -> str:
    match value:
        case stl.Number(constant):
            return str(constant) if constant >= 0 else f"(0.0 - {-constant})"
        case stl.Read(address):
            return address
        case stl.Apply("abs", (inner,)):
            return f"abs({number(inner)})"
        case stl.Apply(function, (left, right)):
            return f"({number(left)} {function} {number(right)})"
    raise AssertionError(value)


def ticks_of(window: stl.Window | None) -> str:
    return "" if window is None or window.high is None else f"[{window.low.amount}:{window.high.amount}]"


def by_rtamt(formula: stl.Formula, x: Array, y: Array) -> list[float]:
    import rtamt

    spec = rtamt.StlDiscreteTimeOfflineSpecification()
    spec.declare_var("x", "float")
    spec.declare_var("y", "float")
    spec.spec = rtamt_text(formula)
    spec.parse()
    samples = {"time": list(range(len(x))), "x": x.tolist(), "y": y.tolist()}
    return [margin for _, margin in spec.evaluate(samples)]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="rtamt requires a parser that does not run on Python 3.13")
@pytest.mark.filterwarnings("ignore:typing.io is deprecated:DeprecationWarning")
@settings(max_examples=150)
@given(st.data())
def test_margins_match_rtamt(data: st.DataObject) -> None:
    formula, ticks = data.draw(formulas("ticks")), data.draw(st.integers(2, 9))
    x, y = data.draw(columns(ticks, 2)), data.draw(columns(ticks, 2))
    margins = Margins(Trace.of_arrays(range(ticks), {"x": x, "y": y})).of(formula)
    for column in range(2):
        assert margins[:, column].tolist() == by_rtamt(formula, x[:, column], y[:, column])


# --- second oracle: the definition, tick by tick ----------------------------------------------------------------------


class Definition:
    """Oracle that follows the definition in the docstring of `margins` tick by tick, without arrays."""

    def __init__(self, times: list[int], series: dict[str, list[float]]) -> None:
        self.times, self.series = times, series

    def value(self, value: stl.Value, tick: int) -> float:
        match value:
            case stl.Number(number):
                return number
            case stl.Read(address):
                return self.series[address][tick]
            case stl.Apply("abs", (inner,)):
                return abs(self.value(inner, tick))
            case stl.Apply("prev", (inner,)):
                return self.value(inner, tick - 1) if tick else math.nan
            case stl.Apply(function, (first, second)):
                left, right = self.value(first, tick), self.value(second, tick)
                return left + right if function == "+" else left - right if function == "-" else left * right
        raise AssertionError(value)

    def of(self, formula: stl.Formula, tick: int, now: int | None = None) -> float:
        """Return the formula's margin at `tick`. Time windows start at `now` if given, otherwise at the tick's time."""
        match formula:
            case stl.Compare(left, relation, right, scale):
                distance = (self.value(right, tick) - self.value(left, tick)) / (scale or 1.0)
                signed = {"<": distance, "<=": distance, "==": -abs(distance), "!=": abs(distance)}
                margin = signed.get(relation, -distance)
            case stl.Not(operand):
                margin = -self.of(operand, tick, now)
            case stl.Join(word, left, right):
                margin = joined(word, [self.of(left, tick, now), self.of(right, tick, now)])
            case stl.Over("always" | "historically" as word, operand, window):
                margins = [self.of(operand, other) for other in self.ticks(word, window, tick, now)]
                margin = min((item for item in margins if not math.isnan(item)), default=math.inf)
            case stl.Over(word, operand, window):
                dual = stl.Over("always" if word == "eventually" else "historically", stl.Not(operand), window)
                margin = -self.of(dual, tick, now)
            case stl.Between(word, left, right, window):
                ends = self.ticks(word, window, tick, now)
                margin = max((self.until(left, right, tick, end) for end in ends), default=-math.inf)
            case stl.Edge(word, operand):
                margin = self.edge(word, operand, tick)
            case _:
                raise AssertionError(formula)
        return margin

    def edge(self, word: str, operand: stl.Formula, tick: int) -> float:
        before, now = self.of(operand, tick - 1) if tick else -math.inf, self.of(operand, tick)
        before = -math.inf if math.isnan(before) else before
        return math.nan if math.isnan(now) else min(-before, now) if word == "rise" else min(before, -now)

    def until(self, left: stl.Formula, right: stl.Formula, tick: int, end: int) -> float:
        between = range(tick, end) if end >= tick else range(end + 1, tick + 1)
        lefts = [self.of(left, other) for other in between]
        last = self.of(right, end)
        return min([-math.inf if math.isnan(last) else last, *(item for item in lefts if not math.isnan(item))])

    def ticks(self, word: str, window: stl.Window | None, tick: int, now: int | None) -> list[int]:
        past = word in ("historically", "once", "since")
        ticks = range(tick + 1) if past else range(tick, len(self.times))
        if window is None or window.high is None:
            return list(ticks)
        if window.in_ticks:
            return [other for other in ticks if window.low.size <= abs(other - tick) <= window.high.size]
        start = self.times[tick] if now is None or past else now
        return [other for other in ticks if window.low.size <= abs(self.times[other] - start) <= window.high.size]


def joined(word: str, sides: list[float]) -> float:
    if word == "implies":
        sides = [-sides[0], sides[1]]
    given = [side for side in sides if not math.isnan(side)]
    if len(given) == 2:
        return min(given) if word == "and" else max(given)
    decisive = [side for side in given if (side <= 0 if word == "and" else side >= 0)]
    return decisive[0] if decisive else math.nan


@settings(max_examples=300)
@given(st.data(), st.sampled_from(["ticks", "d"]))
def test_margins_match_the_definition_on_uneven_ticks(data: st.DataObject, unit: str) -> None:
    formula = data.draw(formulas(unit, prev=True))
    gaps = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    days = np.cumsum(gaps) - data.draw(st.integers(0, 1)) * gaps[0]
    x, y = (data.draw(columns(len(gaps), 2)) for _ in "xy")
    y[: data.draw(st.integers(0, len(gaps))), 0] = np.nan
    trace = Trace.of_arrays(days, {"x": x, "y": y})
    margins, start = Margins(trace).of(formula), Margins(trace).at_start(formula)
    for column in range(2):
        series = {"x": x[:, column].tolist(), "y": y[:, column].tolist()}
        definition = Definition((days * DAY).tolist(), series)
        expected = [definition.of(formula, tick) for tick in range(len(gaps))]
        np.testing.assert_array_equal(margins[:, column], expected)
        np.testing.assert_array_equal(start[column], definition.of(formula, 0, now=0))
