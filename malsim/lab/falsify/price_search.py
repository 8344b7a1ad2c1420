"""Look for a lie that is cheaper than the strategies know: who says it when, how surely, and with which edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.subject import TOLERANCE
from malsim.judging.prices.counting import Stage
from malsim.judging.shrink import smallest
from malsim.lab.falsify.margin_search import search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.prices.prices import Price
    from malsim.judging.prices.worlds import ClaimWorld
    from malsim.memory.graph.arrays import Array

CHOICES = 5  # numbers that make a claim: days since the last, writer, value, confidence, edge
EDGES = ("", "supports", "contradicts", "supersedes", "refines")
WRITERS = ("liar", "s1", "s2", "s3")
SHORTEST, LONGEST = 0.02, 60.0  # days between claims
MOST_CLAIMS = 6


@dataclass(frozen=True)
class _Lead:
    lead: float

    @property
    def broken(self) -> bool:
        return self.lead < -TOLERANCE


@dataclass(frozen=True, repr=False)
class CheaperLie:
    """The cheapest stream found below the bound that the strategies give (None: over the most), and the runs it took."""

    memory: str
    bound: int | None
    runs: int
    witness: tuple[Event, ...] = ()

    @property
    def claims(self) -> int | None:
        """Number of claims in the witness; None if nothing cheaper was found."""
        return len(self.witness) or None

    def __repr__(self) -> str:
        """Return a summary of the result, with the witness stream."""
        bound = "over the most" if self.bound is None else self.bound
        if not self.witness:
            return f"{self.memory}: nothing cheaper than {bound} in {self.runs} runs"
        summary = f"{self.memory}: {self.claims} claims instead of {bound}, in {self.runs} runs"
        return f"{summary}\n{event_table(self.witness)}"


def search_price(subject: Subject, world: ClaimWorld, price: Price, *, budget: int, seed: int = 0) -> CheaperLie:
    """Search for streams of fewer claims than the price of the lie, at most six; strategies stay an upper bound.

    What is reported was played once more to a new memory. The same seed makes the same streams.
    """
    stage, runs = Stage(subject, world), 0
    best: tuple[Event, ...] = ()
    claims = min(MOST_CLAIMS, (price.lie_claims or MOST_CLAIMS + 1) - 1)
    while claims and runs < budget:

        def evaluate(points: Sequence[Array]) -> Iterator[_Lead]:
            for point in points:
                yield _Lead(float(np.nan_to_num(stage.lead(_stream(world, point)), nan=np.inf)))

        trail = search(
            claims * CHOICES, evaluate, budget=budget - runs, key=lambda point: tuple(_stream(world, point)),
            rank=lambda leads: [one.lead for one in leads], block=CHOICES, seed=seed,
        )  # fmt: skip
        runs += len(trail.runs)
        if trail.broken is None:
            break
        least = smallest(_stream(world, trail.points[trail.broken]), _fewer, lambda events: stage.lead(events) < -TOLERANCE)
        if not Stage(subject, world).lead(least) < -TOLERANCE:
            break  # a second run does not confirm it
        best, claims = tuple(least), len(least) - 1
    return CheaperLie(subject.name, price.lie_claims, runs, best)


def _stream(world: ClaimWorld, point: Array) -> list[Event]:
    events, t = [], world.start
    for share, who, value, stated, edge in point.reshape(-1, CHOICES).tolist():
        says = world.lie if value < 0.8 else world.truth  # noqa: PLR2004  # a liar may say what is true for a while
        relation = _one(EDGES, edge)
        about = world.lie if relation == "supports" else world.truth
        edges = [(relation, about)] if relation else []
        events.append(world.says(t, _one(WRITERS, who), says, *edges, stated=round(0.05 + 0.95 * stated, 2)))
        t = round(t + SHORTEST * (LONGEST / SHORTEST) ** share, 2)
    return events


def _fewer(events: list[Event]) -> Iterator[list[Event]]:
    """Yield the stream without each of its claims, the last one first."""
    if len(events) > 1:
        yield from (events[:place] + events[place + 1 :] for place in reversed(range(len(events))))


def _one(words: tuple[str, ...], share: float) -> str:
    return words[min(int(share * len(words)), len(words) - 1)]
