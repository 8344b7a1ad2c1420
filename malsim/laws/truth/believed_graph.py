"""The graph of claims under `[rules] effective = "records"`: edges and ages are its own, beliefs are those of `records`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.laws.engine.graph_plant import Graph, GraphView
from malsim.laws.engine.items import Items
from malsim.laws.engine.reasons import Reasons
from malsim.laws.truth.estimate import estimate_truth
from malsim.laws.truth.evidence import latest
from malsim.laws.truth.log_odds import reasons_of
from malsim.laws.truth.voices import copies, echoes, one_voice, over, repeats
from malsim.memory.law import tick
from malsim.memory.law_steps import as_view, moved
from malsim.memory.port import Vocabulary
from malsim.memory.schema import NONE, RELATIONS, STATUS, VERIFICATION

if TYPE_CHECKING:
    from malsim.laws.engine.graph_plant import GraphState
    from malsim.memory.explain import LawExplanation
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

EXTERNAL, ANNEXED = VERIFICATION.index("external"), STATUS.index("annexed")
DERIVED = RELATIONS.index("derived_from")


@dataclass(frozen=True, kw_only=True)
class BelievedGraph(Graph):
    """A graph that ticks as published and then sets each active cell's effective confidence to the belief of `records`.

    The claims are the cells about an object and a value, superseded ones too: a contradiction does not withdraw a claim.
    Of each writer and object the latest counts; a cell whose value no writer claims any more has
    belief 0. Cells verified from outside, reviewers' among them, pin their value. Cells about nothing keep
    the confidence of the published law.
    Off by default: `records_origin`, `records_lineage`, `records_echo`, `records_voice`, `records_witness`.
    """

    def tick(self, state: GraphState, now: float) -> GraphState:
        memory = tick(state.memory, now, self._published)
        rows = _claim_rows(state)
        if len(rows):
            live = rows[memory.is_active[rows]]
            memory = memory.changed(live, {"effective": _beliefs(state, rows, live, now, self.rules)})
        return replace(state, memory=memory)

    def present(self, state: GraphState, now: float) -> GraphView:
        """Return what a tick would give now, in the replications in which something was admitted since the last."""
        rows = moved(state.memory)
        if not rows.size or self.rules.reads == "last tick":
            return state.view
        after = self.tick(state, now).memory
        scores = {name: after.values(name, rows) for name in ("effective", "calibration", "support_mass", "challenge_mass")}
        return GraphView(state, as_view(state.memory.changed(rows, scores), rows, state.memory))

    @cached_property
    def _published(self) -> Rules:
        return self.rules.replace(effective=None)

    def explain(self, state: GraphState, alive: Ints, row: int, now: float) -> LawExplanation:  # noqa: ARG002  # all words count
        """Explain the belief of a row at a tick at `now`, which reads what was admitted before."""
        cells = state.memory.cells
        claims = _claim_rows(state)
        rows = claims[(state.memory.column("created")[claims] < now) & (state.rep.values[claims] == state.rep.values[row])]
        rows, settings = _counted_claims(state, rows, self.rules)
        holders = np.flatnonzero(_same(state, rows, row))
        if len(holders):
            items = _items(state, rows)
            judged, row_of = estimate_truth(items, now, **settings), int(holders[0])
            reasons = reasons_of(items, *judged.of(row_of), row_of)
        else:
            why = "nobody holds its value any more" if row in claims else "it claims no value of an object"
            reasons = Reasons([], 0.0, 0.0, why)
        return reasons.explanation(
            cells["handle"][row], cells["title"][row] or "", now, cells.select("writer", cell="handle")[rows]
        )


def _claim_rows(state: GraphState) -> Ints:
    status = state.memory.column("status")
    return np.flatnonzero((state.object.values != NONE) & (state.value.values != NONE) & (status != ANNEXED))


def _counted_claims(state: GraphState, rows: Ints, rules: Rules) -> tuple[Ints, dict[str, Any]]:
    """Return each writer's latest claim about each object, without copies, with weights and time constants."""
    memory, about = state.memory, state.rep.values.astype(np.int64) * len(state.vocabulary.objects) + state.object.values
    claims = (
        _speaker(state)[memory.column("author")[rows]],
        about[rows],
        state.value.values[rows],
        memory.column("created")[rows],
    )
    echo = echoes(*claims) if rules.records_echo < 1.0 else np.zeros(len(rows), dtype=bool)
    copy = copies(*claims, _origins(memory, rows)) if rules.records_origin == "one" else np.zeros(len(rows), dtype=bool)
    dropped = copy | (echo & (rules.records_echo == 0.0))
    keep = np.flatnonzero(~dropped | (memory.column("verification")[rows] == EXTERNAL))
    keep = keep[latest(claims[0][keep], claims[1][keep], claims[3][keep])]
    if rules.records_witness > 0.0:
        stands = ~over(*claims, rules.records_witness) | (memory.column("verification")[rows] == EXTERNAL)
        keep = keep[stands[keep]]
    if rules.records_voice == "one":
        external = memory.column("verification")[rows[keep]] == EXTERNAL
        keep = keep[~repeats(one_voice(*claims)[keep] & ~external, claims[1][keep], claims[2][keep])]
    kind = memory.column("stability")[rows[keep]].astype(np.int64)
    tau = rules.tau[kind] if rules.records_tau == "class" else 0.0
    weight, tau_from = np.where(echo[keep], rules.records_echo, 1.0), "claims" if rules.records_tau == "claims" else "given"
    return rows[keep], {
        "tau": tau, "tau_from": tau_from, "kind": kind, "weight": weight, "lineage": rules.records_lineage
    }  # fmt: skip


def _speaker(state: GraphState) -> Ints:
    """Return a number for each author; under `records_lineage` the writers of a lineage share one."""
    names, words = state.memory.writers["writer"], state.vocabulary
    if state.rules.records_lineage == "apart" or not words.lineages:
        return np.arange(len(names))
    kin = dict(zip(words.writers, words.lineages, strict=True))
    speakers = [f"lineage {kin[name]}" if kin.get(name) else f"writer {name}" for name in names.to_list()]
    return np.unique(speakers, return_inverse=True)[1]


def _origins(memory: Memory, rows: Ints) -> list[Ints]:
    """Return two origins of each cell: the first cell of its derived_from chain, and its sources; -1 for none."""
    edges = memory.table("edges")
    rooted = np.flatnonzero(edges.column("relation") == DERIVED)[::-1]  # so that of several the first holds
    root = np.arange(memory.height)
    root[edges.column("source")[rooted]] = edges.column("target")[rooted]
    for _ in range(int(memory.height).bit_length()):
        root = root[root]
    refs = memory.cells["source_refs"].gather(rows).list.sort().list.join("\n")
    index = refs.replace("", None).rank("dense").cast(pl.Int64).fill_null(-1)
    return [root[rows], index.to_numpy()]


def _same(state: GraphState, rows: Ints, row: int) -> Bools:
    columns = (state.rep.values, state.object.values, state.value.values)
    same: Bools = np.logical_and.reduce([column[rows] == column[row] for column in columns])
    return same


def _items(state: GraphState, rows: Ints) -> Items:
    memory, words = state.memory, state.vocabulary
    authors, names = memory.column("author")[rows], memory.writers["writer"]
    others = {*names.unique().to_list()} - {*words.writers}
    writers = [*words.writers, *sorted(others)]  # one order, independent of who claimed first in other replications
    index = names.replace_strict(writers, np.arange(len(writers))).to_numpy()
    columns = {
        "rep": state.rep.values[rows], "object": state.object.values[rows], "value": state.value.values[rows],
        "writer": index[authors], "time": memory.column("created")[rows], "stated": memory.column("claimed")[rows],
        "verified": (memory.column("verification")[rows] == EXTERNAL).astype(np.float64),
    }  # fmt: skip
    there = np.ones(len(rows), dtype=bool)
    kin = dict(zip(words.writers, words.lineages, strict=False))
    lineages = [kin.get(name, "") for name in writers] if kin else ()
    vocabulary = Vocabulary(writers, words.objects, words.values, lineages)
    return Items(columns, np.arange(len(rows)), there, vocabulary=vocabulary)


def _beliefs(state: GraphState, rows: Ints, wanted: Ints, now: float, rules: Rules) -> Array:
    words, settings = _counted_claims(state, rows, rules)
    worth = estimate_truth(_items(state, words), now, **settings).effective
    objects, most = len(state.vocabulary.objects), int(state.value.values.max()) + 1
    key = (state.rep.values.astype(np.int64) * objects + state.object.values) * most + state.value.values
    keys, first = np.unique(key[words], return_index=True)
    at = np.minimum(np.searchsorted(keys, key[wanted]), len(keys) - 1)
    return np.where(keys[at] == key[wanted], worth[first[at]], 0.0)
