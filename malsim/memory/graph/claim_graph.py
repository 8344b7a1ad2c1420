"""The memory: cells, edges and writers as frames, with what is derived from them kept while it holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from malsim.base.errors import AddressError
from malsim.memory import schema
from malsim.memory.graph.chains import Versions
from malsim.memory.graph.edge_matrix import Wiring, wire
from malsim.memory.graph.frames import place_of
from malsim.memory.graph.handles import beginning_so
from malsim.memory.graph.index import Index
from malsim.memory.graph.table import Column, Table, TableField

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.frames import LazyRows

_STANDING = ("wiring", "_wiring", "index")
_DERIVED = (*_STANDING, "active", "is_active", "inactive")


@dataclass(frozen=True, eq=False)
class Memory:
    """A graph of claims as three frames; every function returns a new one and leaves the old as it was.

    `cells` has one row a cell, in the order of admission; `edges` names cells by their row; `writers` has one row a
    writer. The column `rep` keeps independent replications apart in one graph. Columns: `malsim.memory.schema`.

    >>> Memory.empty().cells.height
    0
    """

    cells: TableField = TableField()
    edges: TableField = TableField()
    writers: TableField = TableField()
    scanned: int = 0  # the edges that the last tick saw

    # What reads files and pushes lines stands above the graph: `malsim.memory` sets these.
    open: ClassVar[Callable[..., Memory]]
    save: ClassVar[Callable[..., None]]
    mini_index: ClassVar[Callable[..., Any]]
    expand: ClassVar[Callable[..., Any]]

    @classmethod
    def empty(cls) -> Memory:
        """A memory that holds nothing yet."""
        tables = (Table.blank(kinds) for kinds in (schema.CELLS, schema.EDGES, schema.WRITERS))
        return cls(*tables)  # type: ignore[arg-type]  # the fields keep tables and give frames

    def __repr__(self) -> str:
        """Say how much it holds."""
        return f"<Memory: {self.height} cells, {self.table('edges').height} edges, {self.table('writers').height} writers>"

    def __reduce__(self) -> tuple[type[Memory], tuple[object, ...]]:
        """Copy and pickle what it holds, not what is derived from that."""
        return Memory, (self.cells, self.edges, self.writers, self.scanned)

    @property
    def height(self) -> int:
        """How many cells there are."""
        cells: Table = self.__dict__["cells"]
        return cells.rows.height

    def table(self, name: str) -> Table:
        """The `cells`, `edges` or `writers` as a table: height, columns and latest rows are at hand without a frame."""
        table: Table = self.__dict__[name]
        return table

    @cached_property
    def active(self) -> NDArray[np.int64]:
        """The rows of the active cells."""
        return np.flatnonzero(self.column("status") == 0)

    @cached_property
    def inactive(self) -> NDArray[np.int64]:
        """The rows of the cells that are not active, which keep their scores."""
        return np.flatnonzero(self.column("status") != 0)

    @cached_property
    def is_active(self) -> NDArray[np.bool_]:
        """Which cells are active."""
        active: NDArray[np.bool_] = self.column("status") == 0
        return active

    def column(self, name: str) -> NDArray[Any]:
        """A column of the cells as a read-only array, as of `frames.to_array`; kept, and grown along with the memory."""
        cells: Table = self.__dict__["cells"]
        return cells.columns[name].values if name in cells.columns else cells.column(name)

    def values(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows of a column of the cells."""
        return self.column(name).take(rows)

    @cached_property
    def wiring(self) -> Wiring:
        """The edges as sparse matrices; those of the memory this one grew from, with what is new."""
        before: tuple[Wiring, int] | None = self.__dict__.pop("_wiring", None)
        if before is None:
            return wire(self.__dict__["edges"], self.column("author"))
        return before[0].append(self.table("edges"), before[1], self.column("author"))

    @cached_property
    def index(self) -> Index:
        """Where names and contents are found."""
        return Index(self.__dict__["cells"].rows, self.__dict__["writers"].rows)

    def append(self, cells: LazyRows, edges: LazyRows, writers: LazyRows, own: Sequence[str]) -> Memory:
        """A memory with more rows in each table: those given, under its own; what is derived grows along.

        `own` are the names of the new cells that are not made of their places alone.
        """
        new = {"cells": cells, "edges": edges, "writers": writers}
        tables: dict[str, Table] = {name: self.__dict__[name].append(rows) for name, rows in new.items()}
        after = Memory(**tables, scanned=self.scanned)
        if self.__dict__.keys() & {"wiring", "_wiring"}:
            self._pass_wiring_to(after)
        rows, authors = tables["cells"].rows, tables["writers"].rows
        after.__dict__["index"] = self.index.append(rows, authors, (cells.height, writers.height), own)
        return after

    def _pass_wiring_to(self, after: Memory) -> Memory:
        """Let a memory with more edges start from the wiring of this one, when it needs its own."""
        start = (self.wiring, self.table("edges").height) if "wiring" in self.__dict__ else self.__dict__.get("_wiring")
        if start is not None:
            after.__dict__["_wiring"] = start
        return after

    def scored(self, scores: Mapping[str, NDArray[np.float64]], record: Mapping[str, NDArray[Any]]) -> Memory:
        """The same cells and edges after a tick: the cells' new scores and the writers' new records."""
        cells, edges, writers = (self.__dict__[name] for name in ("cells", "edges", "writers"))
        columns = {name: Column(values) for name, values in scores.items()}
        records = {name: Column(values) for name, values in record.items()}
        after = Memory(
            Table(cells.rows, cells.columns | columns, cells.stale | columns.keys()),
            edges,
            Table(writers.rows, writers.columns | records, writers.stale | records.keys()),
            edges.rows.height,
        )
        after.__dict__.update({name: self.__dict__[name] for name in _DERIVED if name in self.__dict__})
        return after

    def changed(self, rows: NDArray[np.int64], values: Mapping[str, Any]) -> Memory:
        """The same edges over cells of which some rows hold other values: of each column one, or one a row.

        For what moves while names, texts and origins stay: status, successor, version, flags, times and scores.
        """
        if not len(rows):
            return self
        after = Memory(self.table("cells").changed(rows, values), self.table("edges"), self.table("writers"), self.scanned)
        names: tuple[str, ...] = _DERIVED
        if "status" in values:
            after.__dict__["is_active"] = active = self.is_active.copy()
            active[rows] = np.equal(place_of("status", values["status"]), 0)
            names = _STANDING
        return self._keeping(after, *names)

    def with_cells(self, cells: pl.DataFrame) -> Memory:
        """The same edges over cells of the same rows whose status, flags or text changed."""
        return self._keeping(Memory(cells, self.table("edges"), self.table("writers"), self.scanned), *_STANDING)

    def with_edges(self, edges: pl.DataFrame) -> Memory:
        """The same cells with more edges."""
        after = Memory(self.table("cells"), edges, self.table("writers"), self.scanned)
        return self._pass_wiring_to(self._keeping(after, "index"))

    def _keeping(self, other: Memory, *names: str) -> Memory:
        """Hand what was derived from unchanged columns on to the next memory."""
        other.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})
        return other

    def row(self, handle: str, *, rep: int = 0, whole: bool = False) -> int:
        """The row of a cell by its handle or key; `handle@vN` is the Nth version of its chain.

        Unless it is to be the `whole` handle, its beginning or that of its tag will do where one cell alone begins so.
        Raises `AddressError` when nothing is so named, or several cells begin so.
        """
        name, at, version = handle.partition("@v")
        here = (pl.col("handle") == name) | (pl.col("key") == name)
        names = self.cells.select("handle", "key").with_row_index("row")
        own = names.filter(pl.Series(self.cells["rep"].to_numpy() == rep))  # numpy compares with a number of any size
        rows = own.filter(here)["row"]
        if rows.is_empty() and not whole and (longer := beginning_so(name, own["handle"])):
            rows = own.filter(pl.col("handle") == longer)["row"]
        if rows.is_empty():
            near = self.cells.filter(pl.col("handle").str.starts_with(name[:5]))["handle"].head(3).to_list()
            hint = f"near it: {', '.join(near)}" if near else "list the handles with memory.cells['handle']"
            raise AddressError("no such cell", given=handle, where=f"replication {rep}", hint=hint)
        return self._version(int(rows[0]), handle, version) if at else int(rows[0])

    def _version(self, row: int, handle: str, version: str) -> int:
        chain = self.chain(row)
        if not version.isdecimal() or version.startswith("0") or int(version) > len(chain):
            raise AddressError("no such version", given=handle, allowed=f"@v1 to @v{len(chain)}")
        return chain[int(version) - 1]

    def chain(self, row: int) -> list[int]:
        """The rows of a cell's versions, from the chain's first to its live head; of a fork, through `row`."""
        return self._versions.chain(row)

    def head(self, handle: str, *, rep: int = 0) -> str:
        """The handle of the live head of a cell's chain: the version that stands today.

        Where two cells superseded the same one, the better calibrated writer's is the head, then the newer.
        """
        return str(self.cells["handle"][self.chain(self.row(handle, rep=rep))[-1]])

    @cached_property
    def _versions(self) -> Versions:
        factor = self.table("writers").column("calibration")[self.column("author")]
        return Versions.of(self.column("successor"), self.column("version"), self.edges, factor)
