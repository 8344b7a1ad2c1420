"""Worlds for prices: honest writers' past claims, a liar's strategies, and honest writers' ways of correcting the lie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil, floor
from typing import TYPE_CHECKING

from malsim.adapters import Edge
from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.events import Event
from malsim.memory.port import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OTHERS = tuple(f"o{number}" for number in range(1, 7))
DAILY, WEEK, TICK, PEEK, YEAR = 40, 7, 0.97, 0.02, 365.0  # lengths and offsets in days


@dataclass(frozen=True, kw_only=True)
class ClaimWorld:
    """World in which honest writers claim that `about` is `truth`, and a liar claims `lie` from day `start` on.

    `stated` and `lie_stated` are the confidences that honest writers and a liar state, `gap` is the number of days
    between steps, `most` the maximum number of steps per strategy. If `shared` is true, all objects have the same
    values. Raises `UsageError` for a number out of bounds.
    """

    past: tuple[Event, ...]
    honest: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    about: str = "x"
    truth: str = "A"
    lie: str = "B"
    stated: float = 0.8
    lie_stated: float = 0.95
    gap: float = 0.5
    start: float = 40.0
    most: int = 12
    shared: bool = True

    def __post_init__(self) -> None:
        if self.most < 1:
            raise UsageError("out of bounds", where="most", given=self.most, allowed="1 or more")
        for name in ("stated", "lie_stated"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError("out of bounds", where=name, given=getattr(self, name), allowed="0 to 1")
        if not self.gap > 0.0:
            raise UsageError("out of bounds", where="gap", given=self.gap, allowed="above 0 (days)")

    @property
    def vocabulary(self) -> Vocabulary:
        """Names of all writers, and all possible values of each object."""
        liars = ["liar", *(f"s{number}" for number in range(1, self.most + 1))]
        writers = dict.fromkeys([*self.honest, *(event.writer for event in self.past), *liars])
        values: dict[str, dict[str, None]] = {self.about: dict.fromkeys((self.truth, self.lie))}
        past = ((event.object, event.value) for event in self.past)
        for name, value in [*past, *self.facts, *self.own(self.most)]:
            values.setdefault(name, {})[value] = None
        every = list(dict.fromkeys(word for words in values.values() for word in words))
        return Vocabulary(list(writers), list(values), [every if self.shared else list(words) for words in values.values()])

    def own(self, n: int) -> list[tuple[str, str]]:
        """Return n (object, value) facts for a liar to claim. If objects share their values, each value is `truth`."""
        return [(f"own {number}", self.truth if self.shared else f"own {number}") for number in range(n)]

    def says(self, t: float, writer: str, value: str, *edges: tuple[str, str], stated: float | None = None) -> Event:
        """Return a claim that `about` has `value`.

        Each (relation, value) in `edges` adds edges to all claims of that value.
        """
        about = tuple(Edge(relation, f"{self.about} is {word}") for relation, word in edges)
        stated = self.lie_stated if stated is None else stated
        return Event(t, "write", self.about, value, writer, stated, about)


def closed_world(honest: int = 3, *, stated: float = 0.8, **numbers: float) -> ClaimWorld:
    """Return a world in which each honest writer claims twice that x is A, and claims six other facts once.

    Raises `UsageError` for fewer than one honest writer.
    """
    if honest < 1:
        raise UsageError("out of bounds", where="honest", given=honest, allowed="1 or more")
    writers = tuple(f"h{number}" for number in range(1, honest + 1))
    supports = (Edge("supports", "x is A"),)
    first = [
        Event(10.0 * r + 0.1 * w, "write", "x", "A", writer, stated, supports if r or w else ())
        for r in range(2)
        for w, writer in enumerate(writers)
    ]
    rest = [
        Event(20.0 + index + 0.1 * w, "write", name, "T", writer, stated)
        for index, name in enumerate(OTHERS, start=1)
        for w, writer in enumerate(writers)
    ]
    facts = tuple((name, "T") for name in OTHERS)
    return ClaimWorld(past=tuple(first + rest), honest=writers, facts=facts, stated=stated, **numbers)  # type: ignore[arg-type]


def with_ticks(world: ClaimWorld, events: Sequence[Event] = ()) -> list[Event]:
    """Return the world's past and the events, with ticks between them and after the last event.

    Each day ends with a tick. Two periods have one tick per week instead: up to 40 days before `start`, and from 40
    days after `start` until the first event.
    """
    stream = [*world.past, *events]
    begin, daily = floor(min(event.t for event in stream)), ceil(world.start) + DAILY
    first = floor(min((event.t for event in events), default=world.start - 1.0))
    last = max(event.t for event in stream) if events else first
    end = floor(last) if last < floor(last) + TICK else floor(last) + 1
    near = max(begin, daily - 2 * DAILY)
    days = {*range(begin, near, WEEK), *range(near, daily), *range(daily, first, WEEK), *range(first, end + 1)}
    ticks = [Event(day + TICK, "tick") for day in sorted(days) if day <= end]
    return sorted([*stream, *ticks], key=lambda event: event.t)


def _time(world: ClaimWorld, step: int) -> float:
    return world.start + world.gap * step


def _liar(world: ClaimWorld, n: int, *, relation: str = "", later: float = 0.0) -> list[Event]:
    """Return n claims of the lie by one writer, each with an edge to the truth if `relation` is given."""
    edges = ((relation, world.truth),) if relation else ()
    return [world.says(_time(world, step) + later, "liar", world.lie, *edges) for step in range(n)]


def _sybils(world: ClaimWorld, n: int) -> list[Event]:
    """Return n claims of the lie, each by a different writer."""
    return [world.says(_time(world, step), f"s{step + 1}", world.lie) for step in range(n)]


def _earns(world: ClaimWorld, n: int) -> list[Event]:
    """Return n writers' true claims about all other facts, followed by each writer's claim of the lie."""
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


def _truth(world: ClaimWorld, n: int, *, relation: str = "", in_turn: bool = True) -> list[Event]:
    """Return n corrections by honest writers, in turn or all by the first: claims of `lie`, which is now the truth."""
    edges, writers = (((relation, world.truth),) if relation else ()), world.honest if in_turn else world.honest[:1]
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
USUAL = tuple(name for name in STRATEGIES if name != "floods")  # strategies used in the published table
WAYS: dict[str, Callable[[ClaimWorld, int], list[Event]]] = {
    "each": _truth,
    "one": partial(_truth, in_turn=False),
    "denies": partial(_truth, relation="contradicts"),
    "corrects": partial(_truth, relation="supersedes"),
}
