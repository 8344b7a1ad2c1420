"""Claim graph under `[rules] effective = "records"`: edges and ages from the graph, beliefs from the law `records`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.laws.engine.graph_plant import Graph, GraphView
from malsim.laws.engine.items import Items
from malsim.laws.engine.reasons import Reasons
from malsim.laws.truth.estimate import estimate_truth
from malsim.laws.truth.evidence import latest
from malsim.laws.truth.log_odds import reasons_of
from malsim.laws.truth.voices import abandoned, copies, disowned, echoes, repeats
from malsim.memory.law import tick
from malsim.memory.law_steps import as_view, moved
from malsim.memory.port import Vocabulary
from malsim.memory.schema import NONE, RELATIONS, STATUS, VERIFICATION

if TYPE_CHECKING:
    from malsim.laws.engine.graph_plant import GraphState
    from malsim.memory.explain import LawExplanation
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

EXTERNAL, ANNEXED = VERIFICATION.index("external"), STATUS.index("annexed")
DERIVED = RELATIONS.index("derived_from")


@dataclass(frozen=True, kw_only=True)
class BelievedGraph(Graph):
    """Claim graph that ticks as published, then sets each active cell's effective confidence to its belief under `records`.

    All cells with an object and a value are claims, including superseded cells, because a contradiction does not withdraw a
    claim. Each writer's latest claim about an object counts; a cell has belief 0 if no writer still claims its value.
    Externally verified cells pin their value. Cells without an object keep the confidence of the published law.
    """

    def tick(self, state: GraphState, now: float) -> GraphState:
        # The published formula computes everything but the beliefs.
        memory = tick(state.memory, now, self.rules.replace(effective=None))
        rows = _claim_rows(state)
        if len(rows):
            live = rows[memory.is_active[rows]]
            memory = memory.changed(live, {"effective": _beliefs(state, rows, live, now, self.rules)})
        return replace(state, memory=memory)

    def present(self, state: GraphState, now: float) -> GraphView:
        """Return the view that a tick would produce now in the replications with claims since the last tick."""
        rows = moved(state.memory)
        if not rows.size or self.rules.reads == "last tick":
            return state.view
        after = self.tick(state, now).memory
        scores = {name: after.values(name, rows) for name in ("effective", "calibration", "support_mass", "challenge_mass")}
        return GraphView(state, as_view(state.memory.changed(rows, scores), rows, state.memory))

    # All claims count, so `alive` is ignored.
    def explain(self, state: GraphState, alive: Ints, row: int, now: float) -> LawExplanation:  # noqa: ARG002
        """Explain the belief that a tick at `now` would compute for a row from all claims admitted before."""
        cells = state.memory.cells
        claims = _claim_rows(state)
        rows = claims[(state.memory.column("created")[claims] < now) & (state.rep.values[claims] == state.rep.values[row])]
        rows, settings = _counted_claims(state, rows, self.rules)
        columns = (state.rep.values, state.object.values, state.value.values)
        same = np.flatnonzero(np.logical_and.reduce([column[rows] == column[row] for column in columns]))
        if len(same):
            items, first = _items(state, rows), int(same[0])
            reasons = reasons_of(items, *estimate_truth(items, now, **settings).at(first), first)
        else:
            why = "nobody claims its value any more" if row in claims else "it claims no value of an object"
            reasons = Reasons([], 0.0, 0.0, why)
        return reasons.explanation(
            cells["handle"][row], cells["title"][row] or "", now, cells.select("writer", cell="handle")[rows]
        )


def _claim_rows(state: GraphState) -> Ints:
    status = state.memory.column("status")
    return np.flatnonzero((state.object.values != NONE) & (state.value.values != NONE) & (status != ANNEXED))


def _counted_claims(state: GraphState, rows: Ints, rules: Rules) -> tuple[Ints, dict[str, Any]]:
    """Return the rows of the claims that count, at most one per writer and object, and options for `estimate_truth`."""
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
        current = ~abandoned(*claims, rules.records_witness) | (memory.column("verification")[rows] == EXTERNAL)
        keep = keep[current[keep]]
    if rules.records_voice == "one":
        external = memory.column("verification")[rows[keep]] == EXTERNAL
        keep = keep[~repeats(disowned(*claims)[keep] & ~external, claims[1][keep], claims[2][keep])]
    kind = memory.column("stability")[rows[keep]].astype(np.int64)
    tau = rules.tau[kind] if rules.records_tau == "class" else 0.0
    weight, tau_from = np.where(echo[keep], rules.records_echo, 1.0), "claims" if rules.records_tau == "claims" else "given"
    return rows[keep], {
        "tau": tau, "tau_from": tau_from, "kind": kind, "weight": weight, "lineage": rules.records_lineage
    }  # fmt: skip


def _speaker(state: GraphState) -> Ints:
    """Return a number for each author. Under `records_lineage`, all writers of one lineage share a number."""
    names, words = state.memory.writers["writer"], state.vocabulary
    if state.rules.records_lineage == "apart" or not words.lineages:
        return np.arange(len(names))
    kin = dict(zip(words.writers, words.lineages, strict=True))
    speakers = [f"lineage {kin[name]}" if kin.get(name) else f"writer {name}" for name in names.to_list()]
    return np.unique(speakers, return_inverse=True)[1]


def _origins(memory: Memory, rows: Ints) -> list[Ints]:
    """Return two origin indexes per cell: the root of its derived_from chain, and its set of sources (-1 if none)."""
    edges = memory.table("edges")
    rooted = np.flatnonzero(edges.column("relation") == DERIVED)[::-1]  # reversed, so that the first of several edges wins
    root = np.arange(memory.height)
    root[edges.column("source")[rooted]] = edges.column("target")[rooted]
    for _ in range(int(memory.height).bit_length()):
        root = root[root]
    refs = memory.cells["source_refs"].gather(rows).list.sort().list.join("\n")
    index = refs.replace("", None).rank("dense").cast(pl.Int64).fill_null(-1)
    return [root[rows], index.to_numpy()]


def _items(state: GraphState, rows: Ints) -> Items:
    memory, words = state.memory, state.vocabulary
    authors, names = memory.column("author")[rows], memory.writers["writer"]
    others = {*names.unique().to_list()} - {*words.writers}
    writers = [*words.writers, *sorted(others)]  # sorted, so that the order does not depend on other replications
    index = names.replace_strict(writers, np.arange(len(writers))).to_numpy()
    columns = {
        "rep": state.rep.values[rows], "object": state.object.values[rows], "value": state.value.values[rows],
        "writer": index[authors], "time": memory.column("created")[rows], "stated": memory.column("claimed")[rows],
        "verified": (memory.column("verification")[rows] == EXTERNAL).astype(np.float64),
    }  # fmt: skip
    kin = dict(zip(words.writers, words.lineages, strict=False))
    lineages = [kin.get(name, "") for name in writers] if kin else ()
    vocabulary = Vocabulary(writers, words.objects, words.values, lineages)
    return Items(columns, np.arange(len(rows)), np.ones(len(rows), dtype=bool), vocabulary=vocabulary)


def _beliefs(state: GraphState, rows: Ints, wanted: Ints, now: float, rules: Rules) -> Array:
    words, settings = _counted_claims(state, rows, rules)
    worth = estimate_truth(_items(state, words), now, **settings).effective
    objects, most = len(state.vocabulary.objects), int(state.value.values.max()) + 1
    key = (state.rep.values.astype(np.int64) * objects + state.object.values) * most + state.value.values
    keys, first = np.unique(key[words], return_index=True)
    index = np.minimum(np.searchsorted(keys, key[wanted]), len(keys) - 1)
    return np.where(keys[index] == key[wanted], worth[first[index]], 0.0)
