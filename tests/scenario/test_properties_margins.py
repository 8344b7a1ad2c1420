"""Margins against two oracles: rtamt where both can state the case, and the definition spelt out tick by tick."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from malsim.scenario.properties import Trace
from malsim.scenario.properties.formula import (
    Apply,
    Between,
    Bound,
    Compare,
    Edge,
    Formula,
    Join,
    Not,
    Number,
    Over,
    Read,
    Value,
    Window,
)
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.windows import extrema

Array = NDArray[np.float64]
DAY = 86_400_000

quarters = st.integers(-16, 16).map(lambda quarter: quarter / 4)


def values(*, prev: bool) -> st.SearchStrategy[Value]:
    leaves: st.SearchStrategy[Value] = st.sampled_from([Read("x"), Read("y")]) | quarters.map(Number)
    functions = st.sampled_from(["+", "-", "*"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda function, left, right: Apply(function, (left, right)), functions, inner, inner),
            inner.map(lambda value: Apply("abs", (value,))),
            *([inner.map(lambda value: Apply("prev", (value,)))] if prev else []),
        ),
        max_leaves=3,
    )


def formulas(unit: str, *, prev: bool = False, max_leaves: int = 4) -> st.SearchStrategy[Formula]:
    bounds = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)
    windows = st.none() | bounds.map(lambda ends: Window(Bound(ends[0], unit), Bound(ends[1], unit)))  # type: ignore[arg-type]
    relations = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    leaves: st.SearchStrategy[Formula] = st.builds(
        Compare, values(prev=prev), relations, st.just(Read("x")), st.sampled_from([None, 0.5])
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Not, inner),
            st.builds(Join, st.sampled_from(["and", "or", "implies"]), inner, inner),
            st.builds(Over, st.sampled_from(["always", "eventually", "historically", "once"]), inner, windows),
            st.builds(Between, st.sampled_from(["until", "since"]), inner, inner, windows),
            st.builds(Edge, st.sampled_from(["rise", "fall"]), inner),
        ),
        max_leaves=max_leaves,
    )


def columns(ticks: int, replications: int) -> st.SearchStrategy[Array]:
    row = st.lists(quarters, min_size=replications, max_size=replications)
    return st.lists(row, min_size=ticks, max_size=ticks).map(lambda rows: np.array(rows).reshape(ticks, replications))


# --- rtamt ------------------------------------------------------------------------------------------------------------


def said(formula: Formula) -> str:
    """A formula in rtamt's words; `s_prev` keeps one that never held from falling at the first tick."""
    match formula:
        case Compare(left, relation, right, scale):
            words = f"({number(left)}) / {scale or 1.0} {relation.replace('!=', '!==')} ({number(right)}) / {scale or 1.0}"
        case Not(operand):
            words = f"not ({said(operand)})"
        case Join(word, left, right):
            words = f"({said(left)}) {word} ({said(right)})"
        case Over(word, operand, window):
            words = f"{word}{ticks_of(window)} ({said(operand)})"
        case Between(word, left, right, window):
            words = f"({said(left)}) {word}{ticks_of(window)} ({said(right)})"
        case Edge("rise", operand):
            words = f"rise({said(operand)})"
        case Edge(_, operand):
            words = f"(s_prev({said(operand)})) and (not ({said(operand)}))"
        case _:
            raise AssertionError(formula)
    return f"({words})"


def number(value: Value) -> str:
    match value:
        case Number(constant):
            return str(constant) if constant >= 0 else f"(0.0 - {-constant})"
        case Read(address):
            return address
        case Apply("abs", (inner,)):
            return f"abs({number(inner)})"
        case Apply(function, (left, right)):
            return f"({number(left)} {function} {number(right)})"
    raise AssertionError(value)


def ticks_of(window: Window | None) -> str:
    return "" if window is None or window.high is None else f"[{window.low.amount}:{window.high.amount}]"


def by_rtamt(formula: Formula, x: Array, y: Array) -> list[float]:
    import rtamt

    spec = rtamt.StlDiscreteTimeOfflineSpecification()
    spec.declare_var("x", "float")
    spec.declare_var("y", "float")
    spec.spec = said(formula)
    spec.parse()
    samples = {"time": list(range(len(x))), "x": x.tolist(), "y": y.tolist()}
    return [margin for _, margin in spec.evaluate(samples)]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the parser rtamt pins runs on no later Python")
@pytest.mark.filterwarnings("ignore:typing.io is deprecated:DeprecationWarning")
@settings(max_examples=150)
@given(st.data())
def test_margins_equal_those_of_rtamt(data: st.DataObject) -> None:
    formula, ticks = data.draw(formulas("ticks")), data.draw(st.integers(2, 9))
    x, y = data.draw(columns(ticks, 2)), data.draw(columns(ticks, 2))
    found = Margins(Trace.of_arrays(range(ticks), {"x": x, "y": y})).of(formula)
    for column in range(2):
        assert found[:, column].tolist() == by_rtamt(formula, x[:, column], y[:, column])


# --- the definition, tick by tick -------------------------------------------------------------------------------------


class Spelt:
    """The semantics as the docstring of `margins` says them, one tick at a time, in plain numbers."""

    def __init__(self, times: list[int], series: dict[str, list[float]]) -> None:
        self.times, self.series = times, series

    def value(self, value: Value, tick: int) -> float:
        match value:
            case Number(number):
                return number
            case Read(address):
                return self.series[address][tick]
            case Apply("abs", (inner,)):
                return abs(self.value(inner, tick))
            case Apply("prev", (inner,)):
                return self.value(inner, tick - 1) if tick else math.nan
            case Apply(function, (first, second)):
                left, right = self.value(first, tick), self.value(second, tick)
                return left + right if function == "+" else left - right if function == "-" else left * right
        raise AssertionError(value)

    def of(self, formula: Formula, tick: int, now: int | None = None) -> float:
        """The margin at a tick; seen from the instant `now` instead where windows of time open."""
        match formula:
            case Compare(left, relation, right, scale):
                apart = self.value(right, tick) - self.value(left, tick)
                margin = {"<": apart, "<=": apart, "==": -abs(apart), "!=": abs(apart)}.get(relation, -apart) / (
                    scale or 1.0
                )
            case Not(operand):
                margin = -self.of(operand, tick, now)
            case Join(word, left, right):
                margin = joined(word, [self.of(left, tick, now), self.of(right, tick, now)])
            case Over("always" | "historically" as word, operand, window):
                found = [self.of(operand, at) for at in self.ticks(word, window, tick, now)]
                margin = min((item for item in found if not math.isnan(item)), default=math.inf)
            case Over(word, operand, window):
                dual = Over("always" if word == "eventually" else "historically", Not(operand), window)
                margin = -self.of(dual, tick, now)
            case Between(word, left, right, window):
                ends = self.ticks(word, window, tick, now)
                margin = max((self.lasting(left, right, tick, at) for at in ends), default=-math.inf)
            case Edge(word, operand):
                margin = self.edge(word, operand, tick)
            case _:
                raise AssertionError(formula)
        return margin

    def edge(self, word: str, operand: Formula, tick: int) -> float:
        before, here = self.of(operand, tick - 1) if tick else -math.inf, self.of(operand, tick)
        before = -math.inf if math.isnan(before) else before
        return math.nan if math.isnan(here) else min(-before, here) if word == "rise" else min(before, -here)

    def lasting(self, left: Formula, right: Formula, tick: int, at: int) -> float:
        between = range(tick, at) if at >= tick else range(at + 1, tick + 1)
        held = [self.of(left, item) for item in between]
        comes = self.of(right, at)
        return min([-math.inf if math.isnan(comes) else comes, *(item for item in held if not math.isnan(item))])

    def ticks(self, word: str, window: Window | None, tick: int, now: int | None) -> list[int]:
        past = word in ("historically", "once", "since")
        seen = range(tick + 1) if past else range(tick, len(self.times))
        if window is None or window.high is None:
            return list(seen)
        if window.in_ticks:
            return [at for at in seen if window.low.size <= abs(at - tick) <= window.high.size]
        here = self.times[tick] if now is None or past else now
        return [at for at in seen if window.low.size <= abs(self.times[at] - here) <= window.high.size]


def joined(word: str, sides: list[float]) -> float:
    if word == "implies":
        sides = [-sides[0], sides[1]]
    there = [side for side in sides if not math.isnan(side)]
    if len(there) == 2:
        return min(there) if word == "and" else max(there)
    decided = [side for side in there if (side <= 0 if word == "and" else side >= 0)]
    return decided[0] if decided else math.nan


@settings(max_examples=300)
@given(st.data(), st.sampled_from(["ticks", "d"]))
def test_margins_equal_the_definition_on_uneven_ticks(data: st.DataObject, unit: str) -> None:
    formula = data.draw(formulas(unit, prev=True))
    gaps = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    days = np.cumsum(gaps) - data.draw(st.integers(0, 1)) * gaps[0]
    x, y = (data.draw(columns(len(gaps), 2)) for _ in "xy")
    y[: data.draw(st.integers(0, len(gaps))), 0] = np.nan
    trace = Trace.of_arrays(days, {"x": x, "y": y})
    found, start = Margins(trace).of(formula), Margins(trace).at_start(formula)
    for column in range(2):
        series = {"x": x[:, column].tolist(), "y": y[:, column].tolist()}
        spelt = Spelt((days * DAY).tolist(), series)
        np.testing.assert_array_equal(found[:, column], [spelt.of(formula, tick) for tick in range(len(gaps))])
        np.testing.assert_array_equal(start[column], spelt.of(formula, 0, now=0))


@given(st.data())
def test_replications_are_judged_independently(data: st.DataObject) -> None:
    formula, ticks = data.draw(formulas("d", prev=True)), data.draw(st.integers(1, 6))
    trace = Trace.of_arrays(range(ticks), {"x": data.draw(columns(ticks, 3)), "y": data.draw(columns(ticks, 3))})
    together = Margins(trace).at_start(formula)
    alone = [Margins(trace.only(column)).at_start(formula)[0] for column in range(3)]
    np.testing.assert_array_equal(together, alone)


@given(st.data(), st.booleans())
def test_sliding_extrema_equal_brute_force(data: st.DataObject, largest: bool) -> None:  # noqa: FBT001
    count = data.draw(st.integers(1, 12))
    rows = data.draw(columns(count, 2))
    ends = st.lists(st.integers(0, count - 1), min_size=count, max_size=count).map(sorted)
    first, last = np.array(data.draw(ends)), np.array(data.draw(ends))
    found = extrema(rows, first, last, largest=largest)
    for step, (low, high) in enumerate(zip(first, last, strict=True)):
        window = rows[low : high + 1]
        neutral = -np.inf if largest else np.inf
        wanted = (window.max if largest else window.min)(axis=0, initial=neutral)
        np.testing.assert_array_equal(found[step], wanted)
