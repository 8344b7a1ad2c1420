"""Syntax tree of a property: formulas, the values that they compare, and time windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from malsim.base.errors import ScenarioError

Relation: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
Function: TypeAlias = Literal["+", "-", "*", "/", "negative", "abs", "min", "max", "prev", "next"]
Unit: TypeAlias = Literal["ms", "s", "min", "h", "d", "w", "ticks"]

FARTHEST = 10_000 * 365 * 86_400_000  # maximum bound of a window: 10,000 years in milliseconds, or as many ticks
UNITS: dict[str, int] = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


@dataclass(frozen=True, slots=True)
class Number:
    """Finite number literal in a property."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ScenarioError("not a finite number", given=self.value)


@dataclass(frozen=True, slots=True)
class Text:
    """String literal in a property. It can only be compared with `==` and `!=`."""

    text: str


@dataclass(frozen=True, slots=True)
class Read:
    """Value read from a run at each tick: an address, a signal, or a reducer over a wildcard address."""

    address: str


@dataclass(frozen=True, slots=True)
class Apply:
    """Function applied to values at each tick.

    `prev` is the value one tick earlier (none at the first tick), and `next` one tick later (none at the last tick).
    """

    function: Function
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """End of a window: a time (ms, s, min, h, d, w) or a number of ticks."""

    amount: float
    unit: Unit = "ticks"

    def __post_init__(self) -> None:
        if not 0 <= self.amount * UNITS.get(self.unit, 1) <= FARTHEST:
            problem = "the bounds of a window must lie between 0 and 10,000 years"
            raise ScenarioError(problem, given=self.amount, hint="leave the end open")
        if self.unit == "ticks" and self.amount != int(self.amount):
            problem, hint = "a bound without a unit counts whole ticks", "write a unit: d, h, min or s"
            raise ScenarioError(problem, given=self.amount, hint=hint)

    @property
    def size(self) -> int:
        return round(self.amount * UNITS.get(self.unit, 1))


@dataclass(frozen=True, slots=True)
class Window:
    """Inclusive window from `low` to `high` after a tick (before it for past operators). Without `high`, it has no end."""

    low: Bound
    high: Bound | None = None

    def __post_init__(self) -> None:
        if self.high is None:
            return
        if self.low.amount and self.high.amount and (self.low.unit == "ticks") != (self.high.unit == "ticks"):
            raise ScenarioError(
                "a window must be given in ticks or in time, not both", hint="give both ends a unit, or neither"
            )
        if self.high.size < self.low.size:
            raise ScenarioError("the window ends before it begins", hint="write the smaller bound first")

    @property
    def in_ticks(self) -> bool:
        ends = [end for end in (self.low, self.high) if end is not None]
        return all(end.unit == "ticks" for end in ends if end.amount) and any(end.unit == "ticks" for end in ends)


@dataclass(frozen=True, slots=True)
class Compare:
    """Comparison of two values. Its margin is their signed distance divided by `scale`."""

    left: Value
    relation: Relation
    right: Value
    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not (math.isfinite(self.scale) and self.scale > 0):
            raise ScenarioError("the scale must be above 0", given=self.scale, hint="use the size of a change that matters")


@dataclass(frozen=True, slots=True)
class Bit:
    """Condition on an address that reads 1 (true, margin 1) or 0 (false, margin −1), or on its `prev` or `next`.

    Any other number is an error, except for `right(x)` of a tie: that number lies between 0 and 1 and counts as false.
    """

    value: Value

    @property
    def read(self) -> Read:
        inner = self.value
        while isinstance(inner, Apply):
            inner = inner.arguments[0]
        return cast("Read", inner)


@dataclass(frozen=True, slots=True)
class AtEvent:
    """Condition that an event of this kind (and subject, if given) has occurred since the previous tick; margin 1 or −1."""

    kind: str
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of a formula."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class Join:
    """Two formulas joined by `and`, `or` or `implies`, evaluated at the same tick."""

    word: Literal["and", "or", "implies"]
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Over:
    """Operator over a window: the operand holds at every tick (always, historically) or at some tick (eventually, once)."""

    word: Literal["always", "eventually", "historically", "once"]
    operand: Formula
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Between:
    """Operator `until` or `since`: `left` holds at every tick until (or since) `right` holds at a tick in the window."""

    word: Literal["until", "since"]
    left: Formula
    right: Formula
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """Rising or falling edge of a formula. Before the first tick, the formula counts as false."""

    word: Literal["rise", "fall"]
    operand: Formula


Value: TypeAlias = Number | Text | Read | Apply
Formula: TypeAlias = Compare | Bit | AtEvent | Not | Join | Over | Between | Edge


def is_bit(value: Formula | Value) -> bool:
    """Return whether a value can be a condition on its own: an address, or `prev` or `next` of an address."""
    if isinstance(value, Apply) and value.function in ("prev", "next"):
        return is_bit(value.arguments[0])
    return isinstance(value, Read)


def inside(part: Formula | Value) -> tuple[Formula | Value, ...]:
    """Return the operands of a formula, or the arguments of a value."""
    match part:
        case Apply(_, arguments):
            return arguments
        case Bit(operand) | Not(operand) | Over(_, operand) | Edge(_, operand):
            return (operand,)
        case Compare(left, _, right) | Join(_, left, right) | Between(_, left, right):
            return (left, right)
        case _:
            return ()


def reads(part: Formula | Value, *, subjects: bool = False) -> tuple[str, ...]:
    """Return the addresses that a property reads and, with `subjects`, the subjects of its events, in textual order.

    >>> reads(Compare(Read("obs_a1a1-scores-eff"), "<", Apply("prev", (Read("low"),))))
    ('obs_a1a1-scores-eff', 'low')
    >>> reads(Join("and", AtEvent("flagged", "obs_a1a1"), Bit(Read("low"))), subjects=True)
    ('obs_a1a1', 'low')
    """
    if isinstance(part, Read):
        return (part.address,)
    if subjects and isinstance(part, AtEvent) and part.subject:
        return (part.subject,)
    return tuple(dict.fromkeys(address for inner in inside(part) for address in reads(inner, subjects=subjects)))


def reach(part: Formula | Value, period: int) -> int:
    """Return the maximum number of milliseconds that a formula reads ahead, for ticks `period` milliseconds apart.

    >>> reach(Over("always", Over("once", Bit(Read("low")), Window(Bound(3, "d"))), Window(Bound(0), Bound(2))), 1000)
    2000
    """
    deeper = max((reach(inner, period) for inner in inside(part)), default=0)
    if not isinstance(part, Over | Between) or part.window is None or part.word in ("historically", "once", "since"):
        return deeper
    end = part.window.high or part.window.low
    return deeper + end.size * (period if end.unit == "ticks" else 1)
