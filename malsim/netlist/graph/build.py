"""Rows to a memory: cells after those that stand, edges by row, records of writers, replaced cells with their heirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import Memory, schema
from malsim.memory.schema import NONE
from malsim.netlist.graph.checks import DECLARE, cell_faults, cycle_faults, edge_faults
from malsim.netlist.graph.stored_fields import GIVEN, complete
from malsim.netlist.language.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory import Rules
    from malsim.memory.graph.arrays import Ints
    from malsim.netlist.graph.gather import GraphRows


def build(graph: GraphRows, memory: Memory, rules: Rules, *, now: float, rep: int) -> tuple[Memory, list[Fault]]:
    """Return the memory with these rows as they stand, or the memory as it was and everything that is wrong."""
    cells = complete(pl.DataFrame(graph.rows, schema=dict(GIVEN)).with_columns(pl.lit(rep, pl.Int32).alias("rep")), now=now)
    names = _Names(memory, cells, rep)
    edges = _edges(graph, names, memory, cells)
    heirs = names.rows(cells["successor"].to_list())
    faults = [
        *graph.faults,
        *cell_faults(cells, graph, memory, rules),
        *edge_faults(edges, graph, memory, rules),
        *_heirless(cells, heirs, graph),
        *cycle_faults(_supersessions(edges, heirs, names.base), names.base + cells.height, graph, names.base),
    ]
    if faults:
        return memory, faults
    author, writers = _authors(memory, cells, graph, rep)
    successor = pl.Series("successor", heirs, dtype=pl.Int64).replace(NONE, None)
    new_cells = cells.with_columns(author, successor).select(pl.col(name).cast(kind) for name, kind in schema.CELLS.items())
    new_edges = edges.sort("place").select(pl.col(name).cast(kind) for name, kind in schema.EDGES.items())
    scanned = memory.scanned + sum(graph.scanned[:1])
    return Memory(pl.concat([memory.cells, new_cells]), pl.concat([memory.edges, new_edges]), writers, scanned), []


class _Names:
    """Rows of cells by key or handle: of this text, which come after those that stand, and of the memory."""

    def __init__(self, memory: Memory, cells: pl.DataFrame, rep: int) -> None:
        self.memory, self.rep, self.base = memory, rep, memory.cells.height
        self.own: dict[str, int] = {}
        for column in ("key", "handle"):
            for row, name in enumerate(cells[column].to_list(), self.base):
                self.own.setdefault(name, row)

    def rows(self, names: list[str | None]) -> Ints:
        outside = self.memory.index.rows([self.rep] * len(names), names, height=self.base)
        return np.array(
            [self.own.get(name or "", row) for name, row in zip(names, outside.tolist(), strict=True)], dtype=np.int64
        )


def _edges(graph: GraphRows, lookup: _Names, memory: Memory, cells: pl.DataFrame) -> pl.DataFrame:
    arcs = graph.arcs
    ends = {}
    for end in ("source", "target"):
        values = [getattr(arc, end) for arc in arcs]
        rows = lookup.rows([None if isinstance(value, int) else str(value) for value in values]).tolist()
        ends[end] = [lookup.base + value if isinstance(value, int) else row for value, row in zip(values, rows, strict=True)]
    frame = pl.DataFrame(
        {
            **ends,
            "relation": [arc.relation for arc in arcs],
            "weight": [arc.weight for arc in arcs],
            "writer": [arc.writer for arc in arcs],
            "t": [arc.t for arc in arcs],
            "place": [place if arc.place is None else arc.place for place, arc in enumerate(arcs)],
        },
        schema={**schema.EDGES, "relation": pl.String, "place": pl.Int64},
    )
    source = pl.concat([memory.cells.select("writer", "created"), cells.select("writer", "created")])
    at = frame["source"].replace(NONE, None)
    return frame.with_columns(
        pl.col("writer").fill_null(source["writer"].gather(at)), pl.col("t").fill_null(source["created"].gather(at))
    )


def _heirless(cells: pl.DataFrame, heirs: Ints, graph: GraphRows) -> Iterator[Fault]:
    for row in np.flatnonzero((heirs == NONE) & cells["successor"].is_not_null().to_numpy()):
        name = cells["successor"][int(row)]
        yield Fault.at(graph.statements[row], name, "no such cell, to succeed another", hint=DECLARE)


def _supersessions(edges: pl.DataFrame, heirs: Ints, base: int) -> pl.DataFrame:
    edges = edges.filter((pl.col("relation") == "supersedes") & (pl.col("source") >= 0) & (pl.col("target") >= 0))
    old = np.flatnonzero(heirs != NONE)
    late = pl.DataFrame({"new": heirs[old], "old": old + base}, schema={"new": pl.Int64, "old": pl.Int64})
    return pl.concat([edges.select(pl.col("source").alias("new"), pl.col("target").alias("old")), late])


def _authors(memory: Memory, cells: pl.DataFrame, graph: GraphRows, rep: int) -> tuple[pl.Series, pl.DataFrame]:
    """Return the row of each cell's writer, and the writers frame with those who are new and the records of the text."""
    names = set(memory.writers.filter(pl.col("rep") == rep)["writer"].to_list())
    fresh = [name for name in cells["writer"].unique(maintain_order=True).to_list() if name not in names]
    fresh.sort(key=lambda name: graph.records.get(name, {}).get("writer-row", 0))
    records = [graph.records.get(name, {}) for name in fresh]
    new = pl.DataFrame(
        {
            "rep": [rep] * len(fresh),
            "writer": fresh,
            "claims": [record.get("writer-claims", 0) for record in records],
            "contradicted": [record.get("writer-contradicted", 0) for record in records],
            "calibration": [record.get("writer-calibration", 1.0) for record in records],
        },
        schema=schema.WRITERS,
    )
    writers = pl.concat([memory.writers, new])
    rows = writers.with_row_index("author").filter(pl.col("rep") == rep).select("writer", "author")
    return cells.select("writer").join(rows, on="writer", how="left", maintain_order="left")["author"], writers
