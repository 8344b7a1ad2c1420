"""Memory run by an item-based law. Batches of claims are split into rounds for the law."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.laws.engine.buffers import Buffer, Draft
from malsim.laws.engine.guard import LawCalls
from malsim.laws.engine.items import COMMON, UNSTATED, Claim, Items, ItemState, Query, first, reviewers
from malsim.laws.engine.reasons import Reasons
from malsim.laws.engine.rounds import Lists, rounds
from malsim.laws.engine.view import ItemView
from malsim.memory.graph.frames import rank_within_group
from malsim.memory.port import Verdicts
from malsim.memory.schema import NONE, VERDICT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.laws.engine.definition import Law
    from malsim.laws.engine.items import Change
    from malsim.memory.explain import LawExplanation
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import Claims, Vocabulary

ADMITTED, TAKEN, REFUSED = (VERDICT.index(word) for word in ("admitted", "deduplicated", "refused"))
ABOUT_NOTHING = "a law of items needs claims with an object and a value"
KINDS: dict[str, Any] = dict.fromkeys(("rep", "object", "value", "writer", "number"), np.int32)


class ItemPlant:
    """Memory run by an item-based law with the given parameters."""

    def __init__(self, law: Law, params: Mapping[str, float | str]) -> None:
        self.law, self.params = law, dict(params)
        self._calls = LawCalls(law, self.params)

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> ItemState:
        columns = {name: np.zeros(0, dtype=KINDS.get(name, np.float64)) for name in (*COMMON, "number")}
        columns["alive"] = np.zeros(0, dtype=bool)
        for name, state in self.law.state.items():
            columns[name] = np.zeros((0, 1) if state.many else 0)
        counts, names = np.zeros(len(replications), dtype=np.int64), pl.Series("cell", dtype=pl.String)
        buffers = {name: Buffer.of(values) for name, values in columns.items()}
        return ItemState(vocabulary, buffers, counts, names, counts > 0)

    def admit(self, state: ItemState, claims: Claims) -> tuple[ItemState, Verdicts]:
        """Admit a batch of claims, and return the new state and the verdicts.

        Claims in one group (object or replication) are processed in order; all groups are processed at once.
        """
        draft = Draft(state.columns, len(claims))
        self._prefill(draft, claims)
        makes = (claims.object != NONE) & (claims.value != NONE)
        issues = dict.fromkeys(np.flatnonzero(~makes).tolist(), ABOUT_NOTHING)
        row = np.where(makes, len(state) + np.arange(len(claims)), NONE)
        if "write" in self.law.functions:
            self._rounds(draft, claims, state.vocabulary, makes=makes, row=row)
        verdict = np.where(makes, ADMITTED, TAKEN)
        verdict[list(issues)] = REFUSED
        # Final row of each new item; claims that make no item are dropped.
        final = np.append(np.cumsum(makes) - 1 + len(state), NONE)
        row = np.where(row >= len(state), final[np.maximum(row - len(state), 0)], row)
        after = self._append(state, draft, claims, makes)
        inactive = np.flatnonzero(state["alive"] & ~after["alive"][: len(state)])
        dropped = len(claims.edges.claim) if claims.edges else 0
        return after, Verdicts(verdict=verdict, row=row, dropped=dropped, issues=issues, superseded=inactive)

    def _append(self, state: ItemState, draft: Draft, claims: Claims, makes: Bools) -> ItemState:
        rep, about = claims.rep[makes], claims.object[makes]
        number = state.counts[rep] + rank_within_group(rep)
        draft.arrays["number"][len(state) :][makes] = number
        objects = pl.Series(list(state.vocabulary.objects), dtype=pl.String)
        new_names = (objects.gather(about) + "-" + pl.Series(number).cast(pl.String)).alias("cell")
        counts = state.counts + np.bincount(rep, minlength=len(state.counts))
        names = pl.concat([state.names, new_names])
        news = state.news.copy()
        news[claims.rep] = True
        return replace(state, columns=draft.columns(makes), counts=counts, names=names, news=news)

    def _prefill(self, draft: Draft, claims: Claims) -> None:
        common: dict[str, Any] = {"rep": claims.rep, "object": claims.object, "value": claims.value, "writer": claims.writer}
        verified = 0.0 if claims.verified is None else claims.verified.astype(np.float64)
        common |= {"time": claims.t, "stated": claims.stated, "verified": verified, "alive": 1.0}
        for name, values in common.items():
            draft.start(name, values)
        starts = {"time": claims.t, "stated": _confidence(claims.stated)}
        for name, state in self.law.state.items():
            draft.start(name, starts[state.start] if isinstance(state.start, str) else state.start)

    def _rounds(self, draft: Draft, claims: Claims, words: Vocabulary, *, makes: Bools, row: Ints) -> None:
        index = np.flatnonzero(makes)
        group, lists = self._lists(draft, claims.rep[index], claims.object[index])
        stated, reviewed = _confidence(claims.stated), reviewers(words)
        for members in rounds(group, lists):
            claim, groups = index[members], group[members]
            rows, mask = lists.matrix(groups)
            items = Items(draft.arrays, rows, mask, vocabulary=words)
            about = {name: getattr(claims, name)[claim, None] for name in ("object", "value", "writer")}
            topical = mask & (items.object == about["object"])
            same = items.value == about["value"]
            batch = Claim(
                **about, time=claims.t[claim, None], stated=stated[claim, None], same=topical & same, rival=topical & ~same,
                reviewed=reviewed[about["writer"]],
            )  # fmt: skip
            change = self._calls.write(items, batch)
            alive = _apply(draft, rows, mask, change.items)
            if alive is not mask:
                lists.keep(groups, rows, alive)
            self._make(draft, change, claim, makes=makes, row=row, rows=rows)
            lists.add(groups[makes[claim]], row[claim[makes[claim]]])

    def _make(self, draft: Draft, change: Change, claim: Ints, *, makes: Bools, row: Ints, rows: Ints) -> None:
        if change.makes is not None:
            makes[claim] = change.makes[:, 0]
            marks = np.zeros(rows.shape, dtype=bool) if change.taken is None else first(change.taken)
            taker = np.where(marks.any(axis=1), (rows * marks).sum(axis=1), NONE)
            row[claim] = np.where(makes[claim], row[claim], taker)
        for name, values in change.new.items():
            draft.put(name, draft.height + claim, np.broadcast_to(values, (len(claim), 1))[:, 0])

    def _lists(self, draft: Draft, rep: Ints, object_: Ints) -> tuple[Ints, Lists]:
        alive = np.flatnonzero(draft.arrays["alive"][: draft.height])
        objects = int(max(object_.max(initial=0), draft.arrays["object"].max(initial=0))) + 1
        wide = self.law.scope == "replication"
        key = rep if wide else rep * objects + object_
        keys, group = np.unique(key, return_inverse=True)
        living = draft.arrays["rep"][alive].astype(np.int64)
        living = living if wide else living * objects + draft.arrays["object"][alive]
        index = np.full(int(max(keys.max(initial=0), living.max(initial=0))) + 1, NONE)
        index[keys] = np.arange(len(keys))
        mask = index[living] != NONE
        return group, Lists(index[living][mask], alive[mask], np.bincount(group, minlength=len(keys)))

    def tick(self, state: ItemState, now: float) -> ItemState:
        if "tick" not in self.law.functions:
            return state
        alive = np.flatnonzero(state.columns["alive"].values)
        draft = Draft(state.columns)
        mask = np.ones(len(alive), dtype=bool)
        _apply(draft, alive, mask, self._calls.tick(Items(draft.arrays, alive, mask, vocabulary=state.vocabulary), now))
        return replace(state, columns=draft.columns(), news=np.zeros_like(state.news))

    def read(self, state: ItemState, rep: Ints, object_: Ints, opened: Ints, now: float) -> ItemState:  # noqa: ARG002  # the law selects the items
        if "read" not in self.law.functions or not len(rep):
            return state
        draft = Draft(state.columns)
        group, lists = self._lists(draft, rep, object_)
        for members in rounds(group, lists):
            rows, mask = lists.matrix(group[members])
            items = Items(draft.arrays, rows, mask, vocabulary=state.vocabulary)
            query = Query(object_[members, None], now, self._best(items, now))
            _apply(draft, rows, mask, self._calls.read(items, query))
        return replace(state, columns=draft.columns())

    def _best(self, items: Items, now: float) -> Bools:
        if self.law.scope == "replication":
            return np.zeros(items.alive.shape, dtype=bool)
        rank = np.where(items.alive, self._calls.rank(items, now), -np.inf)
        index = np.argsort(np.argsort(-rank, axis=1, kind="stable"), axis=1)
        top: Bools = items.alive & (index < self.law.uses)
        return top

    def explain(self, state: ItemState, alive: Ints, row: int, now: float) -> LawExplanation:
        """Explain the belief in row `row` as a tick on day `now` would compute it from the rows in `alive`.

        A dead row has a belief of 0. Raises `UsageError` if the law has no function `explain`.
        """
        if "explain" not in self.law.functions:
            hint = "use `records` or a graph law, or run `malsim laws NAME` to read the equation"
            raise UsageError("this law does not explain its beliefs", given=self.law.name, hint=hint)
        here = alive[state["rep"][alive] == state["rep"][row]]
        if row in here:
            items = Items(state.arrays, here, np.ones(len(here), dtype=bool), vocabulary=state.vocabulary)
            reasons = self._calls.explain(items, int(np.flatnonzero(here == row)[0]), now)
        else:
            reasons = Reasons([], 0.0, 0.0, "its writer has since claimed another value")
        view = ItemView(state, self._calls, now)
        return reasons.explanation(str(view.name[row]), view.claim(row), now, view.cells(here))

    def view(self, state: ItemState, now: float) -> ItemView:
        """Return a view of all items with their ranks and, if the law has beliefs, their beliefs."""
        return ItemView(state, self._calls, now)

    def present(self, state: ItemState, now: float) -> ItemView:
        """Return the view that a reader sees at `now`.

        If the law learns writer records, the view includes the effect of claims since the last tick. Replications
        without such claims show the last tick's result.
        """
        if not (self.law.pools and state.news.any()):
            return self.view(state, now)
        after, still = self.tick(state, now), np.flatnonzero(~state.news[state["rep"]])
        draft = Draft(after.columns)
        for name in self.law.state if still.size else ():
            draft.put(name, still, state[name][still])
        return self.view(replace(after, columns=draft.columns()), now)


def _confidence(stated: Array) -> Array:
    return np.where(np.isnan(stated), UNSTATED, stated)


def _apply(draft: Draft, rows: Ints, mask: Bools, columns: Mapping[str, Any]) -> Bools:
    for name, values in columns.items():
        draft.put(name, rows[mask], np.broadcast_to(values, (*mask.shape, *np.shape(values)[mask.ndim :]))[mask])
    return mask & columns["alive"] if "alive" in columns else mask
