"""Count of the steps that make memories believe a lie, and the truth, in the closed world or from a store's claims."""

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

MOST_FACTS = 6  # other facts that a liar may be right about first
LIE = "something else"


def standing_world(path: str | Path, fact: str, subject: Subject, *, lie: str = LIE, most: int = 12) -> ClaimWorld:
    """Return the world in which a liar attacks this memory's answer about a fact, a day after a store's last claim.

    Raises `UsageError` for a fact that the store does not have, a lie that a writer already claims, or a memory
    that answers nothing.
    """
    objects = {item.object: item for item in histories(path)}
    if fact not in objects:
        hint = nearest(fact, objects, "malsim look shows what it holds")
        raise UsageError("the store has no claim about it", where="--fact", given=fact, hint=hint)
    values = [claim.value for claim in objects[fact].claims]
    if lie in values:
        raise UsageError("a writer already claims this value", where="--lie", given=lie, hint="name another value")
    past = sorted(
        (
            Event(claim.t, "write", name, claim.value, claim.writer, claim.stated)
            for name, item in objects.items()
            for claim in item.claims
        ),
        key=lambda event: event.t,
    )
    facts = tuple((name, item.claims[-1].value) for name, item in objects.items() if name != fact)[:MOST_FACTS]
    world = ClaimWorld(past=tuple(past), honest=(), facts=facts, about=fact, truth=values[-1], lie=lie,
                  start=float(ceil(past[-1].t)) + 1.0, most=most, shared=False)  # fmt: skip
    truth = _answer(subject, world)
    honest = dict.fromkeys(claim.writer for claim in objects[fact].claims if claim.value == truth)
    return replace(world, truth=truth, honest=tuple(honest))


def _answer(subject: Subject, world: ClaimWorld) -> str:
    with closing(subject.fresh(world.vocabulary, verified=False)) as memory:
        player = Player(memory, now=float("-inf"))
        for event in with_ticks(world):
            player.happen([event])
        scores = looked(player.happen([Event(world.start, "peek", world.about)]) or ()).scores
    if not scores:
        raise UsageError(f"answers nothing about {world.about}", where=subject.name, hint="name another --fact")
    return max(scores, key=lambda value: scores[value])


def price_of(subject: Subject, world: ClaimWorld, *, strategies: Sequence[str] = (), ways: Sequence[str] = ()) -> Price:
    """Return the prices of one memory in one world, of the named strategies and ways, by default of all."""
    subject = measured(subject)
    stage = Stage(subject, world)
    lie = {name: stage.count(STRATEGIES[name]) for name in strategies or USUAL}
    truth = {name: stage.count(WAYS[name]) for name in ways or WAYS}
    return Price(subject.name, world.most, lie, truth, subject.tolerance)


def price(
    *memories: object, honest: int = 3, most: int = 12, strategies: Sequence[str] = (), limit: float = 10.0,
    watch: Callable[[Sequence[Subject]], Iterable[Subject]] = iter, **world: float,
) -> PriceTable:  # fmt: skip
    """Count what it takes to make each memory believe a lie, and the truth.

    Parameters
    ----------
    memories
        Laws and presets by name, `package.module:factory`, `mcp:COMMAND`, `Rules`, or what makes a memory.
    honest, most
        How many honest writers say A, and how many steps of each strategy are tried; 1 and more.
    strategies
        Of a liar, those of `STRATEGIES`; if none, those of `USUAL`, which are all but `floods`.
    limit
        Seconds that a call of a memory of your own may take.
    world
        Other numbers of the world: `stated`, `lie_stated`, `gap` (days), `start` (day).

    Raises `UsageError` for a memory that never answers the truth before the lie begins, and for what is out of bounds.

    >>> price("majority", strategies=["sybils"]).prices[0].lie["sybils"].price
    4
    """
    here = closed_world(honest, most=most, **world)
    names = strategies_of(strategies)
    subjects = [subject_of(memory, limit=limit) for memory in memories]
    return PriceTable(tuple(price_of(item, here, strategies=names) for item in watch(subjects)))


def strategies_of(names: Sequence[str]) -> Sequence[str]:
    """Return the names if each is a strategy; raise `UsageError` with the nearest names otherwise."""
    for name in names:
        if name not in STRATEGIES:
            allowed = ", ".join(STRATEGIES)
            raise UsageError(
                "unknown strategy", where="strategies", given=name, allowed=allowed, hint=nearest(name, STRATEGIES, "")
            )
    return names
