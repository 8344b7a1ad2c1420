"""Events of a small stream, and the draws that make one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import shorten
from typing import TYPE_CHECKING, TypeVar

from malsim.adapters import Claim, Edge, Query
from malsim.adapters.checked_memory import MANY
from malsim.base.plain_text import one_line
from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MINUTE, HOUR, YEARS = 1.0 / 1440.0, 1.0 / 24.0, 730.0  # the shortest time, an hour, and the longest, days
LATE, OTHER = 0.2, 0.25  # of a story's claims, how many arrive late, and how many something else follows
OBJECTS, VALUES, WRITERS = ("x", "y"), ("A", "B", "C"), ("ann", "bob", "cid", "zoe")
UNSTATED = 0.7
One = TypeVar("One")


@dataclass(frozen=True)
class Event:
    """Event of a stream on day `t`: a `write` of a claim, `nothing`, a `tick`, a `read` or a `peek`.

    `words` is what a store's claim said, where it is one; `limit` is how many items a peek asks for.
    """

    t: float
    do: str
    object: str = "x"
    value: str = ""
    writer: str = "ann"
    stated: float = UNSTATED
    edges: tuple[Edge, ...] = ()
    words: str = ""
    limit: int = MANY

    @property
    def claim(self) -> Claim:
        text = f"{self.object} is {self.value}"
        return Claim(self.t, self.writer, self.object, self.value, text, self.stated, self.edges)

    @property
    def query(self) -> Query:
        return Query(self.object, f"what is {self.object}?")

    def moved(self, change: Callable[[float], float]) -> Event:
        return replace(self, t=change(self.t))

    def __str__(self) -> str:
        if self.do == "write":
            edges = "".join(f", which {edge.relation} '{edge.target}'" for edge in self.edges)
            own = f"  [{shorten(self.words, 70, placeholder='…')}]" if self.words else ""
            return f"{self.writer} says {self.object} is {self.value} ({self.stated:g}){edges}{own}"
        names = {"tick": "a sweep", "nothing": "a write without claims"}
        few = f", {self.limit} at most" if self.limit < MANY else ""
        return names.get(self.do, f"{self.do} {self.object}{few}")


class Pick:
    """Draws at the address (seed, axiom, case, place); the same wherever and in whatever order cases are tried."""

    def __init__(self, seed: int, axiom: str, case: int) -> None:
        self._draws, self._purpose, self._case, self._turn = Draws(seed, "axioms"), axiom, case, 0

    def share(self) -> float:
        """Draw a number from 0 (included) to 1 (excluded)."""
        self._turn += 1
        return float(self._draws.uniform(self._purpose, rep=self._case, turn=self._turn).item())

    def time(self, low: float = MINUTE, high: float = YEARS) -> float:
        """Draw a number of days, log-uniform, to three digits."""
        return float(f"{low * (high / low) ** self.share():.3g}")

    def count(self, low: int, high: int) -> int:
        """Draw a whole number from low to high, both included."""
        return low + int(self.share() * (high - low + 1))

    def one(self, those: Sequence[One]) -> One:
        return those[self.count(0, len(those) - 1)]

    def by_turns(self, those: Sequence[One]) -> One:
        """Return one of the options in turn over the cases, so that no option is left out."""
        return those[self._case % len(those)]

    def claims(self, count: int, *, values: Sequence[str] = VALUES, start: float = 0.0) -> list[Event]:
        """Draw claims about x, one after the other."""
        claims, t = [], start
        for _ in range(count):
            claims.append(Event(t, "write", value=self.one(values), writer=self.one(WRITERS[:3])))
            t += self.time(MINUTE, 60.0)
        return claims

    def story(self) -> list[Event]:
        """Draw any story: several writers on two things, at once, late or repeated, with ticks, reads and peeks between."""
        events, t = list[Event](), self.one((0.0, 0.97, self.time(HOUR, 30.0)))
        for _ in range(self.count(4, 9)):
            dated = max(0.0, t - self.time(HOUR, 40.0)) if self.share() < LATE else t
            about, value, who = self.one("xxxy"), self.one("AABC"), self.one(("ann", "bob", "cid", "zoe", "dan", "eve"))
            events.append(Event(round(dated, 6), "write", about, value, who, self.one((UNSTATED, UNSTATED, 0.3, 0.95))))
            if self.share() < OTHER:
                events.append(Event(round(t, 6), self.one(("tick", "read", "peek")), about))
            t += self.one((0.0, self.time(MINUTE, HOUR), self.time(HOUR, 1.0), self.time(1.0, 60.0)))
        return [*events, Event(round(t, 6), "tick")]


def event_table(events: Sequence[Event]) -> str:
    return "\n".join(one_line(f"{event.t:>12.6g} d  {event}") for event in events)
