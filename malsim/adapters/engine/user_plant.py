"""Plant that consists of users' memories, one per replication.

The plant calls the memories and returns the answers as rows of a view.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.adapters.contract import Edge
from malsim.adapters.engine.host import CLOSE, MAKE, Ask, Breakdown, Host, error_of
from malsim.adapters.engine.interpreter import ANSWERS, Interpreter, ItemTable
from malsim.adapters.engine.sandbox import Sandbox
from malsim.base.errors import AdapterError
from malsim.memory.graph.arrays import ratio
from malsim.memory.port import Verdicts
from malsim.memory.schema import NONE, RELATIONS, VERDICT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.adapters.engine.adapter import Adapter, Phrases
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.tombstones import Retraction
    from malsim.memory.port import Claims, View, Vocabulary

ADMITTED, TAKEN, REFUSED = (VERDICT.index(word) for word in ("admitted", "deduplicated", "refused"))
MANY = 1000  # maximum number of items requested by a peek


@dataclass(frozen=True)
class UserState:
    """State of users' memories as last seen. The memories change in place, so a run can continue from a state only once."""

    instances: _Instances
    view: View
    now: float = 0.0
    ticks: int = 0


class UserPlant:
    """Plant that calls `write`, `tick`, `read` and `peek` of users' memories. `where` names the scenario in errors.

    A replication whose memory raises, hangs or gives an invalid answer is not called again; `failures` holds the reason.
    Raises `AdapterError` when no replication is left.
    """

    def __init__(self, adapter: Adapter, phrases: Phrases, *, where: str = "memory") -> None:
        self.adapter, self.phrases, self._where = adapter, phrases, where

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> UserState:
        instances = _Instances(self.adapter, self.phrases, self._where, replications, vocabulary)
        return UserState(instances, instances.table.view())

    def admit(self, state: UserState, claims: Claims) -> tuple[UserState, Verdicts]:
        """Write the claims of each replication, one call per instant, then peek at the claims' objects."""
        instances, table, height = state.instances, state.instances.table, len(state.instances.table.rows)
        edges, dropped = instances.edges(claims)
        by_rep = instances.interpreter.claims(claims, edges)
        parts = {rep: part for rep, part in by_rep.items() if rep not in instances.failures}
        asks = [
            Ask(rep, "write", max(state.now, time), [claim for _, claim in group])
            for rep, part in parts.items()
            for time, group in groupby(part, key=lambda pair: pair[1].time)
        ]
        for rep, part in parts.items():
            about, now = dict.fromkeys(claims.object[row] for row, _ in part), max(state.now, part[-1][1].time)
            asks += instances.looks(rep, about, now, state.ticks)
        absent = instances.look(asks, instances.ask(asks))
        verdict, row = np.full(len(claims), TAKEN), np.full(len(claims), NONE)
        for rep, part in parts.items():
            for index, _ in part:
                row[index], new = instances.row(rep, int(claims.object[index]), int(claims.value[index]), height)
                verdict[index] = ADMITTED if new else TAKEN
        instances.new_rows.clear()
        nothing = np.flatnonzero((claims.object == NONE) | (claims.value == NONE)).tolist()
        verdict[nothing] = REFUSED
        issues = dict.fromkeys(nothing, "a memory of items accepts only claims with an object and a value")
        superseded = np.array(sorted(row for row in absent if row < height), dtype=np.int64)
        verdicts = Verdicts(verdict=verdict, row=row, dropped=dropped, issues=issues, superseded=superseded)
        return replace(state, view=table.view()), verdicts

    def retract(
        self, state: UserState, rep: Ints, object_: Ints, value: Ints, retraction: Retraction
    ) -> tuple[UserState, Bools]:
        """Ask each memory that supports the call to correct or forget a value, then peek at the objects concerned."""
        instances = state.instances
        offered = bool(instances.members[retraction.do])
        alive = np.array([offered and number not in instances.failures for number in rep.tolist()], dtype=bool)
        rows = list(zip(rep[alive].tolist(), object_[alive].tolist(), value[alive].tolist(), strict=True))
        asks = [
            Ask(number, retraction.do, retraction.now, instances.interpreter.arguments(about, claimed, retraction))
            for number, about, claimed in rows
        ]
        for number, about in dict.fromkeys((number, about) for number, about, _ in rows):
            asks += instances.looks(number, [about], retraction.now, state.ticks)
        instances.look(asks, instances.ask(asks))
        return replace(state, view=instances.table.view(), now=max(retraction.now, state.now)), alive

    def tick(self, state: UserState, now: float) -> UserState:
        """Call `tick` of each memory, then peek at every object with a claim."""
        instances, asks = state.instances, list[Ask]()
        for rep in instances.alive:
            asks.append(Ask(rep, "tick", now))
            asks += instances.looks(rep, instances.interpreter.claimed.get(rep, []), now, state.ticks)
        instances.look(asks, instances.ask(asks))
        return UserState(instances, instances.table.view(), now, state.ticks + 1)

    def share(self, state: UserState, object_: Ints, scope: str, now: float, *, shared: bool) -> tuple[UserState, bool]:
        instances, call = state.instances, "share" if shared else "unshare"
        offered = bool(instances.members[call])
        names, scopes = instances.interpreter.objects, instances.interpreter.scopes
        arguments = [{"object": names[row], "to": scope, "now": now, "scope": scopes[row]} for row in object_.tolist()]
        instances.ask([Ask(rep, call, now, given) for rep in instances.alive for given in arguments] if offered else [])
        return replace(state, now=max(now, state.now)), offered

    def shows(self, state: UserState, object_: Ints, scope: str, now: float) -> Bools:
        """Return a mask (object, replication), True where an active item within the scope states a claimed value."""
        instances, answered = state.instances, np.zeros((len(object_), len(state.instances.numbers)), dtype=bool)
        interpreter, pairs = instances.interpreter, [(rep, row) for rep in instances.alive for row in range(len(object_))]
        asks = [Ask(rep, "peek", now, interpreter.query(int(object_[row]), scope), MANY) for rep, row in pairs]
        for (rep, row), items in zip(pairs, instances.ask(asks), strict=True):
            values = [interpreter.value(rep, int(object_[row]), item) for item in items or () if item.active]
            answered[row, rep] = any(isinstance(value, int) for value in values)
        return answered

    def answer(
        self, state: UserState, rep: Ints, object_: Ints, limit: int, now: float, scope: str | None = None
    ) -> UserState:
        """Read each (replication, object) pair, which counts as a use. The view of the new state contains the answers."""
        instances = state.instances
        pairs = [pair for pair in zip(rep.tolist(), object_.tolist(), strict=True) if pair[0] not in instances.failures]
        asks = [Ask(number, "read", now, instances.interpreter.query(about, scope), limit) for number, about in pairs]
        instances.look(asks, instances.ask(asks))
        return replace(state, view=instances.table.view(), now=max(now, state.now))

    def read(self, state: UserState, rep: Ints, object_: Ints, opened: Ints, now: float) -> UserState:  # noqa: ARG002
        return self.answer(state, rep, object_, MANY, now)

    def view(self, state: UserState, now: float) -> View:  # noqa: ARG002  # memories are peeked at after each event
        return state.view

    def failures(self, state: UserState) -> dict[int, AdapterError]:
        return {state.instances.numbers[rep]: problem for rep, problem in state.instances.failures.items()}

    def answers(self, state: UserState) -> dict[str, Array]:
        """Return the share of answers about claimed objects that have each problem in `ANSWERS`, per replication."""
        tally = state.instances.table.tally
        return {kind: ratio(tally[kind], tally["looks"]) for kind in ANSWERS}

    def close(self, state: UserState) -> None:
        state.instances.close()


class _Instances:
    def __init__(
        self, adapter: Adapter, phrases: Phrases, where: str, replications: Sequence[int], vocabulary: Vocabulary
    ) -> None:
        self.numbers, self._name = list(replications), adapter.name
        self.failures: dict[int, AdapterError] = {}
        self.interpreter = Interpreter(vocabulary, phrases)
        self.table = ItemTable(self.interpreter, len(replications))
        self.new_rows: set[int] = set()
        self._object = {name: index for index, name in enumerate(vocabulary.objects)}
        self._latest: dict[tuple[int, int], list[int]] = {}
        adapter.check_allowed(where)
        source, name = adapter.source, adapter.name
        self._host = Host(source, name) if adapter.trusted else Sandbox(source, name, limit=adapter.limit)
        declarations = self.ask([Ask(rep, MAKE) for rep in range(len(replications))])
        self.members = next(answer for answer in declarations if answer)

    @property
    def alive(self) -> list[int]:
        return [rep for rep in range(len(self.numbers)) if rep not in self.failures]

    def edges(self, claims: Claims) -> tuple[dict[int, list[Edge]], int]:
        """Return each claim's edges if the memory accepts edges, and the number of edges dropped."""
        by_claim: dict[int, list[Edge]] = {}
        if claims.edges is None:
            return by_claim, 0
        dropped = 0
        columns = (claims.edges.claim.tolist(), claims.edges.relation.tolist(), claims.edges.target.tolist())
        for claim, relation, target in zip(*columns, strict=True):
            if self.members["edges"] and target != NONE:
                by_claim.setdefault(claim, []).append(Edge(RELATIONS[relation], self.table.sentence(target)))
            else:
                dropped += 1
        return by_claim, dropped

    def ask(self, asks: Sequence[Ask]) -> list[Any]:
        """Make the calls and return their answers, with [] if a read returned None. A failed call ends its replication.

        Raises `AdapterError` when no replication is left.
        """
        answers, broken = self._host.run(asks)
        for breakdown in broken:
            self._fail(asks[breakdown.position], breakdown)
        return [[] if answer is None and ask.call == "read" else answer for ask, answer in zip(asks, answers, strict=True)]

    def close(self) -> None:
        try:
            self._host.run([Ask(rep, CLOSE) for rep in range(len(self.numbers))])
        finally:
            self._host.stop()

    def looks(self, rep: int, objects: Iterable[int], now: float, number: int) -> list[Ask]:
        """Return calls that peek at each object once and at one of them again, to check that peeking changes nothing."""
        looks = [Ask(rep, "peek", now, self.interpreter.query(object_), MANY) for object_ in objects]
        return [*looks, looks[number % len(looks)]] if looks else looks

    def look(self, asks: Sequence[Ask], answers: Sequence[Any]) -> list[int]:
        """Record the returned items in the table, and return the rows that have disappeared."""
        absent: list[int] = []
        first_looks: dict[tuple[int, str], list[str]] = {}
        for index, (ask, items) in enumerate(zip(asks, answers, strict=True)):
            if items is None or ask.call not in ("read", "peek") or ask.rep in self.failures:
                continue
            about = ask.about.object  # type: ignore[union-attr]  # a query
            ids = sorted(item.id for item in items)
            if ask.call == "peek" and first_looks.setdefault((ask.rep, about), ids) != ids:
                before = len(first_looks[ask.rep, about])
                problem = f"showed {before} items in one peek and {len(ids)} in the next; a peek must change nothing"
                self._fail(ask, Breakdown(index, problem))
                continue
            try:
                now, missing = self.table.show(ask.rep, self._object[about], items)
            except AdapterError as wrong:
                self._fail(ask, Breakdown(index, wrong.problem, wrong.given, wrong.allowed))
                continue
            self._latest[ask.rep, self._object[about]] = now
            absent += missing
        return absent

    def row(self, rep: int, object_: int, value: int, height: int) -> tuple[int, bool]:
        """Return a claim's row and whether it is new. If no new item states the value, use an earlier item's row or NONE."""
        items = self.table.rows
        rows = [row for row in self._latest.get((rep, object_), ()) if items[row].value == value and items[row].active]
        new = next((row for row in rows if row >= height and row not in self.new_rows), NONE)
        if new != NONE:
            self.new_rows.add(new)
            return new, True
        return (rows[0] if rows else NONE), False

    def _fail(self, ask: Ask, broken: Breakdown) -> None:
        if ask.rep in self.failures:
            return
        claim = self.interpreter.last.get(ask.rep)
        after = "" if claim is None else f", last claim: {claim.writer} on {claim.object}: {claim.value} at {claim.time:g} d"
        where = f"{self._name}: {ask.call}, replication {self.numbers[ask.rep]}, day {ask.now:g}{after}"
        self.failures[ask.rep] = error_of(broken, where)
        self.table.drop(ask.rep)
        if len(self.failures) == len(self.numbers):
            self.close()
            raise next(iter(self.failures.values()))
