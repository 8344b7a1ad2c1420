"""Parts of a property: values read from a run, formulas about them, windows of time; frozen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from malsim.base.errors import ScenarioError

Relation: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
Function: TypeAlias = Literal["+", "-", "*", "/", "negative", "abs", "min", "max", "prev", "next"]
Unit: TypeAlias = Literal["ms", "s", "min", "h", "d", "w", "ticks"]

FARTHEST = 10_000 * 365 * 86_400_000  # milliseconds, or ticks
UNITS: dict[str, int] = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


@dataclass(frozen=True, slots=True)
class Number:
    """Finite number written in the property."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ScenarioError("a property's numbers are finite", given=self.value)


@dataclass(frozen=True, slots=True)
class Text:
    """String written in the property; it is compared with `==` and `!=` only."""

    text: str


@dataclass(frozen=True, slots=True)
class Read:
    """Value at each tick of an address, a signal name, or a reducer over a wildcard address."""

    address: str


@dataclass(frozen=True, slots=True)
class Apply:
    """Function of values at each tick.

    `prev` and `next` are the argument one tick earlier and later; they have no value at the first and at the last tick.
    """

    function: Function
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """End of a window: a time (ms, s, min, h, d, w) or a count of ticks."""

    amount: float
    unit: Unit = "ticks"

    def __post_init__(self) -> None:
        if not 0 <= self.amount * UNITS.get(self.unit, 1) <= FARTHEST:
            raise ScenarioError("a window's bounds are from 0 to 10,000 years", given=self.amount, hint="leave the end open")
        if self.unit == "ticks" and self.amount != int(self.amount):
            problem, hint = "a bound without a unit counts whole ticks", "write a unit: d, h, min or s"
            raise ScenarioError(problem, given=self.amount, hint=hint)

    @property
    def size(self) -> int:
        return round(self.amount * UNITS.get(self.unit, 1))


@dataclass(frozen=True, slots=True)
class Window:
    """Window from `low` to `high` after (or, for the past, before) a tick, both ends included; None is without end."""

    low: Bound
    high: Bound | None = None

    def __post_init__(self) -> None:
        if self.high is None:
            return
        if self.low.amount and self.high.amount and (self.low.unit == "ticks") != (self.high.unit == "ticks"):
            raise ScenarioError("a window counts ticks or time, not both", hint="give both ends a unit, or neither")
        if self.high.size < self.low.size:
            raise ScenarioError("a window ends before it begins", hint="write the smaller bound first")

    @property
    def in_ticks(self) -> bool:
        ends = [end for end in (self.low, self.high) if end is not None]
        return all(end.unit == "ticks" for end in ends if end.amount) and any(end.unit == "ticks" for end in ends)


@dataclass(frozen=True, slots=True)
class Compare:
    """Comparison of two values; the margin is their signed distance divided by `scale`."""

    left: Value
    relation: Relation
    right: Value
    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not (math.isfinite(self.scale) and self.scale > 0):
            raise ScenarioError("a scale is a number above 0", given=self.scale, hint="write the size of one step")


@dataclass(frozen=True, slots=True)
class Bit:
    """Address that reads 1 (holds, margin 1) or 0 (does not, margin −1), or `prev` or `next` of one.

    Any other number is refused, but that `right(x)` of a tie, which is between 0 and 1, does not hold.
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
    """Occurrence of an event of a kind, and of a subject if one is named, since the tick before; margin 1 or −1."""

    kind: str
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of a formula."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class Join:
    """Two formulas joined at the same tick."""

    word: Literal["and", "or", "implies"]
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Over:
    """Formula that holds at every tick (always, historically) or some tick (eventually, once) of a window."""

    word: Literal["always", "eventually", "historically", "once"]
    operand: Formula
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Between:
    """Formula `left` that holds at every tick until (since) a tick of the window at which `right` holds."""

    word: Literal["until", "since"]
    left: Formula
    right: Formula
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """Rising or falling edge of a formula; before the first tick the formula counts as false."""

    word: Literal["rise", "fall"]
    operand: Formula


Value: TypeAlias = Number | Text | Read | Apply
Formula: TypeAlias = Compare | Bit | AtEvent | Not | Join | Over | Between | Edge


def is_bit(value: Formula | Value) -> bool:
    """Return whether a value is a condition on its own: an address, or `prev` or `next` of one."""
    if isinstance(value, Apply) and value.function in ("prev", "next"):
        return is_bit(value.arguments[0])
    return isinstance(value, Read)


def negative(value: Value) -> Value:
    """Return a value with its sign changed; for a number, the number."""
    return Number(-value.value) if isinstance(value, Number) else Apply("negative", (value,))


def inside(part: Formula | Value) -> tuple[Formula | Value, ...]:
    match part:
        case Apply(_, arguments):
            return arguments
        case Bit(operand) | Not(operand) | Over(_, operand) | Edge(_, operand):
            return (operand,)
        case Compare(left, _, right) | Join(_, left, right) | Between(_, left, right):
            return (left, right)
        case _:
            return ()


def reads(part: Formula | Value) -> tuple[str, ...]:
    """Return the addresses that a property reads, once each, in the order of the text.

    >>> reads(Compare(Read("obs_a1a1-scores-eff"), "<", Apply("prev", (Read("low"),))))
    ('obs_a1a1-scores-eff', 'low')
    """
    if isinstance(part, Read):
        return (part.address,)
    return tuple(dict.fromkeys(address for item in inside(part) for address in reads(item)))


def about(part: Formula | Value) -> tuple[str, ...]:
    """Return the addresses that a property reads and the subjects of its events, once each.

    >>> about(Join("and", AtEvent("flagged", "obs_a1a1"), Bit(Read("low"))))
    ('obs_a1a1', 'low')
    """
    if isinstance(part, AtEvent):
        return (part.subject,) if part.subject else ()
    if isinstance(part, Read):
        return (part.address,)
    return tuple(dict.fromkeys(address for item in inside(part) for address in about(item)))


def reach(part: Formula | Value, period: int) -> int:
    """Return how many milliseconds after a tick a formula reads at most, for ticks `period` milliseconds apart.

    >>> reach(Over("always", Over("once", Bit(Read("low")), Window(Bound(3, "d"))), Window(Bound(0), Bound(2))), 1000)
    2000
    """
    deeper = max((reach(item, period) for item in inside(part)), default=0)
    if not isinstance(part, Over | Between) or part.window is None or part.word in ("historically", "once", "since"):
        return deeper
    end = part.window.high or part.window.low
    return deeper + end.size * (period if end.unit == "ticks" else 1)
