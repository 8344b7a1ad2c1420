"""Claim graph behind the simulator's memory port: gate, tick, reads and views."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.admit import judge, screened
from malsim.memory.gate.checks import validate
from malsim.memory.gate.claims import as_claims
from malsim.memory.gate.edit import expanded
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import to_series
from malsim.memory.graph.table import Column
from malsim.memory.graph.tombstones import retract, rows_stating
from malsim.memory.law import scaled, tick
from malsim.memory.law_steps import present
from malsim.memory.port import Verdicts, View
from malsim.memory.push.ranking import marked, rank_score
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.tombstones import Retraction
    from malsim.memory.port import Claims, Vocabulary
    from malsim.memory.rules import Rules

_NOTHING = Column(np.zeros(0, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class GraphState:
    """Claim graph, with each cell's replication, object and value (NONE if unknown) and the latest derived values."""

    memory: Memory
    rules: Rules
    vocabulary: Vocabulary
    first: int
    rep: Column = _NOTHING
    object: Column = _NOTHING
    value: Column = _NOTHING
    derived: Mapping[str, Array] = field(default_factory=dict)
    replications: int = 1
    shared: frozenset[tuple[int, str]] = frozenset()

    @cached_property
    def view(self) -> GraphView:
        return GraphView(self, self.memory)

    def append(self, memory: Memory, rep: Ints, about: Ints, value: Ints) -> GraphState:
        pairs = zip((self.rep, self.object, self.value), (rep, about, value), strict=True)
        rep_, object_, value_ = (column.append(new.astype(np.int32)) for column, new in pairs)
        return replace(self, memory=memory, rep=rep_, object=object_, value=value_)

    def derived_column(self, name: str) -> Array:
        values = self.derived.get(name.replace("-derived-", "-", 1), np.zeros(0))
        return np.append(values, np.full(self.memory.height - len(values), np.nan))

    def with_memory(self, memory: Memory) -> GraphState:
        """Return the state with another memory, and look up the objects and values of the cells that it adds."""
        if memory.height <= len(self.rep):
            return replace(self, memory=memory)
        cells = memory.table("cells").rows.since(len(self.rep))
        objects = {name: index for index, name in enumerate(self.vocabulary.objects)}
        about = [objects.get(name, NONE) for name in cells.column("object").tolist()]
        pairs = self.vocabulary.pairs
        value = [pairs.get(pair, NONE) for pair in zip(about, cells.column("value").tolist(), strict=True)]
        return self.append(memory, cells.column("rep") - self.first, np.array(about), np.array(value))

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "view"}


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Claim graph run under a set of rules.

    `begin` creates the initial memory for all replications; by default the memory is empty.
    """

    rules: Rules
    begin: Callable[[Sequence[int], Rules], Memory] | None = None

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> GraphState:
        """Return the initial state for replications with consecutive numbers."""
        state = GraphState(Memory.empty(), self.rules, vocabulary, replications[0], replications=len(replications))
        return state.with_memory(self.begin(replications, self.rules)) if self.begin else state

    def admit(self, state: GraphState, claims: Claims) -> tuple[GraphState, Verdicts]:
        if claims.checked:
            batch = claims.checked(state.memory)
        else:
            words = claims.words() if claims.words else pl.DataFrame()
            batch = screened(validate(as_claims(words), self.rules), self.rules)
        result = judge(state.memory, batch, self.rules)
        new = np.full((3, result.memory.height - state.memory.height), NONE)
        rows = np.flatnonzero(result.verdict == 0)
        new[:, result.row[rows] - state.memory.height] = claims.rep[rows], claims.object[rows], claims.value[rows]
        return state.append(result.memory, *new), Verdicts.of(result)

    def retract(
        self, state: GraphState, rep: Ints, object_: Ints, value: Ints, deed: Retraction
    ) -> tuple[GraphState, Bools]:
        keys = np.stack([column.values for column in (state.rep, state.object, state.value)]).astype(np.int64)
        rows, group = rows_stating(state.memory, keys, np.stack([rep, object_, value]))
        memory, obeyed, erased = retract(state.memory, rows, group, len(rep), deed, self.rules)
        keys[1:, erased] = NONE
        _, object_, value = keys.astype(np.int32)
        return replace(state, memory=memory, object=Column(object_), value=Column(value)), obeyed

    def share(self, state: GraphState, object_: Ints, scope: str, now: float, *, shared: bool) -> tuple[GraphState, bool]:  # noqa: ARG002
        pairs = {(index, scope) for index in object_.tolist()}
        return replace(state, shared=state.shared | pairs if shared else state.shared - pairs), True

    def shows(self, state: GraphState, object_: Ints, scope: str, now: float) -> Bools:
        """Return a mask of the objects with an active cell that may be read in a scope; shape (objects, replications)."""
        view, scopes = self.view(state, now), state.vocabulary.scopes
        rows = np.flatnonzero(view.active & (view.object >= 0))
        has_item = np.zeros((len(state.vocabulary.objects), state.replications), dtype=bool)
        has_item[view.object[rows], view.rep[rows]] = True
        may_read = [
            not scopes or scopes[about] in ("", scope) or (about, scope) in state.shared for about in object_.tolist()
        ]
        readable: Bools = has_item[object_] & np.array(may_read, dtype=bool)[:, None]
        return readable

    def tick(self, state: GraphState, now: float) -> GraphState:
        """Recompute the scores on day `now` under the state's rules.

        Time constants are multiplied by the derived values named in the rule `tau_scale`.
        """
        rules = self._rules(state)
        stretch = state.derived_column(rules.tau_scale) if rules.tau_scale else None
        return replace(state, memory=tick(state.memory, now, rules, tau_scale=stretch))

    def _rules(self, state: GraphState) -> Rules:
        rules, name = self.rules, self.rules.effective
        return rules.replace(effective=scaled(state.derived_column(name), rules)) if isinstance(name, str) else rules

    def read(self, state: GraphState, rep: Ints, object_: Ints, opened: Ints, now: float) -> GraphState:  # noqa: ARG002
        return replace(state, memory=expanded(state.memory, opened, now, self.rules)) if opened.size else state

    def view(self, state: GraphState, now: float) -> GraphView:  # noqa: ARG002  # scores change at ticks only
        return state.view

    def present(self, state: GraphState, now: float) -> GraphView:  # noqa: ARG002  # a graph ages at ticks only
        memory = present(state.memory, self._rules(state)).memory
        return state.view if memory is state.memory else GraphView(state, memory)

    def graph(self, state: GraphState) -> Memory:
        return state.memory

    def with_graph(self, state: GraphState, memory: Memory) -> GraphState:
        return state.with_memory(memory)

    def with_derived(self, state: GraphState, values: Mapping[str, Array]) -> GraphState:
        return replace(state, derived={name: array for name, array in values.items() if name.startswith("cell-")})


class GraphView(View):
    """Read-only view of a claim graph. Expensive columns are computed on first use."""

    _state: GraphState
    _memory: Memory
    leads = True

    def __init__(self, state: GraphState, memory: Memory) -> None:
        columns = {name: getattr(state, name).values for name in ("rep", "object", "value")}
        self.__dict__.update(columns, _state=state, _memory=memory)

    @cached_property
    def name(self) -> pl.Series:
        return pl.Series("handle", self._memory.column("handle"), dtype=pl.String)

    def names_of(self, rows: Ints) -> NDArray[Any]:
        return self._memory.values("handle", rows)

    @cached_property
    def writer(self) -> Ints:
        index_of = {name: index for index, name in enumerate(self._state.vocabulary.writers)}
        names = [index_of.get(name, NONE) for name in self._memory.table("writers").column("writer").tolist()]
        writer: Ints = np.array([*names, NONE])[self._memory.column("author")]
        return writer

    @property
    def stated(self) -> Array:
        return self._memory.column("stated")

    @property
    def time(self) -> Array:
        return self._memory.column("created")

    @cached_property
    def belief(self) -> Array:
        return self._memory.column("effective")

    @property
    def rank(self) -> Array:
        return self.belief

    @property
    def active(self) -> Bools:
        return self._memory.is_active

    @property
    def graph(self) -> Memory:
        return self._memory

    def column(self, name: str, rows: Ints | None = None) -> NDArray[Any] | None:
        """Return a named column: a cell column, a derived value, or `grounded` (whether the writer has enough outcomes)."""
        if name.startswith("cell-derived-"):
            derived = self._state.derived_column(name)
            return derived if rows is None else derived[rows]
        if name == "grounded":
            outcomes = self._memory.table("writers").column("claims")
            grounded: Bools = outcomes[self._memory.column("author")] >= self._state.rules.calibration_history
            return grounded
        return self._memory.column(name) if rows is None else self._memory.values(name, rows)

    def edges(self, since: int) -> tuple[Ints, Ints, Ints]:
        edges = self._memory.table("edges")
        return edges.column("source")[since:], edges.column("target")[since:], edges.column("relation")[since:]

    def accusations(self) -> tuple[Ints, Ints]:
        return self._accusations

    @cached_property
    def _accusations(self) -> tuple[Ints, Ints]:
        accuser, accused = self._memory.wiring.accusers.values, self._memory.wiring.accused.values
        active = np.flatnonzero(self.active[accuser])
        return accuser[active], accused[active]

    @cached_property
    def _contradicted(self) -> Bools:
        contradicted = np.zeros(len(self), dtype=bool)
        contradicted[self._accusations[1]] = True
        return contradicted

    def order(self, rows: Ints, *, match: Array, degree: Array, reader: Ints, now: float) -> Array:
        age = now - self._memory.values("touched", rows)
        return rank_score(match, degree, self.belief.take(rows), age, self._state.rules, row=reader)

    def marked(self, rows: Ints, now: float) -> Bools:
        memory = self._memory
        return marked(
            self._state.rules,
            stated=memory.values("stated", rows), effective=self.belief.take(rows),
            superseded=~self.active[rows],  # an inactive row is listed only if superseded
            # NaN (no due date) compares as False.
            contradicted=self._contradicted[rows], overdue=memory.values("reverify", rows) < now,
            currency=memory.values("currency", rows), requires_review=memory.values("requires_review", rows),
        )  # fmt: skip

    def texts(self, rows: Ints) -> pl.DataFrame:
        first = int(rows[0])
        new = self._memory.table("cells").rows.since(first)
        return pl.DataFrame([to_series(name, new.column(name)[rows - first]) for name in ("title", "topics", "writer")])

    def recorded(self, names: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        return {"cell": self._memory.column("handle")} | {name: self._memory.column(name) for name in names}

    def frame(self) -> pl.DataFrame:
        return self._memory.cells.with_columns(cell="handle")

    def records(self) -> Mapping[str, NDArray[Any]]:
        return {name: self._memory.table("writers").column(name) for name in schema.WRITERS}
