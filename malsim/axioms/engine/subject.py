"""A memory that axioms are put to: how one is made anew, what it declares, and how events are played to it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

from malsim.adapters import Query
from malsim.axioms.engine.events import OBJECTS, VALUES, WRITERS, Pick
from malsim.base.errors import AdapterError
from malsim.memory.port import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.adapters import Claim, Item
    from malsim.axioms.engine.events import Event

__all__ = ["Fresh", "PeekResult", "Playable", "Subject", "happen"]

NOWHERE = float("-inf")


class Playable(Protocol):
    """What events are played to; see `malsim.adapters.contract`."""

    def write(self, claims: Sequence[Claim], now: float) -> object:
        """Take claims."""

    def tick(self, now: float) -> object:
        """Let time do what it does."""

    def read(self, query: Query, now: float) -> Sequence[Item] | None:
        """A use."""

    def peek(self, query: Query, now: float) -> Sequence[Item]:
        """A look."""

    def close(self) -> object:
        """Let go."""


class Fresh(Protocol):
    """Makes a memory anew, for the names that will be used (None: those of the axioms).

    The claims of a graph are verified from outside and contradict mutually, unless `verified` is off.
    """

    def __call__(self, vocabulary: Vocabulary | None = None, *, verified: bool = True) -> Playable:
        """An empty memory."""


@dataclass(frozen=True)
class PeekResult:
    """What a peek showed, active items only, and what the last read before it gave (None: none, or it said nothing)."""

    items: tuple[Item, ...]
    answer: tuple[Item, ...] | None = None

    def score(self, value: str) -> float:
        """The largest score of a value: the belief, or the rank where there is none; −∞ where nothing says it."""
        return max((_score(item) for item in self.items if item["value"] == value), default=NOWHERE)

    @property
    def scores(self) -> dict[str, float]:
        """The score of each value."""
        return {str(item["value"]): self.score(item["value"]) for item in self.items}

    @property
    def beliefs(self) -> list[float]:
        """The beliefs that it shows."""
        return [float(item["belief"]) for item in self.items if item.get("belief") is not None]


@dataclass(frozen=True)
class Subject:
    """A memory under test: its name, what makes one, whether it has beliefs and edges, the half-life it declares (days).

    `offers` names what of the contract it has: the optional calls, and of belief, edges, scopes and clocks what it keeps;
    `user` says that it is an object of the user's own.

    `cases` is how many streams an axiom tries, `pick` what draws one from seed, axiom and case; `code` is what `subject_of`
    is given to make it again, as Python (its name, if empty).
    """

    name: str
    fresh: Fresh
    belief: bool = True
    edges: bool = False
    half_life: float | None = None
    cases: int = 20
    pick: Callable[[int, str, int], Pick] = Pick
    code: str = ""
    offers: frozenset[str] = frozenset()
    user: bool = False

    def play(self, events: Iterable[Event], *, together: bool = False) -> list[PeekResult]:
        """What each peek shows; `together` hands claims of one instant over in one call."""
        looks: list[PeekResult] = []
        several = list(events)
        with closing(self.fresh(_vocabulary(several))) as memory:
            now, answer = 0.0, None
            for (do, t), group in groupby(several, key=lambda event: (event.do, event.t)):
                now = max(now, t)
                at_once = list(group)
                for part in [at_once] if together and do == "write" else [[event] for event in at_once]:
                    answer = happen(memory, do, part, now, looks, answer)
        return looks


def _vocabulary(events: Iterable[Event]) -> Vocabulary | None:
    """The names of a stream that speaks of more than the axioms' two objects."""
    objects = list(dict.fromkeys([*OBJECTS, *(event.object for event in events)]))
    writers = list(dict.fromkeys([*WRITERS, *(event.writer for event in events)]))
    return Vocabulary(writers, objects, [VALUES] * len(objects)) if {*objects, *writers} > {*OBJECTS, *WRITERS} else None


def happen(memory: Playable, do: str, part: Sequence[Event], now: float, looks: list[PeekResult], answer: Any) -> Any:
    """Let one event, or the claims of one call, happen; returns what the last read gave."""
    query = Query(part[0].object, f"what is {part[0].object}?")
    if do in ("write", "nothing"):
        memory.write([event.claim for event in part if do == "write"], now)
    elif do == "tick":
        memory.tick(now)
    elif do == "read":
        items = memory.read(query, now)
        return None if items is None else tuple(items)
    else:
        items = memory.peek(query, now)
        for item in items:
            if item.get("value") is None:
                raise AdapterError("returned an item without value", where="peek", given=item, hint="axioms read no texts")
        looks.append(PeekResult(tuple(item for item in items if item.get("active", True)), answer))
    return answer


def _score(item: Item) -> float:
    belief = item.get("belief")
    return float(item["rank"] if belief is None else belief)
