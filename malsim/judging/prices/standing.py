"""World of a store: the steps from its current claims that would overturn a memory's belief about a fact."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.judging.axioms.engine.events import Event
from malsim.judging.axioms.engine.subject import looked
from malsim.judging.axioms.own_claims import histories
from malsim.judging.player import Player
from malsim.judging.prices.worlds import ClaimWorld, with_ticks

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.judging.axioms.engine.subject import Subject

MOST_FACTS = 6  # other facts that a liar may be right about first
LIE = "something else"


def standing_world(path: str | Path, fact: str, subject: Subject, *, lie: str = LIE, most: int = 12) -> ClaimWorld:
    """Return the world in which a liar attacks this memory's answer about a fact, a day after a store's last claim.

    Raises `UsageError` for a fact that the store does not have, a lie that is said already, or a memory
    that answers nothing.
    """
    objects = {each.object: each for each in histories(path)}
    if fact not in objects:
        hint = nearest(fact, objects, "malsim look shows what it holds")
        raise UsageError("the store claims nothing of it", where="--fact", given=fact, hint=hint)
    own = [one.value for one in objects[fact].claims]
    if lie in own:
        raise UsageError("a writer already claims this value", where="--lie", given=lie, hint="name another value")
    past = sorted(
        (
            Event(one.t, "write", name, one.value, one.writer, one.stated)
            for name, each in objects.items()
            for one in each.claims
        ),
        key=lambda event: event.t,
    )
    facts = tuple((name, each.claims[-1].value) for name, each in objects.items() if name != fact)[:MOST_FACTS]
    world = ClaimWorld(past=tuple(past), honest=(), facts=facts, about=fact, truth=own[-1], lie=lie,
                  start=float(ceil(past[-1].t)) + 1.0, most=most, shared=False)  # fmt: skip
    truth = _answer(subject, world)
    honest = dict.fromkeys(one.writer for one in objects[fact].claims if one.value == truth)
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
