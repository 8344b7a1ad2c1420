"""Computed cell fields, such as age or degree, derived from times, words, edges and neighbours when a wire reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from malsim.memory import schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.language.address import Hop

SOURCES, HITS, OTHERS = 15, 12, 2
ROUNDING = 1e-9
FAR = 6  # maximum number of steps along a chain of versions or origins
_WORDS = {**schema.WORDS, "status": schema.STATUS}


def field_of(fields: tuple[str, ...], rows: Rows) -> Array:
    """Return one field of every cell as floats.

    `fields` is a path such as `("age",)`, `("work", "impact")` or `("status", "annexed")`.
    """
    first, *rest = fields
    if first == "work":
        return rows.work(rest[0])
    if rest:
        bits: Array = (rows.memory.column(first) == _WORDS[first].index(rest[0])).astype(np.float64)
        return bits
    if compute := _GRAPH_FIELDS.get(first):
        return rows.keep(first, lambda: compute(rows), rows.graph)
    return rows.keep(first, lambda: _FIELDS[first](rows), rows)


def neighbour_pairs(rows: Rows, hops: tuple[Hop, ...]) -> tuple[Ints, Ints]:
    """Return index arrays of cells and neighbours, with one entry per distinct neighbour that a cell reaches by `hops`."""

    def compute() -> tuple[Ints, Ints]:
        ends = _reach(rows, hops).tocoo()
        return ends.row.astype(np.int64), ends.col.astype(np.int64)

    return rows.keep(("pairs", hops), compute, rows.graph)


def neighbour_sums(rows: Rows, hops: tuple[Hop, ...], values: Array) -> Array:
    """Return, for each cell, the sum of `values` over its neighbours along `hops`, added in ascending order of cell row."""
    matrix = rows.keep(("sums", hops), lambda: _reach(rows, hops).astype(np.float64), rows.graph)
    total: Array = matrix @ values
    return total


def _reach(rows: Rows, hops: tuple[Hop, ...]) -> sparse.csr_array:
    matrix = _crossing(rows, hops[0])
    for hop in hops[1:]:
        matrix = matrix @ _crossing(rows, hop)
        matrix.setdiag(False)
        matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _crossing(rows: Rows, hop: Hop) -> sparse.csr_array:
    source, target, relation, _ = _edges(rows)
    near, far = (target, source) if hop.incoming else (source, target)
    keep = np.ones(len(near), dtype=bool) if hop.dead else rows.memory.is_active[far]
    if hop.relation != "*":
        keep = keep & (relation == schema.RELATIONS.index(hop.relation))
    return _matrix(rows, near[keep], far[keep]).astype(bool)


def _edges(rows: Rows) -> tuple[Ints, Ints, Ints, Array]:
    table = rows.memory.table("edges")
    return table.column("source"), table.column("target"), table.column("relation"), table.column("weight")


def _matrix(rows: Rows, sources: Ints, targets: Ints) -> sparse.csr_array:
    size = rows.memory.height
    return sparse.coo_array((np.ones(len(sources)), (sources, targets)), shape=(size, size)).tocsr()


def _adjacency(rows: Rows) -> sparse.csr_array:
    def compute() -> sparse.csr_array:
        source, target, _, _ = _edges(rows)
        keep = rows.memory.is_active[source] & rows.memory.is_active[target] & (source != target)
        forward = _matrix(rows, source[keep], target[keep])
        symmetric: sparse.csr_array = ((forward + forward.T) > 0).astype(np.float64).tocsr()
        return symmetric

    return rows.keep("adjacency", compute, rows.graph)


def _clustering(rows: Rows) -> Array:
    adjacency, degree = _adjacency(rows), field_of(("degree",), rows)
    triangles: Array = (adjacency @ adjacency).multiply(adjacency).sum(axis=1)
    return triangles / np.maximum(degree * (degree - 1), 1)


def _is_lost(rows: Rows) -> Array:
    after = rows.memory.column("successor")
    heir, lives = np.arange(len(after)), rows.memory.is_active.copy()
    for _ in range(FAR):
        heir = np.where(heir == schema.NONE, schema.NONE, after[heir])
        lives |= (heir != schema.NONE) & rows.memory.is_active[heir]
    return (~lives).astype(np.float64)


def _is_orphan(rows: Rows) -> Array:
    source, target, _, _ = _edges(rows)
    is_cited = np.zeros(rows.memory.height, dtype=bool)
    is_cited[target[rows.memory.is_active[source]]] = True
    return is_cited * field_of(("lost",), rows)


def _depth(rows: Rows) -> Array:
    after = rows.memory.column("successor")
    depth, old = np.zeros(len(after), dtype=np.int64), np.flatnonzero(after != schema.NONE)
    for _ in range(FAR):
        np.maximum.at(depth, after[old], np.minimum(depth[old] + 1, FAR))
    return depth.astype(np.float64)


def _root(rows: Rows) -> Array:
    source, target, relation, _ = _edges(rows)
    author = rows.memory.column("author").astype(np.int64)
    derives = relation == schema.RELATIONS.index("derived_from")
    parent = np.arange(len(author))
    parent[source[derives]] = target[derives]
    end = parent
    for _ in range(FAR):
        end = parent[end]
    root: Array = np.where(end == np.arange(len(end)), author, author.max(initial=0) + 1 + end).astype(np.float64)
    return root


def _since(rows: Rows, column: str) -> Array:
    when: Array = rows.memory.column(column)
    return rows.now - np.where(np.isnan(when), rows.memory.column("created"), when)


def _chain_currency(rows: Rows) -> Array:
    memory = rows.memory
    after = memory.column("successor")
    worst = memory.column("currency").copy()
    old = np.flatnonzero(after != schema.NONE)
    for _ in range(FAR):
        np.minimum.at(worst, after[old], worst[old])
    return worst


def _latest(when: Array, among: Bools, groups: Ints, many: int) -> Ints:
    cells = np.flatnonzero(among)
    order = cells[np.lexsort((-cells, -when[cells], groups[cells]))]
    counts = np.bincount(groups[order])
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.arange(len(order)) - first < many]


def _recent_source(rows: Rows) -> Array:
    memory = rows.memory
    values: Array = np.full(memory.height, np.nan)
    latest = _latest(memory.column("created"), memory.is_active, memory.column("author").astype(np.int64), SOURCES)
    values[latest] = field_of(("root",), rows)[latest]
    return values


def _recent_hit(rows: Rows) -> Array:
    values: Array = np.zeros(rows.memory.height)
    read = rows.memory.column("read")
    values[_latest(read, ~np.isnan(read) & rows.memory.is_active, rows.rep_of("cell"), HITS)] = 1.0
    return values


class _SignedEdges(NamedTuple):
    """Edges of nonzero weight between active cells.

    `enough` marks edges whose target has at least two other such edges; `into` is the weight matrix (target × source).
    """

    source: Ints
    target: Ints
    weight: Array
    enough: Bools
    into: sparse.csr_array


def _signed_edges(rows: Rows) -> _SignedEdges:
    def compute() -> _SignedEdges:
        source, target, _, weight = _edges(rows)
        active = rows.memory.is_active
        keep = (weight != 0) & active[source] & active[target]
        source, target, weight = source[keep], target[keep], weight[keep]
        many = np.bincount(target, minlength=len(active))
        order, starts = np.argsort(target, kind="stable"), np.concatenate([[0], np.cumsum(many)])
        into = sparse.csr_array((weight[order], source[order], starts), shape=(len(active), len(active)))
        return _SignedEdges(source, target, weight, many[target] > OTHERS, into)

    return rows.keep("signed edges", compute, rows.graph)


def _sign_counts(rows: Rows) -> Array:
    edges = _signed_edges(rows)
    return np.bincount(edges.source, edges.enough, minlength=rows.memory.height).astype(np.float64)


def _wrong_signs(rows: Rows) -> Array:
    """Count each cell's outgoing edges whose sign contradicts the weighted sum of the other edges into the same target.

    An edge is not counted if the other edges cancel out, up to rounding.
    """
    edges = _signed_edges(rows)
    effective = np.nan_to_num(rows.memory.column("effective"))
    others = (edges.into @ effective).take(edges.target) - edges.weight * effective.take(edges.source)
    most = (abs(edges.into) @ effective).take(edges.target)
    against = edges.enough & (others * edges.weight < 0) & (np.abs(others) > ROUNDING * most)
    return np.bincount(edges.source, against, minlength=len(effective)).astype(np.float64)


_GRAPH_FIELDS: dict[str, Callable[[Rows], Array]] = {
    "degree": lambda rows: np.diff(_adjacency(rows).indptr).astype(np.float64),
    "leaf": lambda rows: (field_of(("degree",), rows) == 1).astype(np.float64),
    "leaves": lambda rows: _adjacency(rows) @ field_of(("leaf",), rows),
    "clustering": _clustering, "lost": _is_lost, "orphaned": _is_orphan, "depth": _depth, "root": _root,
}  # fmt: skip
_FIELDS: dict[str, Callable[[Rows], Array]] = {
    "age": lambda rows: _since(rows, "created"),
    "idle": lambda rows: _since(rows, "touched"),
    "tau": lambda rows: rows.rules.tau[rows.memory.column("stability")],
    "chain_currency": _chain_currency,
    "recent_source": _recent_source,
    "recent_hit": _recent_hit,
    "signed": _sign_counts,
    "miswired": _wrong_signs,
}
