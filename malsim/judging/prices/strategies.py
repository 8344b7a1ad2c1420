"""Strategies of a liar, and ways of honest writers to correct the lie: the first n steps of each as events."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from malsim.judging.axioms.engine.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.judging.prices.worlds import ClaimWorld

YEAR = 365.0


def _time(world: ClaimWorld, step: int) -> float:
    return world.start + world.gap * step


def _liar(world: ClaimWorld, n: int, *, relation: str = "", later: float = 0.0) -> list[Event]:
    """Return n claims of the lie by one writer, each with an edge to the truth if `relation` is given."""
    edges = ((relation, world.truth),) if relation else ()
    return [world.says(_time(world, step) + later, "liar", world.lie, *edges) for step in range(n)]


def _sybils(world: ClaimWorld, n: int) -> list[Event]:
    """Return n claims of the lie, each by another writer."""
    return [world.says(_time(world, step), f"s{step + 1}", world.lie) for step in range(n)]


def _earns(world: ClaimWorld, n: int) -> list[Event]:
    """Return true claims about all other facts by n writers, then the lie by each of them."""
    writers = [f"s{number}" for number in range(1, n + 1)]
    facts = [(*fact, writer) for writer in writers for fact in world.facts]
    true = [Event(_time(world, step), "write", *fact, world.stated) for step, fact in enumerate(facts)]
    return true + [world.says(_time(world, len(true) + step), writer, world.lie) for step, writer in enumerate(writers)]


def _floods(world: ClaimWorld, n: int) -> list[Event]:
    claims = [Event(_time(world, step), "write", *fact, "liar", world.lie_stated) for step, fact in enumerate(world.own(n))]
    return [*claims, world.says(_time(world, n), "liar", world.lie)]


def _cites(world: ClaimWorld, n: int) -> list[Event]:
    edges = [("supports", world.lie)]
    return [world.says(_time(world, step), "liar", world.lie, *(edges if step else ())) for step in range(n)]


def _reads(world: ClaimWorld, n: int) -> list[Event]:
    reads = [Event(_time(world, step), "read", world.about) for step in range(n - 1)]
    return [world.says(world.start, "liar", world.lie), *reads]


def _truth(world: ClaimWorld, n: int, *, relation: str = "", each: bool = True) -> list[Event]:
    """Return n claims of the lie's value by honest writers in turn, or by one, who correct their earlier answer."""
    edges, writers = (((relation, world.truth),) if relation else ()), world.honest if each else world.honest[:1]
    turns = [(_time(world, step), writers[step % len(writers)]) for step in range(n)]
    return [world.says(t, writer, world.lie, *edges, stated=world.stated) for t, writer in turns]


STRATEGIES: dict[str, Callable[[ClaimWorld, int], list[Event]]] = {
    "repeats": _liar,
    "sybils": _sybils,
    "earns": _earns,
    "floods": _floods,
    "denies": partial(_liar, relation="contradicts"),
    "supersedes": partial(_liar, relation="supersedes"),
    "cites": _cites,
    "waits": partial(_liar, later=YEAR),
    "reads": _reads,
}
USUAL = tuple(name for name in STRATEGIES if name != "floods")  # strategies of the published table
WAYS: dict[str, Callable[[ClaimWorld, int], list[Event]]] = {
    "each": _truth,
    "one": partial(_truth, each=False),
    "denies": partial(_truth, relation="contradicts"),
    "corrects": partial(_truth, relation="supersedes"),
}
