"""Evaluation of a property on a trace of solver terms; `malsim.scenario.properties.margins` does this for numbers.

As in that module, a part without a value (such as `prev` at the first tick) is ignored.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.scenario.proof.terms.elements import OutsideError, apply, is_bit, is_constant, to_kind, z3
from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.margins import FUNCTIONS, RELATIONS
from malsim.scenario.properties.render import render
from malsim.scenario.properties.trace import spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Element = Any
PAST = ("historically", "once", "since")


class Truth(NamedTuple):
    """Truth value of a formula at a tick: `holds`, which is meaningful only if the formula has a value (`given`)."""

    holds: Element
    given: Element = True

    @property
    def broken(self) -> Element:
        """True if the formula has a value and does not hold."""
        return all_of([self.given, negation(self.holds)])


class Meaning:
    """Evaluator of formulas on a trace of solver terms.

    `read` maps an address and a tick, counted from 0, to an element; `times` are in milliseconds. With `open_past`, the
    trace is part of a longer trace, so what `once`, `historically` and `since` read before its start is unknown.
    """

    def __init__(self, read: Callable[[str, int], Element], times: NDArray[np.int64], *, open_past: bool = False) -> None:
        self.read, self.times, self.open_past = read, times, open_past
        self.period = int(times[0])
        self._cache: dict[tuple[Any, int], Truth] = {}

    def at_start(self, formula: stl.Formula) -> Truth:
        """Return the truth value at the start: outermost windows begin on day 0; all other parts use the first tick."""
        match formula:
            case stl.Not(operand):
                return _opposite(self.at_start(operand))
            case stl.Join(word, left, right):
                return _joined(word, self.at_start(left), self.at_start(right))
            case stl.Over("always" | "eventually", _, window) | stl.Between("until", _, _, window):
                first, last = (int(ticks[0]) for ticks in spans(window, self.times, origin=0))
                return self._windowed(formula, 0, first, last)
            case _:
                return self.at(formula, 0)

    def at(self, formula: stl.Formula, tick: int) -> Truth:
        """Return a formula's truth value at a tick."""
        key = (formula, tick)
        if key not in self._cache:
            self._cache[key] = self._at(formula, tick)
        return self._cache[key]

    def _at(self, formula: stl.Formula, tick: int) -> Truth:
        match formula:
            case stl.Compare(left, relation, right):
                values = [self._value(side, tick) for side in (left, right)]
                return Truth(False, given=False) if None in values else Truth(apply(RELATIONS[relation], *values))
            case stl.Bit(value):
                bit = self._value(value, tick)
                if bit is not None and not is_bit(bit) and not (is_constant(bit) and bit in {0, 1}):
                    raise ScenarioError("not a bit", given=formula.read.address, hint="compare the signal with a number")
                return Truth(False, given=False) if bit is None else Truth(to_kind(bit, "b"))
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
                raise OutsideError("a proof cannot read the events of a run", given=render(formula))

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
            left, right = self.at(formula.left, tick), self.at(formula.right, tick)
            continues = all_of([negation(left.broken), before])
            return Truth(any_of([all_of([right.given, right.holds]), continues]))
        now = self.at(formula.operand, tick)
        if formula.word == "historically":
            return Truth(all_of([negation(now.broken), before]))
        return Truth(any_of([all_of([now.given, now.holds]), before]))

    def _windowed(self, formula: stl.Over | stl.Between, tick: int, first: int, last: int) -> Truth:
        """Return the truth value over the ticks from `first` to `last`, in descending order for a past operator."""
        step = -1 if formula.word in PAST else 1
        if isinstance(formula, stl.Over):
            truths = [self.at(formula.operand, other) for other in range(first, last + step, step)]
            if formula.word in ("always", "historically"):
                return Truth(all_of([negation(truth.broken) for truth in truths]))
            return Truth(any_of([all_of([truth.given, truth.holds]) for truth in truths]))
        ways: list[Element] = []
        unbroken: list[Element] = []
        for other in range(tick, last + step, step):
            right = self.at(formula.right, other)
            if (other - first) * step >= 0:
                ways.append(all_of([*unbroken, right.given, right.holds]))
            unbroken.append(negation(self.at(formula.left, other).broken))
        return Truth(any_of(ways))

    def _value(self, value: stl.Value, tick: int) -> Element:
        """Return a value at a tick as a number or a bit, or None if there is no value."""
        match value:
            case stl.Number(number):
                return int(number) if number == int(number) else number
            case stl.Read(address):
                return self.read(address, tick)
            case stl.Apply("prev", (argument,)):
                return self._value(argument, tick - 1) if tick else None
            case stl.Apply("next"):
                raise OutsideError("a proof cannot read the next tick", given=render(value), hint="use prev")
            case stl.Apply(function, arguments):
                values = [self._value(argument, tick) for argument in arguments]
                if None in values:
                    return None
                numbers = [to_kind(element, "i") if is_bit(element) else element for element in values]
                if len(numbers) == 1:
                    return apply(FUNCTIONS[function], numbers[0])
                return reduce(partial(apply, FUNCTIONS[function]), numbers)
            case _:
                raise OutsideError("a proof cannot read text", given=str(value), hint="compare numbers and bits")


def behind(part: stl.Formula | stl.Value, period: int) -> int:
    """Return the maximum number of earlier ticks that a formula reads, ignoring past operators without a window.

    >>> from malsim.scenario.properties.parse import parse
    >>> behind(parse("once[0:3] low and prev(x) > 1"), 1000)
    3
    """
    deeper = max((behind(inner, period) for inner in stl.inside(part)), default=0)
    if isinstance(part, stl.Edge) or (isinstance(part, stl.Apply) and part.function == "prev"):
        return deeper + 1
    if not isinstance(part, (stl.Over, stl.Between)) or part.window is None or part.word not in PAST:
        return deeper
    if part.window.high is None:
        raise OutsideError(
            "the window of a past operator must have an end", given=render(part), hint="add an end, such as [0:3]"
        )
    high = part.window.high
    return deeper + (high.size if high.unit == "ticks" else -(-high.size // period))


def negation(bit: Element) -> Element:
    """Return the negation of a bit."""
    return apply(np.logical_not, bit)


def all_of(bits: list[Element]) -> Element:
    """Return the conjunction of bits."""
    terms = [bit for bit in bits if bit is not True]
    if any(bit is False for bit in terms):
        return False
    return True if not terms else terms[0] if len(terms) == 1 else z3().And(*terms)


def any_of(bits: list[Element]) -> Element:
    """Return the disjunction of bits."""
    return negation(all_of([negation(bit) for bit in bits]))


def _opposite(truth: Truth) -> Truth:
    return Truth(negation(truth.holds), truth.given)


def _joined(word: str, left: Truth, right: Truth) -> Truth:
    """Join two truth values. If one side has no value, the result has a value only if the other side alone decides it."""
    if word == "implies":
        left = _opposite(left)
    if word != "and":
        return _opposite(_joined("and", _opposite(left), _opposite(right)))
    holds = all_of([negation(left.broken), negation(right.broken)])
    return Truth(holds, any_of([all_of([left.given, right.given]), left.broken, right.broken]))
