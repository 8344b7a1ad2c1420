"""Prices of the lie and the truth for memories, in the closed world or in the world of a store's claims."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.judging.axioms.engine.events import Event
from malsim.judging.axioms.engine.subject import looked, measured
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.axioms.store_claims import histories
from malsim.judging.player import Player
from malsim.judging.prices.counting import Stage
from malsim.judging.prices.prices import Price, PriceTable
from malsim.judging.prices.strategies import STRATEGIES, USUAL, WAYS
from malsim.judging.prices.worlds import ClaimWorld, closed_world, with_ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from malsim.judging.axioms.engine.subject import Subject

MOST_FACTS = 6  # other facts that a liar may claim correctly first
LIE = "something else"


def standing_world(path: str | Path, fact: str, subject: Subject, *, lie: str = LIE, most: int = 12) -> ClaimWorld:
    """Return the world in which a liar attacks a memory's answer about a fact, a day after the last claim of a store.

    Raises `UsageError` for a fact without claims in the store, a lie that a writer already claims, or a memory without an
    answer.
    """
    objects = {item.object: item for item in histories(path)}
    if fact not in objects:
        hint = nearest(fact, objects, "`malsim look` lists its objects")
        raise UsageError("the store has no claim about this object", where="--fact", given=fact, hint=hint)
    values = [claim.value for claim in objects[fact].claims]
    if lie in values:
        raise UsageError("a writer already claims this value", where="--lie", given=lie, hint="choose another value")
    past = [
        Event(claim.t, "write", name, claim.value, claim.writer, claim.stated)
        for name, item in objects.items()
        for claim in item.claims
    ]
    past.sort(key=lambda event: event.t)
    facts = tuple((name, item.claims[-1].value) for name, item in objects.items() if name != fact)[:MOST_FACTS]
    world = ClaimWorld(past=tuple(past), honest=(), facts=facts, about=fact, truth=values[-1], lie=lie,
                  start=float(ceil(past[-1].t)) + 1.0, most=most, shared=False)  # fmt: skip
    with closing(subject.fresh(world.vocabulary, verified=False)) as memory:
        player = Player(memory, now=float("-inf"))
        for event in with_ticks(world):
            player.happen([event])
        scores = looked(player.happen([Event(world.start, "peek", fact)]) or ()).scores
    if not scores:
        raise UsageError(f"has no answer about {fact}", where=subject.name, hint="choose another --fact")
    truth = max(scores, key=lambda value: scores[value])
    honest = dict.fromkeys(claim.writer for claim in objects[fact].claims if claim.value == truth)
    return replace(world, truth=truth, honest=tuple(honest))


def price_of(subject: Subject, world: ClaimWorld, *, strategies: Sequence[str] = (), ways: Sequence[str] = ()) -> Price:
    """Return the prices of one memory in one world, for some strategies and ways (default: the usual ones)."""
    subject = measured(subject)
    stage = Stage(subject, world)
    lie = {name: stage.count(STRATEGIES[name]) for name in strategies or USUAL}
    truth = {name: stage.count(WAYS[name]) for name in ways or WAYS}
    return Price(subject.name, world.most, lie, truth, subject.tolerance)


def price(
    *memories: object, honest: int = 3, most: int = 12, strategies: Sequence[str] = (), limit: float = 10.0,
    watch: Callable[[Sequence[Subject]], Iterable[Subject]] = iter, **world: float,
) -> PriceTable:  # fmt: skip
    """Count the claims and identities that make each memory believe a lie, and those that make it believe the truth.

    Parameters
    ----------
    memories
        Laws and presets by name, `package.module:factory`, `mcp:COMMAND`, `Rules`, or factories of memories.
    honest, most
        Number of honest writers who claim A, and of steps to try of each strategy; 1 or more.
    strategies
        Strategies of a liar, from `STRATEGIES`; by default `USUAL`, which are all but `floods`.
    limit
        Seconds that a call of a memory of your own may take.
    world
        Other numbers of the world: `stated`, `lie_stated`, `gap` (days), `start` (day).

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
