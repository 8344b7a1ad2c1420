"""A user's memories as a plant: one object a replication, asked call by call, its answers read back as rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.adapters.engine.host import CLOSE, MAKE, Ask, Breakdown, Host, lifted
from malsim.adapters.engine.interpreter import ANSWERS, Interpreter, ItemTable, WrongItemError, edge_of
from malsim.adapters.engine.sandbox import Sandbox
from malsim.base.errors import AdapterError
from malsim.memory.graph.arrays import ratio
from malsim.memory.port import Verdicts
from malsim.memory.schema import NONE, VERDICT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from malsim.adapters.contract import Claim, Edge
    from malsim.adapters.engine.adapter import Adapter, Phrases
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.take_back import Deed
    from malsim.memory.port import Claims, View, Vocabulary

ADMITTED, TAKEN, REFUSED = (VERDICT.index(word) for word in ("admitted", "deduplicated", "refused"))
MANY = 1000  # items that a peek asks for


@dataclass(frozen=True)
class UserState:
    """State of users' memories as last shown. The memories change in place, so that a state is continued only once."""

    instances: _Instances
    view: View
    now: float = 0.0
    ticks: int = 0


class UserPlant:
    """User's memories behind `write`, `tick`, `read` and `peek`; `where` names the scenario.

    A replication whose memory raises, hangs or gives an invalid answer is not called again; `failures` holds the reason.
    Raises `AdapterError` when no replication is left.
    """

    def __init__(self, adapter: Adapter, phrases: Phrases, *, where: str = "memory") -> None:
        self.adapter, self.phrases, self._where = adapter, phrases, where

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> UserState:
        instances = _Instances(self.adapter, self.phrases, self._where, replications, vocabulary)
        return UserState(instances, instances.table.view())

    def admit(self, state: UserState, claims: Claims) -> tuple[UserState, Verdicts]:
        """Write the claims of each replication, those of one instant in one call, then look where they went."""
        instances, table, height = state.instances, state.instances.table, len(state.instances.table)
        edges, dropped = instances.edges(claims)
        every = instances.interpreter.claims(claims, edges)
        parts = {rep: part for rep, part in every.items() if rep not in instances.failures}
        asks = list(instances.writes(parts, state.now))
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
        issues = dict.fromkeys(nothing, "a memory of items takes claims that name an object and a value")
        absent = [item for item in absent if item < height]
        superseded = np.array(sorted(absent), dtype=np.int64)
        verdicts = Verdicts(verdict=verdict, row=row, dropped=dropped, issues=issues, superseded=superseded)
        return replace(state, view=table.view()), verdicts

    def take_back(self, state: UserState, rep: Ints, object_: Ints, value: Ints, deed: Deed) -> tuple[UserState, Bools]:
        """Ask each memory that offers the call to take the value back, then look at the result."""
        instances, asks = state.instances, list[Ask]()
        alive = np.array([instances.offers(deed.do) and item not in instances.failures for item in rep.tolist()], dtype=bool)
        rows = list(zip(rep[alive].tolist(), object_[alive].tolist(), value[alive].tolist(), strict=True))
        for item, about, says in rows:
            asks.append(Ask(item, deed.do, deed.now, instances.interpreter.deed(about, says, deed)))
        for item, about in dict.fromkeys(
            (item, about) for item, about, _ in rows
        ):  # once all is done: a look changes nothing
            asks += instances.looks(item, [about], deed.now, state.ticks)
        instances.look(asks, instances.ask(asks))
        return replace(state, view=instances.table.view(), now=max(deed.now, state.now)), alive

    def tick(self, state: UserState, now: float) -> UserState:
        """Let time pass in each memory, then look at every object that was claimed about."""
        instances, asks = state.instances, list[Ask]()
        for rep in instances.alive:
            asks.append(Ask(rep, "tick", now))
            asks += instances.looks(rep, instances.interpreter.objects_of(rep), now, state.ticks)
        instances.look(asks, instances.ask(asks))
        return UserState(instances, instances.table.view(), now, state.ticks + 1)

    def share(self, state: UserState, object_: Ints, scope: str, now: float, *, shared: bool) -> tuple[UserState, bool]:
        instances, call = state.instances, "share" if shared else "unshare"
        if instances.offers(call):
            what = [(rep, index) for rep in instances.alive for index in object_.tolist()]
            instances.ask([Ask(rep, call, now, instances.interpreter.sharing(index, scope, now)) for rep, index in what])
        return replace(state, now=max(now, state.now)), instances.offers(call)

    def shows(self, state: UserState, object_: Ints, scope: str, now: float) -> Bools:
        """Return for each object whether an active item within a scope states a value that was claimed of it."""
        instances, answered = state.instances, np.zeros((len(object_), len(state.instances.numbers)), dtype=bool)
        what = [(rep, row) for rep in instances.alive for row in range(len(object_))]
        queries = [instances.interpreter.query(int(object_[row]), scope) for _, row in what]
        asks = [Ask(rep, "peek", now, query, MANY) for (rep, _), query in zip(what, queries, strict=True)]
        for (rep, row), items in zip(what, instances.ask(asks), strict=True):
            answered[row, rep] = any(instances.says(rep, int(object_[row]), item) for item in items or () if item.active)
        return answered

    def answer(
        self, state: UserState, rep: Ints, object_: Ints, limit: int, now: float, scope: str | None = None
    ) -> UserState:
        """Ask a question in each of these replications, as a use. The view shows the answer for that object."""
        instances = state.instances
        pairs = [pair for pair in zip(rep.tolist(), object_.tolist(), strict=True) if pair[0] not in instances.failures]
        asks = [Ask(item, "read", now, instances.interpreter.query(about, scope), limit) for item, about in pairs]
        instances.look(asks, instances.ask(asks))
        return replace(state, view=instances.table.view(), now=max(now, state.now))

    def read(self, state: UserState, rep: Ints, object_: Ints, opened: Ints, now: float) -> UserState:  # noqa: ARG002
        return self.answer(state, rep, object_, MANY, now)

    def view(self, state: UserState, now: float) -> View:  # noqa: ARG002  # memories are looked at when something happens to them
        return state.view

    def failures(self, state: UserState) -> dict[int, AdapterError]:
        return {state.instances.numbers[rep]: problem for rep, problem in state.instances.failures.items()}

    def answers(self, state: UserState) -> dict[str, Array]:
        """Return by replication the shares of looks at known objects that got no answer or an invalid one."""
        tally = state.instances.table.tally
        return {kind: ratio(tally[kind], tally["looks"]) for kind in ANSWERS}

    def close(self, state: UserState) -> None:
        state.instances.close()


class _Instances:
    """Memories of a run, with their claims, shown items and failures."""

    def __init__(
        self, adapter: Adapter, phrases: Phrases, where: str, replications: Sequence[int], words: Vocabulary
    ) -> None:
        self.numbers, self._name = list(replications), adapter.name
        self.failures: dict[int, AdapterError] = {}
        self.interpreter = Interpreter(words, phrases)
        self.table = ItemTable(self.interpreter, len(replications))
        self.new_rows: set[int] = set()
        self._place = {name: index for index, name in enumerate(words.objects)}
        self._latest: dict[tuple[int, int], list[int]] = {}
        adapter.check_allowed(where)
        source, name = adapter.source, adapter.name
        self._host = Host(source, name) if adapter.trusted else Sandbox(source, name, limit=adapter.limit)
        members = next(answer for answer in self.ask([Ask(rep, MAKE) for rep in range(len(replications))]) if answer)
        self._edges, self._members = bool(members["edges"]), members

    def offers(self, call: str) -> bool:
        return bool(self._members[call])

    def says(self, rep: int, object_: int, item: Any) -> bool:
        try:
            self.interpreter.value(rep, object_, item)
        except WrongItemError:
            return False
        return True

    @property
    def alive(self) -> list[int]:
        return [rep for rep in range(len(self.numbers)) if rep not in self.failures]

    def edges(self, claims: Claims) -> tuple[dict[int, list[Edge]], int]:
        """Return edges by claim where the memory reads them, and the number of edges dropped."""
        by_claim: dict[int, list[Edge]] = {}
        if claims.edges is None:
            return by_claim, 0
        dropped = 0
        columns = (claims.edges.claim.tolist(), claims.edges.relation.tolist(), claims.edges.target.tolist())
        for claim, relation, target in zip(*columns, strict=True):
            if self._edges and target != NONE:
                by_claim.setdefault(claim, []).append(edge_of(relation, self.table.sentence(target)))
            else:
                dropped += 1
        return by_claim, dropped

    def writes(self, parts: dict[int, list[tuple[int, Claim]]], now: float) -> Iterator[Ask]:
        """Yield one call for the claims of each instant; time never decreases."""
        for rep, part in parts.items():
            for time, group in groupby(part, key=lambda each: each[1].time):
                yield Ask(rep, "write", max(now, time), [claim for _, claim in group])

    def ask(self, asks: Sequence[Ask]) -> list[Any]:
        """Return the answers of the calls, with None from a read replaced by []. An error ends its replication.

        Raises `AdapterError` when none is left.
        """
        answers, broken = self._host.run(asks)
        for item in broken:
            self._fail(asks[item.place], item)
        return [[] if answer is None and ask.call == "read" else answer for ask, answer in zip(asks, answers, strict=True)]

    def close(self) -> None:
        try:
            self._host.run([Ask(rep, CLOSE) for rep in range(len(self.numbers))])
        finally:
            self._host.stop()

    def looks(self, rep: int, objects: Iterable[int], now: float, number: int) -> list[Ask]:
        """Return one peek for each object, and repeat one of them: the repetition must show the same."""
        looks = [Ask(rep, "peek", now, self.interpreter.query(object_), MANY) for object_ in objects]
        return [*looks, looks[number % len(looks)]] if looks else looks

    def look(self, asks: Sequence[Ask], answers: Sequence[Any]) -> list[int]:
        """Enter the shown items; return the rows that are no longer shown."""
        absent: list[int] = []
        first_looks: dict[tuple[int, str], list[str]] = {}
        for index, (ask, items) in enumerate(zip(asks, answers, strict=True)):
            if items is None or ask.call not in ("read", "peek") or ask.rep in self.failures:
                continue
            about = ask.about.object  # type: ignore[union-attr]  # a query
            ids = sorted(item.id for item in items)
            if ask.call == "peek" and first_looks.setdefault((ask.rep, about), ids) != ids:
                before = len(first_looks[ask.rep, about])
                problem = f"showed {before} items, and {len(ids)} after that look: a peek changes nothing"
                self._fail(ask, Breakdown(index, problem))
                continue
            try:
                now, missing = self.table.show(ask.rep, self._place[about], items)
            except WrongItemError as wrong:
                self._fail(ask, Breakdown(index, wrong.problem, wrong.given, wrong.allowed))
                continue
            self._latest[ask.rep, self._place[about]] = now
            absent += missing
        return absent

    def row(self, rep: int, object_: int, value: int, height: int) -> tuple[int, bool]:
        """Return the row of a claim and whether it is new: a new item with its value, else an earlier one, else NONE."""
        table = self.table
        rows = [row for row in self._latest.get((rep, object_), ()) if table.value[row] == value and table.active[row]]
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
        self.failures[ask.rep] = lifted(broken, where)
        self.table.drop(ask.rep)
        if len(self.failures) == len(self.numbers):
            self.close()
            raise next(iter(self.failures.values()))
