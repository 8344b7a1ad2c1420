"""Interface of a user's memory: four required calls with plain Python types.

Each replication has its own memory, made by a factory without arguments. Any call may be an `async def`. Optional
members: `close()`; the calls in `DutifulMemory`; `half_life` in days; and flags that are true by default: `belief`
(items carry a belief), `edges`, `scopes`, `clocks`, `dates` (the memory uses edges, scopes, valid times and dates of
claims), `writers` (calls are made in the name of the person who asks).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from malsim.base.errors import DataError
from malsim.base.finite import LONGEST_SCOPE, is_number

Item: TypeAlias = Mapping[str, Any]
"""Item of an answer: `id`, `object`, `value`, `rank`, and optionally `text`, `belief` (default None), `active` (True).

Also optional: `valid_from` and `valid_to` (days; None: unknown or open), and `status`, by default the first of `STATUSES`.
"""

STATUSES = ("current", "former", "disputed", "rejected")
FEATURES = ("belief", "edges", "scopes", "clocks", "dates", "writers")
SETTLE_TICKS = 30  # number of daily ticks given to a memory without `settle`
OPTIONAL_CALLS = ("correct", "forget", "allow", "share", "unshare", "settle", "texts", "log")


@dataclass(frozen=True)
class Edge:
    """Relation of a claim to an earlier one: its name (`malsim.memory.schema.RELATIONS`) and the earlier claim's text."""

    relation: str
    target: str


@dataclass(frozen=True)
class Claim:
    """Claim posted by a writer: day, writer, object, value, the claim as a sentence, and the stated confidence, if any.

    `scope` is the claim's scope ("" for a public claim), and `source` the document from which the claim was taken. The
    claim is true from `valid_from` (None: `time`) until just before `valid_to` (None: no end), in days. Raises
    `DataError` for an invalid scope or day.
    """

    time: float
    writer: str
    object: str
    value: str
    text: str = ""
    stated: float | None = None
    edges: tuple[Edge, ...] = ()
    scope: str = ""
    source: str = ""
    valid_from: float | None = None
    valid_to: float | None = None

    def __post_init__(self) -> None:
        if self.scope:
            _check_scope("Claim", self.scope)
        if self.valid_from is None and self.valid_to is None:
            return
        _check_days("Claim", valid_from=self.valid_from, valid_to=self.valid_to)
        if self.valid_to is not None and not self.start < self.valid_to:
            hint = "without valid_from, a claim is valid from its time"
            where, allowed = "Claim: valid_to", f"above {self.start:g}"
            raise DataError("validity ends before it begins", where=where, given=self.valid_to, allowed=allowed, hint=hint)

    @property
    def start(self) -> float:
        """First day on which the claim is true: `valid_from` if given, otherwise the claim's time."""
        return self.time if self.valid_from is None else self.valid_from


@dataclass(frozen=True)
class Query:
    """Query about an object, together with its wording as a question.

    `scope` is the scope of the person who asks ("": public facts). The question is about the truth on day `at` (None: as_of,
    or now), as known on day `as_of` (None: now). Raises `DataError` for an invalid scope or day.
    """

    object: str
    text: str = ""
    scope: str = ""
    at: float | None = None
    as_of: float | None = None

    def __post_init__(self) -> None:
        if self.scope:
            _check_scope("Query", self.scope)
        if self.at is not None or self.as_of is not None:
            _check_days("Query", at=self.at, as_of=self.as_of)


class UserMemory(Protocol):
    """Interface of a memory under test. All times are in days."""

    def write(self, claims: Sequence[Claim], now: float) -> object:
        """Store claims that were posted at the same instant, in order."""

    def tick(self, now: float) -> object:
        """Advance the memory to the given day, for example by letting confidence decay."""

    def read(self, query: Query, now: float, limit: int) -> Sequence[Item] | Awaitable[Sequence[Item]]:
        """Answer a query with items, best first. The answer counts as a use."""

    def peek(self, query: Query, now: float, limit: int) -> Sequence[Item] | Awaitable[Sequence[Item]]:
        """Answer a query as `read` does, but without changing anything."""


class DutifulMemory(UserMemory, Protocol):
    """Optional calls of a memory, each independent of the others.

    `scope` is the fact's scope, and `by` the person who asks.
    """

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> object:  # noqa: A002  # name in the contract
        """Mark a value as wrong from the start. `instead` is the right value, or None.

        If the world has changed, a new claim is posted instead.
        """

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> object:  # noqa: A002
        """Erase a value of an object, or everything about the object if `value` is None."""

    def allow(self, object: str, value: str, now: float, by: str, scope: str) -> object:  # noqa: A002
        """Lift a rejection or erasure, so that the value can be claimed again."""

    def share(self, object: str, to: str, now: float, scope: str) -> object:  # noqa: A002
        """Allow another scope to read everything about an object."""

    def unshare(self, object: str, to: str, now: float, scope: str) -> object:  # noqa: A002
        """Stop sharing an object with a scope."""

    def settle(self, now: float) -> object:
        """Run all pending background jobs to completion."""

    def texts(self) -> Sequence[str]:
        """Return every text that the memory still stores, including summaries, profiles, edges and exports."""

    def log(self) -> Sequence[Mapping[str, Any]]:
        """Return the log of operations on the memory, in order. Each entry has `event`, `id`, `by` and `at` (day)."""


def _check_scope(where: str, scope: str) -> None:
    if not isinstance(scope, str) or len(scope) > LONGEST_SCOPE:
        allowed, hint = f"text of at most {LONGEST_SCOPE} characters", "name a person, a team or a tenant"
        raise DataError("not a valid scope", where=f"{where}: scope", given=scope, allowed=allowed, hint=hint)


def _check_days(where: str, **days: float | None) -> None:
    for name, day in days.items():
        if day is not None and not is_number(day):
            hint = "leave it out if it is unknown"
            raise DataError("not a day", where=f"{where}: {name}", given=day, allowed="a finite number", hint=hint)
