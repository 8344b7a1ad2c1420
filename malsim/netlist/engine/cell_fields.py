"""Computed fields of cells, from times, edges and words, evaluated where a wire reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from malsim.memory import schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.netlist.engine.rows import Rows

SOURCES, HITS, OTHERS = 15, 12, 2
ROUNDING = 1e-9
_WORDS = {**schema.WORDS, "status": schema.STATUS}


def field_of(fields: tuple[str, ...], rows: Rows) -> Array:
    """Return a field of every cell, as floats: `("age",)`, `("work", "impact")`, `("status", "annexed")`."""
    first, *rest = fields
    if first == "work":
        return rows.work(rest[0])
    if rest:
        bits: Array = (rows.memory.column(first) == _WORDS[first].index(rest[0])).astype(np.float64)
        return bits
    if first not in _FIELDS:
        return rows.neighbours.field(first)
    values: Array = rows.once(first, lambda: _FIELDS[first](rows))
    return values


def _since(rows: Rows, column: str) -> Array:
    when: Array = rows.memory.column(column)
    return rows.now - np.where(np.isnan(when), rows.memory.column("created"), when)


def _tau(rows: Rows) -> Array:
    tau: Array = rows.rules.tau[rows.memory.column("stability")]
    return tau


def _chain_currency(rows: Rows) -> Array:
    memory = rows.memory
    after = memory.column("successor")
    worst = memory.column("currency").copy()
    old = np.flatnonzero(after != schema.NONE)
    for _ in range(6):
        np.minimum.at(worst, after[old], worst[old])
    return worst


def _latest(when: Array, among: Bools, groups: Ints, many: int) -> Ints:
    cells = np.flatnonzero(among)
    order = cells[np.lexsort((-cells, -when[cells], groups[cells]))]
    counts = np.bincount(groups[order])
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.arange(len(order)) - first < many]


def _recent_source(rows: Rows) -> Array:
    values: Array = np.full(rows.count("cell"), np.nan)
    memory = rows.memory
    latest = _latest(memory.column("created"), memory.is_active, memory.column("author").astype(np.int64), SOURCES)
    values[latest] = rows.neighbours.field("root")[latest]
    return values


def _recent_hit(rows: Rows) -> Array:
    values: Array = np.zeros(rows.count("cell"))
    read = rows.memory.column("read")
    values[_latest(read, ~np.isnan(read) & rows.memory.is_active, rows.rep_of("cell"), HITS)] = 1.0
    return values


def _wrong_signs(rows: Rows) -> Array:
    """Count each cell's weighted edges whose sign is against what enough others say together of the cell they lead to.

    Where the others cancel out, up to rounding, they say nothing.
    """
    edges = rows.neighbours.keep("signed edges", lambda: _signed_edges(rows))
    effective = np.nan_to_num(rows.memory.column("effective"))
    others = (edges.into @ effective).take(edges.target) - edges.weight * effective.take(edges.source)
    most = (abs(edges.into) @ effective).take(edges.target)
    against = edges.enough & (others * edges.weight < 0) & (np.abs(others) > ROUNDING * most)
    return np.bincount(edges.source, against, minlength=len(effective)).astype(np.float64)


class _SignedEdges(NamedTuple):
    """The weighted edges between active cells, `enough` where others speak of the target; `into` has them by target."""

    source: Ints
    target: Ints
    weight: Array
    enough: Bools
    into: sparse.csr_array


def _signed_edges(rows: Rows) -> _SignedEdges:
    source, target, _, weight = rows.neighbours.edges()
    active = rows.memory.is_active
    keep = (weight != 0) & active[source] & active[target]
    source, target, weight = source[keep], target[keep], weight[keep]
    many = np.bincount(target, minlength=len(active))
    order, starts = np.argsort(target, kind="stable"), np.concatenate([[0], np.cumsum(many)])
    into = sparse.csr_array((weight[order], source[order], starts), shape=(len(active), len(active)))
    return _SignedEdges(source, target, weight, many[target] > OTHERS, into)


def _sign_counts(rows: Rows) -> Array:
    edges = rows.neighbours.keep("signed edges", lambda: _signed_edges(rows))
    return np.bincount(edges.source, edges.enough, minlength=rows.memory.height).astype(np.float64)


_FIELDS: dict[str, Callable[[Rows], Array]] = {
    "age": lambda rows: _since(rows, "created"),
    "idle": lambda rows: _since(rows, "touched"),
    "tau": _tau,
    "chain_currency": _chain_currency,
    "recent_source": _recent_source,
    "recent_hit": _recent_hit,
    "signed": _sign_counts,
    "miswired": _wrong_signs,
}
