"""A law of items as a plant: the harness hands over batches, the law sees rounds and columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.laws.engine.buffers import Buffer, Draft
from malsim.laws.engine.guard import Guard
from malsim.laws.engine.items import COMMON, UNSTATED, Claim, Items, Query, first, reviewers
from malsim.laws.engine.rounds import Lists, rank_within_group, rounds
from malsim.laws.engine.state import ItemState
from malsim.laws.engine.view import ItemView
from malsim.memory.explain import LawExplanation
from malsim.memory.port import Verdicts
from malsim.memory.schema import NONE, VERDICT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.laws.engine.definition import Law
    from malsim.laws.engine.items import Change
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import Claims, Vocabulary

__all__ = ["ItemPlant"]

ADMITTED, TAKEN, REFUSED = (VERDICT.index(word) for word in ("admitted", "deduplicated", "refused"))
ABOUT_NOTHING = "a law of items takes claims that name an object and a value"
KINDS: dict[str, Any] = dict.fromkeys(("rep", "object", "value", "writer", "number"), np.int32)


class ItemPlant:
    """A memory that a law of items runs; settings are the law and its parameters."""

    def __init__(self, law: Law, params: Mapping[str, float | str]) -> None:
        self.law, self.params = law, dict(params)
        self._guard = Guard(law, self.params)

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> ItemState:
        """An empty memory, one for each of these replications."""
        columns = {name: np.zeros(0, dtype=KINDS.get(name, np.float64)) for name in (*COMMON, "number")}
        columns["alive"] = np.zeros(0, dtype=bool)
        for name, state in self.law.state.items():
            columns[name] = np.zeros((0, 1) if state.many else 0)
        made, names = np.zeros(len(replications), dtype=np.int64), pl.Series("cell", dtype=pl.String)
        return ItemState(vocabulary, {name: Buffer.of(values) for name, values in columns.items()}, made, names)

    def admit(self, state: ItemState, claims: Claims) -> tuple[ItemState, Verdicts]:
        """Take a batch: claims of one instant and group go one by one, those of different groups side by side."""
        draft = Draft(state.columns, len(claims))
        self._prefill(draft, claims)
        makes = (claims.object != NONE) & (claims.value != NONE)
        issues = dict.fromkeys(np.flatnonzero(~makes).tolist(), ABOUT_NOTHING)
        row = np.where(makes, len(state) + np.arange(len(claims)), NONE)
        if self.law.write:
            self._rounds(draft, claims, state.vocabulary, makes=makes, row=row)
        verdict = np.where(makes, ADMITTED, TAKEN)
        verdict[list(issues)] = REFUSED
        at = np.append(np.cumsum(makes) - 1 + len(state), NONE)  # the final rows of what is new
        row = np.where(row >= len(state), at[np.maximum(row - len(state), 0)], row)
        after = self._grown(state, draft, claims, makes)
        gone = np.flatnonzero(state["alive"] & ~after["alive"][: len(state)])
        dropped = len(claims.edges.claim) if claims.edges else 0
        return after, Verdicts(verdict=verdict, row=row, dropped=dropped, issues=issues, superseded=gone)

    def _grown(self, state: ItemState, draft: Draft, claims: Claims, makes: Bools) -> ItemState:
        """With the items that were made, each numbered within its replication and named."""
        rep, about = claims.rep[makes], claims.object[makes]
        number = state.made[rep] + rank_within_group(rep)
        draft.arrays["number"][len(state) :][makes] = number
        objects = pl.Series(list(state.vocabulary.objects), dtype=pl.String)
        names = objects.gather(about) + "-" + pl.Series(number).cast(pl.String)
        made = state.made + np.bincount(rep, minlength=len(state.made))
        return replace(state, columns=draft.columns(makes), made=made, names=pl.concat([state.names, names.alias("cell")]))

    def _prefill(self, draft: Draft, claims: Claims) -> None:
        """Every claim as the item that it may become, in the row it would have."""
        common: dict[str, Any] = {"rep": claims.rep, "object": claims.object, "value": claims.value, "writer": claims.writer}
        verified = 0.0 if claims.verified is None else claims.verified.astype(np.float64)
        common |= {"time": claims.t, "stated": claims.stated, "verified": verified, "alive": 1.0}
        for name, values in common.items():
            draft.start(name, values)
        starts = {"time": claims.t, "stated": _confidence(claims.stated)}
        for name, state in self.law.state.items():
            draft.start(name, starts[state.start] if isinstance(state.start, str) else state.start)

    def _rounds(self, draft: Draft, claims: Claims, words: Vocabulary, *, makes: Bools, row: Ints) -> None:
        """Hand the claims over in rounds; `makes` and `row` are brought up to date."""
        asked = np.flatnonzero(makes)
        group, lists = self._lists(draft, claims.rep[asked], claims.object[asked])
        stated, reviewed = _confidence(claims.stated), reviewers(words)
        for members in rounds(group, lists):
            claim, groups = asked[members], group[members]
            rows, there = lists.matrix(groups)
            items = Items(draft.arrays, rows, there, vocabulary=words)
            about = {name: getattr(claims, name)[claim, None] for name in ("object", "value", "writer")}
            topical = there & (items.object == about["object"])
            same = items.value == about["value"]
            said = Claim(
                **about,
                time=claims.t[claim, None],
                stated=stated[claim, None],
                same=topical & same,
                rival=topical & ~same,
                reviewed=reviewed[about["writer"]],
            )
            change = self._guard.write(items, said)
            kept = _changed(draft, rows, there, change.items)
            if kept is not there:
                lists.keep(groups, rows, kept)
            self._make(draft, change, claim, makes=makes, row=row, rows=rows)
            lists.add(groups[makes[claim]], row[claim[makes[claim]]])

    def _make(self, draft: Draft, change: Change, claim: Ints, *, makes: Bools, row: Ints, rows: Ints) -> None:
        if change.makes is not None:
            makes[claim] = change.makes[:, 0]
            taken = np.zeros(rows.shape, dtype=bool) if change.taken is None else first(change.taken)
            taker = np.where(taken.any(axis=1), (rows * taken).sum(axis=1), NONE)
            row[claim] = np.where(makes[claim], row[claim], taker)
        for name, values in change.new.items():
            draft.put(name, draft.height + claim, np.broadcast_to(values, (len(claim), 1))[:, 0])

    def _lists(self, draft: Draft, rep: Ints, object_: Ints) -> tuple[Ints, Lists]:
        """The group of each claim or question, and the living items of those groups."""
        alive = np.flatnonzero(draft.arrays["alive"][: draft.height])
        objects = int(max(object_.max(initial=0), draft.arrays["object"].max(initial=0))) + 1
        wide = self.law.scope == "replication"
        key = rep if wide else rep * objects + object_
        keys, group = np.unique(key, return_inverse=True)
        held = draft.arrays["rep"][alive].astype(np.int64)
        held = held if wide else held * objects + draft.arrays["object"][alive]
        place = np.full(int(max(keys.max(initial=0), held.max(initial=0))) + 1, NONE)
        place[keys] = np.arange(len(keys))
        known = place[held] != NONE
        return group, Lists(place[held][known], alive[known], np.bincount(group, minlength=len(keys)))

    def tick(self, state: ItemState, now: float) -> ItemState:
        """Let time do what the law says it does."""
        if not self.law.tick:
            return state
        alive = np.flatnonzero(state.columns["alive"].values)
        draft = Draft(state.columns)
        there = np.ones(len(alive), dtype=bool)
        _changed(draft, alive, there, self._guard.tick(Items(draft.arrays, alive, there, vocabulary=state.vocabulary), now))
        return replace(state, columns=draft.columns())

    def read(self, state: ItemState, rep: Ints, object_: Ints, opened: Ints, now: float) -> ItemState:  # noqa: ARG002  # what is used is the law's to say
        """A use of what is known about these objects, in these replications."""
        if not self.law.read or not len(rep):
            return state
        draft = Draft(state.columns)
        group, lists = self._lists(draft, rep, object_)
        for members in rounds(group, lists):
            rows, there = lists.matrix(group[members])
            items = Items(draft.arrays, rows, there, vocabulary=state.vocabulary)
            query = Query(object_[members, None], now, self._used(items, now))
            _changed(draft, rows, there, self._guard.read(items, query))
        return replace(state, columns=draft.columns())

    def _used(self, items: Items, now: float) -> Bools:
        """The best few of each row by rank; ties by order of creation."""
        if self.law.scope == "replication":
            return np.zeros(items.alive.shape, dtype=bool)
        rank = np.where(items.alive, self._guard.rank(items, now), -np.inf)
        place = np.argsort(np.argsort(-rank, axis=1, kind="stable"), axis=1)
        used: Bools = items.alive & (place < self.law.uses)
        return used

    def explain(self, state: ItemState, alive: Ints, row: int, now: float) -> LawExplanation:
        """Why a row is believed as it is by a tick at `now` that sees the living rows; one that died is believed no more.

        Raises `UsageError` where the law does not say.
        """
        if not self.law.explains:
            hint = "records and the laws of the graph do; `malsim laws NAME` prints the equation"
            raise UsageError("the law does not say what its numbers are made of", given=self.law.name, hint=hint)
        columns, here = state.arrays, alive[state["rep"][alive] == state["rep"][row]]
        view = ItemView(state, self._guard, now)
        names: dict[str, Any] = {"handle": str(view.name[row]), "title": view.claim(row), "t": now}
        if row not in here:
            return LawExplanation(
                **names,
                effective=0.0,
                nothing=0.0,
                evidence=view.evidence([], here),
                chain="its writer said otherwise later",
            )
        items = Items(columns, here, np.ones(len(here), dtype=bool), vocabulary=state.vocabulary)
        found = self._guard.explain(items, int(np.flatnonzero(here == row)[0]), now)
        return LawExplanation(
            **names,
            effective=found.belief,
            nothing=found.nothing,
            evidence=view.evidence(found.parts, here),
            chain=found.chain,
            records=tuple(map(str, found.records)),
        )

    def view(self, state: ItemState, now: float) -> ItemView:
        """Every item with its rank, and its belief where the law has one."""
        return ItemView(state, self._guard, now)


def _confidence(stated: Array) -> Array:
    return np.where(np.isnan(stated), UNSTATED, stated)


def _changed(draft: Draft, rows: Ints, there: Bools, changed: Mapping[str, Any]) -> Bools:
    """Put changed columns where items are there; returns which of them are alive now."""
    for name, values in changed.items():
        draft.put(name, rows[there], np.broadcast_to(values, (*there.shape, *np.shape(values)[there.ndim :]))[there])
    return there & changed["alive"] if "alive" in changed else there
