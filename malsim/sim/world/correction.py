"""Corrections by people, who correct, forget, share or unshare facts, and attacks on facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.base.parameters import refuse_out_of_bounds
from malsim.sim.world.clock import DAY, milliseconds, read_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Bools

JOB = "resettle"  # name under which the background job writes claims


@dataclass(frozen=True, kw_only=True)
class Correction:
    """Request by a person about `facts` (all if empty), made once at `start` or every `every` ms until `end` (exclusive).

    `do` is correct (retract, and with `instead` claim the truth), forget, share or unshare. `what` selects values: those
    that are false at that time, the true value, or all. Sharing lets the scope `reader` read the facts; unsharing revokes
    this. `by` is the person who makes the request. Times are ms, or text: "36h".
    """

    do: Literal["correct", "forget", "share", "unshare"] = "correct"
    facts: tuple[str, ...] = ()
    what: Literal["false", "true", "all"] = "false"
    by: str = "person"
    reader: str = ""
    start: int = 0
    every: int = 0
    end: int | None = None
    instead: bool = True
    stated: float = 0.9

    def __post_init__(self) -> None:
        read_spans(self, "start", "end", "every", where="corrections")
        bounds = (
            ("from", self.start >= 0, self.start, "0d or later"),
            ("every", self.every >= 0, self.every, "above 0"),
            ("to", self.end is None or self.end > self.start, self.end, "later than 'from'"),
            ("stated", 0.0 < self.stated <= 1.0, self.stated, "above 0, to 1"),
            ("by", bool(self.by), self.by, "a name"),
            ("with", bool(self.reader) == self.shares, self.reader, "a scope, for share and unshare only"),
        )
        refuse_out_of_bounds(bounds, where="corrections")

    @property
    def shares(self) -> bool:
        return self.do in ("share", "unshare")

    def times(self, days: float) -> list[int]:
        """Return the times of the request, in ms, during a run of `days` days.

        >>> [t // 86_400_000 for t in Correction(start="1d", every="2d", end="6d").times(30.0)]
        [1, 3, 5]
        """
        last = milliseconds(days) if self.end is None else min(self.end, milliseconds(days))
        return list(range(self.start, last, self.every or max(last, 1)))

    def wants(self, is_true: Bools) -> Bools:
        return is_true == (self.what == "true") if self.what != "all" else np.ones(len(is_true), dtype=bool)

    def check(self, facts: Sequence[str], *, where: str) -> None:
        _check_facts(self.facts, facts, where)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """Attack on `facts` (all if empty) with false claims, from `start` until `end`, exclusive (ms, or text: "36h")."""

    facts: tuple[str, ...] = ()
    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        read_spans(self, "start", "end", where="attack")
        if self.end is not None and self.end <= self.start:
            raise ScenarioError(
                "out of bounds", where="attack.to", given=f"{self.end / DAY:g}d", allowed="later than 'from'"
            )

    def check(self, facts: Sequence[str], days: float, *, where: str) -> None:
        _check_facts(self.facts, facts, where)
        if self.start >= days * DAY:
            given, allowed = f"{self.start / DAY:g}d", f"below {days:g}d"
            raise ScenarioError("out of bounds", where=f"{where}.from", given=given, allowed=allowed)


def _check_facts(named: Sequence[str], facts: Sequence[str], where: str) -> None:
    for name in named:
        if name not in facts:
            raise ScenarioError("no such fact", where=f"{where}.facts", given=name, allowed=" ".join(facts) or "none")
