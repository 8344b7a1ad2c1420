"""Prices of a lie and of the truth, computed in the closed world or in a world built from a store's claims."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.judging.axioms.engine.compare import number
from malsim.judging.axioms.engine.events import Event
from malsim.judging.axioms.engine.played_laws import LawMemory
from malsim.judging.axioms.engine.subject import looked, measured
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.axioms.store_claims import histories
from malsim.judging.player import Player
from malsim.judging.prices.prices import Count, Price, PriceTable
from malsim.judging.prices.worlds import PEEK, STRATEGIES, USUAL, WAYS, ClaimWorld, closed_world, with_ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from malsim.judging.axioms.engine.subject import PeekResult, Subject
    from malsim.judging.player import Playable

MOST_FACTS = 6  # maximum number of true claims about other facts that a liar may make before the lie
LIE = "something else"


def standing_world(path: str | Path, fact: str, subject: Subject, *, lie: str = LIE, most: int = 12) -> ClaimWorld:
    """Return a world in which a liar attacks a memory's answer about a fact, starting after the last claim in a store.

    Raises `UsageError` if no claim in the store is about the fact, a writer already claims the lie, or a memory has no
    answer.
    """
    objects = histories(path)
    if fact not in objects:
        hint = nearest(fact, objects, "run `malsim look` to list its objects")
        raise UsageError("the store has no claim about this object", where="--fact", given=fact, hint=hint)
    values = [claim.value for claim in objects[fact]]
    if lie in values:
        raise UsageError("a writer already claims this value", where="--lie", given=lie, hint="choose another value")
    past = sorted((claim for claims in objects.values() for claim in claims), key=lambda claim: claim.t)
    facts = tuple((name, claims[-1].value) for name, claims in objects.items() if name != fact)[:MOST_FACTS]
    world = ClaimWorld(past=tuple(past), honest=(), facts=facts, about=fact, truth=values[-1], lie=lie,
                  start=float(ceil(past[-1].t)) + 1.0, most=most, shared=False)  # fmt: skip
    with closing(subject.fresh(world.vocabulary, verified=False)) as memory:
        player = Player(memory, now=float("-inf"))
        for event in with_ticks(world):
            player.happen([event])
        scores = looked(player.happen([Event(world.start, "peek", fact)]) or ()).scores
    if not scores:
        raise UsageError(f"the memory has no answer about {fact}", where=subject.name, hint="choose another --fact")
    truth = max(scores, key=lambda value: scores[value])
    honest = dict.fromkeys(claim.writer for claim in objects[fact] if claim.value == truth)
    return replace(world, truth=truth, honest=tuple(honest))


class Stage:
    """Memory against which a world's past was played. A law resumes from a snapshot if a stream extends the previous one.

    Raises `UsageError` for a memory that never answers the truth before the lie begins.
    """

    def __init__(self, subject: Subject, world: ClaimWorld) -> None:
        self._subject, self._world, self._vocabulary = subject, world, world.vocabulary
        # Memory states after the world's past and after the latest stream.
        self._snapshots: list[tuple[list[Event], LawMemory]] = []
        looks = self._play_past(with_ticks(world))
        if not any(self._lead(look) > subject.tolerance for look in looks):
            scores = next((look.scores for look in reversed(looks) if look.items), {})
            given = ", ".join(f"{value}: {number(score)}" for value, score in scores.items()) or "nothing"
            problem = f"the memory never answers {world.truth} about {world.about} before the lie begins"
            hint = "test a memory that answers the truth first"
            raise UsageError(problem, where=subject.name, given=given, hint=hint)

    def _play_past(self, past: list[Event]) -> list[PeekResult]:
        """Play the past, save the resulting memory as the start of every stream, and return a peek after each tick."""
        looks: list[PeekResult] = []
        memory = self._subject.fresh(self._vocabulary, verified=False)
        player = Player(memory, now=float("-inf"))
        for event in past:
            player.happen([event])
            if event.do == "tick":
                looks.append(self._peek(memory, event.t))
        if isinstance(memory, LawMemory):
            self._snapshots = [(past, memory)]
        else:
            memory.close()
        return looks

    def count(self, steps: Callable[[ClaimWorld, int], list[Event]]) -> Count:
        """Add steps until the lie leads. Return the numbers of steps that cause doubt and that change the answer."""
        doubt: int | None = None
        for n in range(1, self._world.most + 1):
            events = steps(self._world, n)
            lead = self.lead(events)
            if doubt is None and lead <= self._subject.tolerance:
                doubt = n
            if lead < -self._subject.tolerance:
                return Count(doubt, n, tuple(events))
        return Count(doubt, None)

    def lead(self, events: Sequence[Event]) -> float:
        """Return the truth's lead after the first tick that follows the events; NaN if the memory shows neither value."""
        stream = with_ticks(self._world, events)
        with closing(self._memory_after(stream[:-1])) as memory:
            end = stream[-1].t
            memory.tick(end)
            return self._lead(self._peek(memory, end))

    def _lead(self, look: PeekResult) -> float:
        return look.score(self._world.truth) - look.score(self._world.lie)

    def _peek(self, memory: Playable, now: float) -> PeekResult:
        return looked(Player(memory, now=now).happen([Event(now + PEEK, "peek", self._world.about)]) or ())

    def _memory_after(self, events: list[Event]) -> Playable:
        snapshots = [snapshot for snapshot in self._snapshots if events[: len(snapshot[0])] == snapshot[0]]
        memory = snapshots[-1][1].fork() if snapshots else self._subject.fresh(self._vocabulary, verified=False)
        player = Player(memory, now=float("-inf"))
        for event in events[len(snapshots[-1][0]) if snapshots else 0 :]:
            player.happen([event])
        if isinstance(memory, LawMemory):
            self._snapshots[1:] = [(events, memory)]
            return memory.fork()
        return memory


def price_of(subject: Subject, world: ClaimWorld, *, strategies: Sequence[str] = (), ways: Sequence[str] = ()) -> Price:
    """Return a memory's prices in one world, by default for the strategies `USUAL` and all ways of correction."""
    subject = measured(subject)
    stage = Stage(subject, world)
    lie = {name: stage.count(STRATEGIES[name]) for name in strategies or USUAL}
    truth = {name: stage.count(WAYS[name]) for name in ways or WAYS}
    return Price(subject.name, world.most, lie, truth, subject.tolerance)


def price(
    *memories: object, honest: int = 3, most: int = 12, strategies: Sequence[str] = (), limit: float = 10.0,
    watch: Callable[[Sequence[Subject]], Iterable[Subject]] = iter, **world: float,
) -> PriceTable:  # fmt: skip
    """Compute the prices, in claims and identities, of making each memory believe a lie and of making it believe the truth.

    Parameters
    ----------
    memories
        Laws and presets by name, `package.module:factory`, `mcp:COMMAND`, `Rules`, or factories of memories.
    honest, most
        Number of honest writers who claim A, and number of steps to try per strategy; each at least 1.
    strategies
        Liar strategies from `STRATEGIES`; by default `USUAL`, that is, all except `floods`.
    limit
        Maximum duration of a call to a memory of your own, in seconds.
    world
        Other settings of the world: `stated`, `lie_stated`, `gap` (days), `start` (day).

    Raises `UsageError` for a memory that never answers the truth before the lie begins, an unknown strategy, or a number out
    of bounds.

    >>> price("majority", strategies=["sybils"]).prices[0].lie["sybils"].price
    4
    """
    claim_world = closed_world(honest, most=most, **world)
    for name in strategies:
        if name not in STRATEGIES:
            allowed, hint = ", ".join(STRATEGIES), nearest(name, STRATEGIES, "")
            raise UsageError("no such strategy", where="strategies", given=name, allowed=allowed, hint=hint)
    subjects = [subject_of(memory, limit=limit) for memory in memories]
    return PriceTable(tuple(price_of(item, claim_world, strategies=strategies) for item in watch(subjects)))
