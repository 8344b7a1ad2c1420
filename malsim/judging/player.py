"""Playback of event streams against a memory: one call at a time, with time never going backwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from malsim.adapters.checked_memory import MANY
from malsim.adapters.contract import SETTLE_TICKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Item, Query


class Playable(Protocol):
    """Interface of a memory against which events can be played. `malsim.adapters.contract` describes the calls."""

    def write(self, claims: Sequence[Claim], now: float) -> object: ...
    def tick(self, now: float) -> object: ...
    def read(self, query: Query, now: float) -> Sequence[Item] | None: ...
    def peek(self, query: Query, now: float, limit: int = MANY) -> Sequence[Item]: ...
    def close(self) -> object: ...


@dataclass
class Player:
    """Driver that plays an event stream against a memory.

    `offers` names the memory's optional calls; other optional calls are skipped. An event is an axiom's `Event` or a `Step`
    of a duty's plot. Its `do` is `write`, `nothing` (a write without claims), `tick`, `read`, `peek`, `settle`, or an
    optional call. A memory without `settle` gets a tick on each of 30 days instead. `days` are the days of all events.
    """

    memory: Playable
    offers: frozenset[str] = frozenset()
    now: float = 0.0
    days: set[float] = field(default_factory=lambda: {0.0})

    def happen(self, part: Sequence[Any]) -> Sequence[Item] | None:
        """Play one event, or all claims of one call. Return the items of a read or a peek."""
        event = part[0]
        before, self.now = self.now, max(self.now, event.t)
        self.days.add(self.now)
        if event.do in {"write", "nothing"}:
            self.memory.write([item.claim for item in part if item.do == "write"], self.now)
        elif event.do == "tick":
            self.memory.tick(self.now)
        elif event.do == "read":
            return self.memory.read(event.query, self.now)
        elif event.do == "peek":
            return self.memory.peek(event.query, self.now, event.limit)
        elif event.do in self.offers:
            # `Playable` does not declare `perform`, but every memory that offers an optional call has it.
            self.memory.perform(event.do, **{**event.arguments, "now": self.now})  # type: ignore[attr-defined]
        elif event.do == "settle":
            for day in range(SETTLE_TICKS - 1, -1, -1):
                self.now = max(before, event.t - day)
                self.days.add(self.now)
                self.memory.tick(self.now)
        return None
