"""Memory under test: its factory, its declared features, and the results of playing events against it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from malsim.adapters.engine.adapter import Phrases
from malsim.judging.axioms.engine.events import OBJECTS, VALUES, WRITERS, Event, Pick
from malsim.judging.player import Player
from malsim.memory.port import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from malsim.adapters import Item
    from malsim.adapters.engine.host import Source
    from malsim.judging.player import Playable

NOWHERE = float("-inf")
LOOKS, NOISE = 3, 1e-4
SAMPLE = ((0, "A", "ann"), (1, "B", "bob"), (2, "A", "cid"))
TOLERANCE = 1e-9  # default tolerance for comparing scores; `measured` may increase it


Fresh: TypeAlias = "Callable[..., Playable]"
"""Factory of empty memories: `fresh(vocabulary=None, verified=True)`.

The vocabulary has the names that will be used (None: the names in the axioms). If `verified` is true, claims in a graph
are externally verified and contradictions are mutual.
"""


@dataclass(frozen=True)
class PeekResult:
    """Result of a peek: the active items, and the answer to the most recent read (None if there was none).

    Scores that differ by at most `tolerance` are equal.
    """

    items: tuple[Item, ...]
    answer: tuple[Item, ...] | None = None
    tolerance: float = TOLERANCE

    def score(self, value: str) -> float:
        """Return the highest score of a value (its belief, or its rank if it has no belief); −∞ if no item has it."""
        return max((_score(item) for item in self.items if item["value"] == value), default=NOWHERE)

    def first(self, value: str) -> float:
        """Return the score of the first item with a given value, or −∞ if no item has the value."""
        return next((_score(item) for item in self.items if item["value"] == value), NOWHERE)

    @property
    def scores(self) -> dict[str, float]:
        return {str(item["value"]): self.score(item["value"]) for item in self.items}

    @property
    def current(self) -> set[str]:
        """Values of the items whose status is current."""
        return {str(item["value"]) for item in self.items if item.get("status", "current") == "current"}


@dataclass(frozen=True)
class Subject:
    """Memory under test: its name, its factory, whether it has beliefs and edges, and its declared half-life (days).

    `offers` names the memory's optional calls and contract features (belief, edges, scopes, clocks). `user` is true for
    a user's own memory, which `source` makes. Scores that differ by at most `tolerance` are equal (see `measured`). An
    axiom tries `cases` streams, each drawn by `pick` from seed, axiom and case.
    """

    name: str
    fresh: Fresh
    belief: bool = True
    edges: bool = False
    half_life: float | None = None
    cases: int = 20
    pick: Callable[[int, str, int], Pick] = Pick
    offers: frozenset[str] = frozenset()
    user: bool = False
    tolerance: float = TOLERANCE
    source: Source | None = None

    def play(self, events: Iterable[Event], *, together: bool = False) -> list[PeekResult]:
        """Play the events and return the result of each peek.

        If `together` is true, simultaneous claims are written in one call.
        """
        looks: list[PeekResult] = []
        stream = list(events)
        values = _values(stream)
        with closing(self.fresh(_vocabulary(stream))) as memory:
            player, answer = Player(memory), None
            for (do, _), group in groupby(stream, key=lambda event: (event.do, event.t)):
                instant = list(group)
                for part in [instant] if together and do == "write" else [[event] for event in instant]:
                    items = player.happen(part)
                    if do == "read":
                        answer = None if items is None else tuple(_valued(items, values))
                    elif do == "peek":
                        looks.append(looked(items or (), values, answer=answer))
        return [replace(look, tolerance=self.tolerance) for look in looks]


def measured(subject: Subject) -> Subject:
    """Return the subject with a measured tolerance: twice the largest difference between repeated peeks at the same state.

    Differences above 1e-4 are not noise: they do not change the tolerance, so that the axioms find them.
    """
    if not subject.user:
        return subject
    claims = [Event(float(day), "write", value=value, writer=writer) for day, value, writer in SAMPLE]
    events = [*claims, *[Event(3.0, "peek")] * LOOKS]
    looks = subject.play(events) + subject.play(events)
    scores = [[look.score(value) for look in looks] for value in sorted({value for _, value, _ in SAMPLE})]
    apart = max((max(item) - min(item) for item in scores if NOWHERE not in item), default=0.0)
    return replace(subject, tolerance=max(TOLERANCE, 2.0 * apart) if apart <= NOISE else TOLERANCE)


def tolerance_text(name: str, tolerance: float) -> str:
    return f"{name}: peeks at one state differ by up to {tolerance / 2.0:.2g}; scores within {tolerance:.2g} count as equal"


def _vocabulary(events: Sequence[Event]) -> Vocabulary | None:
    objects = list(dict.fromkeys([*OBJECTS, *(event.object for event in events)]))
    writers = list(dict.fromkeys([*WRITERS, *(event.writer for event in events)]))
    values = _values(events)
    unusual = {*objects, *writers, *values} - {*OBJECTS, *WRITERS, *VALUES}
    return Vocabulary(writers, objects, [values] * len(objects)) if unusual else None


def _values(events: Sequence[Event]) -> list[str]:
    """Return the values of a stream, padded with default values so that renaming does not change their number."""
    values = list(dict.fromkeys(event.value for event in events if event.value))
    if {*values} <= {*VALUES}:
        return list(VALUES)
    return [*values, *(value for value in VALUES if value not in values)][: max(len(VALUES), len(values))]


def looked(items: Iterable[Item], values: Sequence[str] = VALUES, *, answer: tuple[Item, ...] | None = None) -> PeekResult:
    """Build a peek result from the active items with a value (stated, or read from the text) and the last read's answer."""
    return PeekResult(tuple(_valued((item for item in items if item.get("active", True)), values)), answer)


def _valued(items: Iterable[Item], values: Sequence[str]) -> Iterator[Item]:
    """Yield items with their values, read from the text if missing. Items without a unique value are skipped."""
    for item in items:
        if item.get("value") is not None:
            yield item
        elif len(matches := Phrases().values_in(str(item.get("text")), values)) == 1:
            yield {**item, "value": matches[0], "read": True}


def _score(item: Item) -> float:
    belief = item.get("belief")
    return float(item["rank"] if belief is None else belief)
