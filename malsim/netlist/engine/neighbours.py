"""Neighbours of cells: pairs reached by hops, and cell fields that depend on edges and statuses only."""

from __future__ import annotations

from operator import is_not
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import polars as pl
from scipy import sparse

from malsim.memory import Memory, schema
from malsim.netlist.language.lexicon import WORK

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.netlist.language.address import Hop

T = TypeVar("T")
FAR = 6  # versions and origins are followed no further


class Neighbours:
    """The edges of a memory, from every cell; what follows from them is kept while edges and statuses stay."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = memory or Memory.empty()
        self._cache: dict[object, tuple[tuple[object, ...], Any]] = {}

    def of(self, memory: Memory) -> Neighbours:
        """Return the neighbours of `memory`; reuse this instance if neither edges nor cell statuses have changed."""
        old = self.memory
        if old.table("edges") is memory.table("edges") and old.height == memory.height:
            ours, theirs = ((side.is_active, side.column("successor")) for side in (old, memory))
            if all(mine is other or np.array_equal(mine, other) for mine, other in zip(ours, theirs, strict=True)):
                return self
        return Neighbours(memory)

    def keep(self, name: object, compute: Callable[[], T], *on: object) -> T:
        entry = self._cache.get(name)
        if entry is None or any(map(is_not, entry[0], on)):
            entry = self._cache[name] = on, compute()
        return cast("T", entry[1])

    def pairs(self, hops: tuple[Hop, ...]) -> tuple[Ints, Ints]:
        """(rows, others): every cell and each one that the hops lead to, once, itself left out after several."""
        return self.keep(("pairs", hops), lambda: self._ends(hops))

    def _ends(self, hops: tuple[Hop, ...]) -> tuple[Ints, Ints]:
        ends = self._reach(hops).tocoo()
        return ends.row.astype(np.int64), ends.col.astype(np.int64)

    def sums(self, hops: tuple[Hop, ...], values: Array) -> Array:
        """Return the sum of a field over what the hops lead to from each cell, added up in the order of cells."""
        matrix = self.keep(("sums", hops), lambda: self._reach(hops).astype(np.float64))
        total: Array = matrix @ values
        return total

    def _reach(self, hops: tuple[Hop, ...]) -> sparse.csr_array:
        matrix = self._crossing(hops[0])
        for hop in hops[1:]:
            matrix = matrix @ self._crossing(hop)
            matrix.setdiag(False)
            matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def field(self, name: str) -> Array:
        return self.keep(name, lambda: _FIELDS[name](self))

    def edges(self) -> tuple[Ints, Ints, Ints, Array]:
        table = self.memory.table("edges")
        return table.column("source"), table.column("target"), table.column("relation"), table.column("weight")

    @property
    def active(self) -> Bools:
        return self.memory.is_active

    @property
    def adjacency(self) -> sparse.csr_array:
        return self.keep("adjacency", self._adjacency)

    def _adjacency(self) -> sparse.csr_array:
        source, target, _, _ = self.edges()
        keep = self.active[source] & self.active[target] & (source != target)
        item = self._matrix(source[keep], target[keep])
        matrix: sparse.csr_array = ((item + item.T) > 0).astype(np.float64).tocsr()
        return matrix

    @property
    def triangles(self) -> Array:
        return self.keep("triangles", self._triangles)

    def _triangles(self) -> Array:
        counts: Array = (self.adjacency @ self.adjacency).multiply(self.adjacency).sum(axis=1)
        return counts

    def _crossing(self, hop: Hop) -> sparse.csr_array:
        source, target, relation, _ = self.edges()
        near, far = (target, source) if hop.incoming else (source, target)
        keep = np.ones(len(near), dtype=bool) if hop.dead else self.active[far]
        if hop.relation != "*":
            keep = keep & (relation == schema.RELATIONS.index(hop.relation))
        return self._matrix(near[keep], far[keep]).astype(bool)

    def _matrix(self, rows: Ints, columns: Ints) -> sparse.csr_array:
        size = len(self.active)
        return sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size)).tocsr()


def numbers_in(entities: pl.Series) -> pl.DataFrame:
    """Parse the `name=number` entities of cells into columns row, name, value.

    >>> numbers_in(pl.Series([["impact=.8", "pump"], ["cost=much"]])).rows()
    [(0, 'impact', 0.8)]
    """
    words = pl.DataFrame({"word": entities}).with_row_index("row").explode("word")
    words = words.filter(pl.col("word").str.contains("=", literal=True)).with_columns(pl.col("word").str.splitn("=", 2))
    name, value = (pl.col("word").struct[index] for index in (0, 1))
    numbers = words.select("row", name.alias("name"), value.cast(pl.Float64, strict=False).alias("value"))
    return numbers.filter(pl.col("value").is_finite())


def numbers_of(numbers: pl.DataFrame, name: str, count: int) -> Array:
    """Return one named number for `count` cells: the last if repeated, else the default of `lexicon.toml`."""
    values: Array = np.full(count, WORK[name])
    own = numbers.filter(pl.col("name") == name)
    values[own["row"].to_numpy()] = own["value"].to_numpy()
    return values


def _clustering(graph: Neighbours) -> Array:
    degree = graph.field("degree")
    share: Array = graph.triangles / np.maximum(degree * (degree - 1), 1)
    return share


def _is_lost(graph: Neighbours) -> Array:
    after = graph.memory.column("successor")
    at, lives = np.arange(len(after)), graph.active.copy()
    for _ in range(FAR):
        at = np.where(at == schema.NONE, schema.NONE, after[at])
        lives |= (at != schema.NONE) & graph.active[at]
    return (~lives).astype(np.float64)


def _is_orphan(graph: Neighbours) -> Array:
    source, target, _, _ = graph.edges()
    is_cited = np.zeros(len(graph.active), dtype=bool)
    is_cited[target[graph.active[source]]] = True
    return is_cited * _is_lost(graph)


def _depth(graph: Neighbours) -> Array:
    after = graph.memory.column("successor")
    depth, old = np.zeros(len(after), dtype=np.int64), np.flatnonzero(after != schema.NONE)
    for _ in range(FAR):
        np.maximum.at(depth, after[old], np.minimum(depth[old] + 1, FAR))
    return depth.astype(np.float64)


def _root(graph: Neighbours) -> Array:
    source, target, relation, _ = graph.edges()
    author = graph.memory.column("author").astype(np.int64)
    derives = relation == schema.RELATIONS.index("derived_from")
    parent = np.arange(len(author))
    parent[source[derives]] = target[derives]
    end = parent
    for _ in range(FAR):
        end = parent[end]
    root: Array = np.where(end == np.arange(len(end)), author, author.max(initial=0) + 1 + end).astype(np.float64)
    return root


_FIELDS: dict[str, Callable[[Neighbours], Array]] = {
    "degree": lambda graph: np.diff(graph.adjacency.indptr).astype(np.float64),
    "leaf": lambda graph: (graph.field("degree") == 1).astype(np.float64),
    "leaves": lambda graph: graph.adjacency @ graph.field("leaf"),
    "clustering": _clustering, "lost": _is_lost, "orphaned": _is_orphan, "depth": _depth, "root": _root,
}  # fmt: skip
