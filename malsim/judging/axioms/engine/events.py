"""Events of a short stream, and the random draws that create them."""

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

MINUTE, HOUR, YEARS = 1.0 / 1440.0, 1.0 / 24.0, 730.0  # days; by default, gaps range from MINUTE to YEARS
LATE, OTHER = 0.2, 0.25  # probabilities that a claim arrives late, and that another event follows it
OBJECTS, VALUES, WRITERS = ("x", "y"), ("A", "B", "C"), ("ann", "bob", "cid", "zoe")
UNSTATED = 0.7
Option = TypeVar("Option")


@dataclass(frozen=True)
class Event:
    """Event in a stream on day `t`: a `write` of a claim, `nothing` (an empty write), a `tick`, a `read` or a `peek`.

    `words` is the original text of a claim from a store; `limit` is the maximum number of items that a peek returns.
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
            original = f"  [{shorten(self.words, 70, placeholder='…')}]" if self.words else ""
            return f"{self.writer} says {self.object} is {self.value} ({self.stated:g}){edges}{original}"
        names = {"tick": "a tick", "nothing": "a write without claims"}
        few = f", {self.limit} at most" if self.limit < MANY else ""
        return names.get(self.do, f"{self.do} {self.object}{few}")


class Pick:
    """Random draws keyed by seed, axiom, case and turn, so they do not depend on the order in which cases are tried."""

    def __init__(self, seed: int, axiom: str, case: int) -> None:
        self._draws, self._purpose, self._case, self._turn = Draws(seed, "axioms"), axiom, case, 0

    def share(self) -> float:
        """Draw a number in [0, 1)."""
        self._turn += 1
        return float(self._draws.uniform(self._purpose, rep=self._case, turn=self._turn).item())

    def time(self, low: float = MINUTE, high: float = YEARS) -> float:
        """Draw a log-uniform number of days, rounded to three significant digits."""
        return float(f"{low * (high / low) ** self.share():.3g}")

    def count(self, low: int, high: int) -> int:
        """Draw a whole number between `low` and `high`, inclusive."""
        return low + int(self.share() * (high - low + 1))

    def one(self, options: Sequence[Option]) -> Option:
        return options[self.count(0, len(options) - 1)]

    def by_turns(self, options: Sequence[Option]) -> Option:
        """Return the option for this case. Cases cycle through the options, so every option is used."""
        return options[self._case % len(options)]

    def claims(self, count: int, *, values: Sequence[str] = VALUES, start: float = 0.0) -> list[Event]:
        """Draw claims about x at increasing times."""
        claims, t = [], start
        for _ in range(count):
            claims.append(Event(t, "write", value=self.one(values), writer=self.one(WRITERS[:3])))
            t += self.time(MINUTE, 60.0)
        return claims

    def story(self) -> list[Event]:
        """Draw claims about two objects, some simultaneous, late or repeated, interspersed with ticks, reads and peeks."""
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
