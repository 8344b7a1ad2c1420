"""Quantitative semantics of properties: the margin of a formula at each tick of each replication.

ρ(a < b) = b − a,  ρ(a > b) = a − b,  ρ(a == b) = −|a − b|,  ρ(a != b) = |a − b|, each divided by its scale; a string, a bit
and an event give 1 or −1; ρ(not φ) = −ρ(φ), and = min, or = max, implies = max(−left, right); always and historically take
the minimum over their window, eventually and once the maximum;
ρ(φ until[a:b] ψ) at i = max over ticks j of the window of min(ρ(ψ, j), min ρ(φ, k) for i ≤ k < j); since is until mirrored
in time; ρ(rise φ) = min(−ρ before, ρ), ρ(fall φ) = min(ρ before, −ρ), with ρ = −∞ before the first tick.

**Missing values.** Before a cell's first tick, for `prev` at the first tick and for `next` at the last, there is nothing to
compare, and the margin is NaN. Windows ignore such ticks and ticks after the end of the run. `and`, `or` and `implies` have
a margin there only if the side with a value decides alone (false and …, true or …). A window without a tick gives +∞
(always) or −∞ (eventually). NaN or infinity in the data, or from a division, is an error if the margin depends on it.

Source: Donzé and Maler, Robust satisfaction of temporal logic over real-valued signals, 2010. On ticks without gaps the
margins equal rtamt's discrete-time offline margins, except that in rtamt `fall φ` is true at the first tick if φ is false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import ScenarioError
from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.render import render
from malsim.scenario.properties.trace import extrema, spans
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.scenario.properties.trace import Trace

Array = NDArray[np.float64]
FILL = 1e300
NOTHING = np.array(None, dtype=object)
RELATIONS = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
FUNCTIONS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "negative": np.negative, "abs": np.absolute,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip


class BrokenDayError(ScenarioError):
    """Error for an invalid value on one day, such as infinity. Margins are affected only if a window includes that day."""


def margins_at_start(formula: stl.Formula, trace: Trace, *, truth: bool = False) -> tuple[Array, float | None]:
    """Return the margins at the start of a run, and the number substituted for invalid values (None if all are valid).

    An invalid value raises an error only if the margins depend on it, that is, if the smallest and the largest `fill` give
    different margins.
    """
    try:
        return Margins(trace, truth=truth).at_start(formula), None
    except BrokenDayError:
        low, high = (Margins(trace, truth=truth, fill=fill).at_start(formula) for fill in (-FILL, FILL))
        if not np.array_equal(low, high, equal_nan=True):
            raise
        return high, FILL


class Margins:
    """Evaluator of formulas on one trace.

    With `truth`, every comparison yields ±1 instead of its distance, which decides margins of exactly 0. With `keep`, the
    margins of all subformulas are cached to find a replication's witness. `fill` is the margin of a comparison with an
    invalid value (not a finite number, or not a bit); with None, an invalid value raises an error.
    """

    def __init__(self, trace: Trace, *, truth: bool = False, keep: bool = False, fill: float | None = None) -> None:
        self.trace, self._truth, self._fill = trace, truth, fill
        self._shape = (len(trace.times), len(trace.replications))
        self._cache: dict[stl.Formula, Array] | None = {} if keep else None

    def at_start(self, formula: stl.Formula) -> Array:
        """Return the margins at the start: outermost windows begin on day 0; all other parts use the first tick."""
        start: Array
        match formula:
            case stl.Not(operand):
                start = -self.at_start(operand)
            case stl.Join(word, left, right):
                start = _joined(word, self.at_start(left), self.at_start(right))
            case stl.Over("always" | "eventually" as word, operand, window):
                start = self._over(word, operand, window, origin=0)[0]
            case stl.Between("until", left, right, window):
                start = self._between("until", left, right, window, origin=0)[0]
            case _:
                start = self.of(formula)[0]
        return start

    def of(self, formula: stl.Formula) -> Array:
        """Return a formula's margin at each tick of each replication; NaN at ticks without a value."""
        if self._cache is None:
            return self._of(formula)
        if formula not in self._cache:
            self._cache[formula] = self._of(formula)
        return self._cache[formula]

    def _of(self, formula: stl.Formula) -> Array:
        margins: Array
        match formula:
            case stl.Compare():
                margins = self._compare(formula)
            case stl.Bit():
                margins = self._bit(formula)
            case stl.AtEvent(kind, subject):
                margins = np.where(self.trace.events_at(kind, subject), 1.0, -1.0)
            case stl.Not(operand):
                margins = -self.of(operand)
            case stl.Join(word, left, right):
                margins = _joined(word, self.of(left), self.of(right))
            case stl.Over(word, operand, window):
                margins = self._over(word, operand, window)
            case stl.Between(word, left, right, window):
                margins = self._between(word, left, right, window)
            case stl.Edge(word, operand):
                now = self.of(operand)
                before = np.full_like(now, -np.inf)
                before[1:] = _filled(now[:-1], -np.inf)
                margins = np.minimum(-before, now) if word == "rise" else np.minimum(before, -now)
        return margins

    def _over(self, word: str, operand: stl.Formula, window: stl.Window | None, *, origin: int | None = None) -> Array:
        largest = word in ("eventually", "once")
        past = word in ("historically", "once")
        margins = _filled(self.of(operand), -np.inf if largest else np.inf)
        first, last = spans(window, _mirrored(self.trace.times) if past else self.trace.times, origin=origin)
        step = -1 if past else 1
        over: Array = extrema(margins[::step], first, last, largest=largest)[::step]
        return over

    def _between(
        self, word: str, left: stl.Formula, right: stl.Formula, window: stl.Window | None, *, origin: int | None = None
    ) -> Array:
        step, times = (-1, _mirrored(self.trace.times)) if word == "since" else (1, self.trace.times)
        lefts, rights = _filled(self.of(left), np.inf)[::step], _filled(self.of(right), -np.inf)[::step]
        # The extra row serves windows that begin after the end of the run.
        unbounded = np.full((len(rights) + 1, rights.shape[1]), -np.inf)
        for tick in range(len(rights) - 1, -1, -1):
            np.maximum(rights[tick], np.minimum(lefts[tick], unbounded[tick + 1]), out=unbounded[tick])
        first, last = spans(window, times, origin=origin)
        within = extrema(rights, first, last, largest=True)
        before = extrema(lefts, np.arange(len(first)), first - 1, largest=False)
        between: Array = np.minimum(np.minimum(within, before), unbounded[first])[::step]
        return between

    def value(self, value: stl.Value) -> NDArray[Any]:
        """Return a value at each tick of each replication: numbers (NaN if missing) or strings (None if missing)."""
        values: NDArray[Any]
        match value:
            case stl.Number(number):
                values = np.full((1, 1), number)
            case stl.Text(text):
                values = np.full((1, 1), text, dtype=object)
            case stl.Read(address):
                values = self.trace.read(address)
                if values.dtype != object:
                    self._must_be_valid(np.isinf(values), f"{address} is not a finite number", "compare a finite value")
            case stl.Apply("prev" | "next" as word, (argument,)):
                values, original = np.full(self._shape, np.nan), np.broadcast_to(self._number(argument), self._shape)
                to, source = (slice(1, None), slice(-1)) if word == "prev" else (slice(-1), slice(1, None))
                values[to] = original[source]
            case stl.Apply(function, arguments):
                values = self._apply(function, [self._number(argument) for argument in arguments])
        return values

    def _number(self, value: stl.Value) -> Array:
        values: NDArray[Any] = self.value(value)
        if values.dtype == object:
            raise ScenarioError("a number is expected here, not a string", given=value, hint="compare strings with == or !=")
        return values

    def _apply(self, function: str, arguments: list[Array]) -> Array:
        apply, result = FUNCTIONS[function], arguments[0]
        with np.errstate(all="ignore"):
            if len(arguments) == 1:
                return np.asarray(apply(result))
            for argument in arguments[1:]:
                missing = np.isnan(result) | np.isnan(argument)
                infinite = np.isinf(result) | np.isinf(argument)
                result = np.asarray(apply(result, argument))
                invalid = (~np.isfinite(result) | infinite) & ~missing
                self._must_be_valid(invalid, f"{function} has no finite result", "prevent a division by 0")
                result = np.where(invalid, np.inf, result)
        return result

    def _compare(self, formula: stl.Compare) -> Array:
        left, right = self.value(formula.left), self.value(formula.right)
        margins: Array
        if object in (left.dtype, right.dtype):
            if left.dtype != right.dtype or formula.relation not in ("==", "!="):
                hint = "compare strings with == or !=, numbers with numbers"
                raise ScenarioError("a string cannot be compared with a number", given=render(formula), hint=hint)
            missing = np.equal(left, NOTHING) | np.equal(right, NOTHING)
            margins = np.where(missing, np.nan, _sign(formula.relation, left, right))
        elif self._truth:
            margins = np.where(np.isnan(left) | np.isnan(right), np.nan, _sign(formula.relation, left, right))
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                margins = _distance(formula.relation, left, right) / (formula.scale or 1.0)
            self._must_be_valid(np.isinf(margins), "the distance is not finite", "use a larger scale, or smaller numbers")
        if object not in (left.dtype, right.dtype):
            margins = self._with_fill(margins, np.isinf(left) | np.isinf(right) | np.isinf(margins))
        return np.broadcast_to(margins, self._shape)

    def _bit(self, bit: stl.Bit) -> Array:
        values, address = self._number(bit.value), bit.read.address
        if address.startswith("right("):
            values = np.where(np.isnan(values), np.nan, values == 1)
        invalid = (values != 0) & (values != 1) & ~np.isnan(values)
        if self._fill is None and invalid.any():
            got = np.broadcast_to(values, self._shape)[tuple(np.argwhere(invalid)[0])]
            name = render(bit.value)
            problem = f"{name} is {got:g}, neither true nor false,"
            self._must_be_valid(invalid, problem, f"compare it, such as {name} >= 0.5")
        return self._with_fill(2.0 * values - 1.0, invalid)

    def _with_fill(self, margins: Array, invalid: NDArray[np.bool_]) -> Array:
        return margins if self._fill is None else np.where(invalid, self._fill, margins)

    def _must_be_valid(self, invalid: NDArray[np.bool_], problem: str, hint: str) -> None:
        """Raise `BrokenDayError` for the first invalid day, unless `fill` replaces invalid values."""
        if invalid.any() and self._fill is None:
            tick, column = np.argwhere(np.broadcast_to(invalid, self._shape))[0]
            days, replication = self.trace.times[tick] / DAY, self.trace.replications[column]
            raise BrokenDayError(f"{problem} on day {days:.6g} of replication {replication}", hint=hint)


def _sign(relation: str, left: NDArray[Any], right: NDArray[Any]) -> Array:
    return np.where(RELATIONS[relation](left, right), 1.0, -1.0)


def _distance(relation: str, left: Array, right: Array) -> Array:
    if relation in ("<", "<="):
        return right - left
    if relation in (">", ">="):
        return left - right
    distance = np.abs(left - right)
    return -distance if relation == "==" else distance


def _joined(word: str, left: Array, right: Array) -> Array:
    """Join margins by `and`, `or` or `implies`. If one side is NaN and the other does not decide the result, return NaN."""
    if word == "and":
        both = np.minimum(left, right)
        alone = np.fmin(left, right)
        return np.where(np.isnan(both) & (alone <= 0), alone, both)
    if word == "implies":
        left = -left
    either = np.maximum(left, right)
    alone = np.fmax(left, right)
    return np.where(np.isnan(either) & (alone >= 0), alone, either)


def _filled(margins: Array, neutral: float) -> Array:
    missing = np.isnan(margins)
    return np.where(missing, neutral, margins) if missing.any() else margins


def _mirrored(times: NDArray[np.int64]) -> NDArray[np.int64]:
    from_end: NDArray[np.int64] = (times[-1] - times)[::-1]
    return from_end
