"""Meaning of a property on a trace of terms, tick by tick, as `malsim.scenario.properties.margins` for numbers.

A part without a value (`prev` at the first tick) is passed over as there.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.scenario.proof.terms.elements import apply, is_bit, is_constant, to_kind
from malsim.scenario.proof.terms.solver import OutsideError, z3
from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.margins import FUNCTIONS, RELATIONS
from malsim.scenario.properties.render import render
from malsim.scenario.properties.windows import spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Element = Any
PAST = ("historically", "once", "since")


class Truth(NamedTuple):
    """Truth of a formula at a tick: `holds`, where it has a value (`given`)."""

    holds: Element
    given: Element = True

    @property
    def broken(self) -> Element:
        """True where the formula has a value and does not hold."""
        return all_of([self.given, negation(self.holds)])


class Meaning:
    """Evaluator of formulas on a trace of terms.

    Parameters
    ----------
    read
        From an address and a tick, counted from 0, to an element.
    times
        Milliseconds of each tick.
    open_past
        The trace begins somewhere in a longer one: what `once`, `historically` and `since` without a window found before
        it is any bit at all.
    """

    def __init__(self, read: Callable[[str, int], Element], times: NDArray[np.int64], *, open_past: bool = False) -> None:
        self.read, self.times, self.open_past = read, times, open_past
        self.period = int(times[0])
        self._cache: dict[tuple[Any, int], Truth] = {}

    def at_start(self, formula: stl.Formula) -> Truth:
        """Return the truth at the run's start: windows of time open on day 0, all else at the first tick."""
        match formula:
            case stl.Not(operand):
                return _opposite(self.at_start(operand))
            case stl.Join(word, left, right):
                return _joined(word, self.at_start(left), self.at_start(right))
            case stl.Over("always" | "eventually", _, window) | stl.Between("until", _, _, window):
                first, last = (int(item[0]) for item in spans(window, self.times, origin=0))
                return self._windowed(formula, 0, first, last)
            case _:
                return self.at(formula, 0)

    def at(self, formula: stl.Formula, tick: int) -> Truth:
        """Return the truth at a tick."""
        key = (formula, tick)
        if key not in self._cache:
            self._cache[key] = self._at(formula, tick)
        return self._cache[key]

    def _at(self, formula: stl.Formula, tick: int) -> Truth:
        match formula:
            case stl.Compare(left, relation, right):
                values = [self._value(item, tick) for item in (left, right)]
                missing = any(item is None for item in values)
                return Truth(False, given=False) if missing else Truth(apply(RELATIONS[relation], *values))
            case stl.Bit(value):
                bit = self._value(value, tick)
                return Truth(False, given=False) if bit is None else Truth(_bit(bit, formula.read.address))
            case stl.Not(operand):
                return _opposite(self.at(operand, tick))
            case stl.Join(word, left, right):
                return _joined(word, self.at(left, tick), self.at(right, tick))
            case stl.Edge(word, operand):
                now, last = self.at(operand, tick), self.at(operand, tick - 1) if tick else Truth(False)
                before = all_of([last.given, last.holds])
                turn = [negation(before), now.holds] if word == "rise" else [before, negation(now.holds)]
                return Truth(all_of(turn), now.given)
            case stl.Over() | stl.Between():
                return self._over_time(formula, tick)
            case _:
                raise OutsideError("an event of a run is not part of a net", given=render(formula))

    def _over_time(self, formula: stl.Over | stl.Between, tick: int) -> Truth:
        if formula.word not in PAST:
            first, last = spans(formula.window, self.times)
            return self._windowed(formula, tick, int(first[tick]), int(last[tick]))
        if formula.window is None:
            return self._so_far(formula, tick)
        mirrored = (self.times[-1] - self.times)[::-1]
        end = len(self.times) - 1
        first, last = spans(formula.window, mirrored)
        return self._windowed(formula, tick, end - int(first[end - tick]), end - int(last[end - tick]))

    def _so_far(self, formula: stl.Over | stl.Between, tick: int) -> Truth:
        if tick > (behind(formula, self.period) if self.open_past else 0):
            before = self.at(formula, tick - 1).holds
        else:
            before = z3().Bool(f"before {render(formula)}") if self.open_past else formula.word == "historically"
        if isinstance(formula, stl.Between):
            lasts, comes = (self.at(item, tick) for item in (formula.left, formula.right))
            goes_on = all_of([negation(lasts.broken), before])
            return Truth(any_of([all_of([comes.given, comes.holds]), goes_on]))
        now = self.at(formula.operand, tick)
        if formula.word == "historically":
            return Truth(all_of([negation(now.broken), before]))
        return Truth(any_of([all_of([now.given, now.holds]), before]))

    def _windowed(self, formula: stl.Over | stl.Between, tick: int, first: int, last: int) -> Truth:
        """Return the truth over the ticks from `first` to `last`, backwards if the window lies in the past."""
        step = -1 if formula.word in PAST else 1
        if isinstance(formula, stl.Over):
            each_tick = [self.at(formula.operand, item) for item in range(first, last + step, step)]
            if formula.word in ("always", "historically"):
                return Truth(all_of([negation(item.broken) for item in each_tick]))
            return Truth(any_of([all_of([item.given, item.holds]) for item in each_tick]))
        ways: list[Element] = []
        lasting: list[Element] = []
        for item in range(tick, last + step, step):
            comes = self.at(formula.right, item)
            if (item - first) * step >= 0:
                ways.append(all_of([*lasting, comes.given, comes.holds]))
            lasting.append(negation(self.at(formula.left, item).broken))
        return Truth(any_of(ways))

    def _value(self, value: stl.Value, tick: int) -> Element:
        """Return a number or a bit, or None if there is none."""
        match value:
            case stl.Number(number):
                return int(number) if number == int(number) else number
            case stl.Read(address):
                return self.read(address, tick)
            case stl.Apply("prev", (argument,)):
                return self._value(argument, tick - 1) if tick else None
            case stl.Apply("next"):
                raise OutsideError("next looks ahead, and a proof goes tick by tick", given=render(value), hint="use prev")
            case stl.Apply(function, arguments):
                values = [self._value(item, tick) for item in arguments]
                if any(item is None for item in values):
                    return None
                if len(values) == 1:
                    return apply(FUNCTIONS[function], number_of(values[0]))
                return reduce(lambda one, other: apply(FUNCTIONS[function], one, other), map(number_of, values))
            case _:
                raise OutsideError("words have no translation", given=str(value), hint="compare numbers and bits")


def behind(part: stl.Formula | stl.Value, period: int) -> int:
    """Return how many earlier ticks a formula reads at most; a past operator without a window keeps one bit instead.

    >>> from malsim.scenario.properties.parse import parse
    >>> behind(parse("once[0:3] low and prev(x) > 1"), 1000)
    3
    """
    deeper = max((behind(item, period) for item in stl.inside(part)), default=0)
    if isinstance(part, stl.Edge) or (isinstance(part, stl.Apply) and part.function == "prev"):
        return deeper + 1
    if not isinstance(part, (stl.Over, stl.Between)) or part.window is None or part.word not in PAST:
        return deeper
    if part.window.high is None:
        raise OutsideError("a window without end in the past has no bound", given=render(part), hint="write its end")
    high = part.window.high
    return deeper + (high.size if high.unit == "ticks" else -(-high.size // period))


def _bit(one: Element, address: str) -> Element:
    if not is_bit(one) and not (is_constant(one) and one in {0, 1}):
        raise ScenarioError("this is not a bit", given=address, hint="compare it")
    return to_kind(one, "b")


def number_of(one: Element) -> Element:
    """Return a bit as 0 or 1, as frames have it, and a number unchanged."""
    return to_kind(one, "i") if is_bit(one) else one


def negation(one: Element) -> Element:
    """Return the negation of a bit."""
    return apply(np.logical_not, one)


def all_of(elements: list[Element]) -> Element:
    """Return the conjunction of the elements."""
    terms = [item for item in elements if item is not True]
    if any(item is False for item in terms):
        return False
    return True if not terms else terms[0] if len(terms) == 1 else z3().And(*terms)


def any_of(elements: list[Element]) -> Element:
    """Return the disjunction of the elements."""
    return negation(all_of([negation(item) for item in elements]))


def _opposite(one: Truth) -> Truth:
    return Truth(negation(one.holds), one.given)


def _joined(word: str, left: Truth, right: Truth) -> Truth:
    """Join two truths at one tick; if one has no value, the other decides if it can alone, else there is no value."""
    if word == "implies":
        left = _opposite(left)
    if word != "and":
        return _opposite(_joined("and", _opposite(left), _opposite(right)))
    holds = all_of([negation(left.broken), negation(right.broken)])
    return Truth(holds, any_of([all_of([left.given, right.given]), left.broken, right.broken]))
