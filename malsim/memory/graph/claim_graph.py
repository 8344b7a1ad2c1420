"""The memory: typed columns of cells, edges and writers, with cached derived structures."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from malsim.memory.graph.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.frames import LazyRows


@dataclass(slots=True, eq=False)
class Derived:
    """Derived structures of a memory, each built on demand and passed on to memories for which it still holds.

    `wiring_before` is the wiring of a memory with fewer edges and how many these were; `view` the law's rules and what
    `law_steps.present` makes of them, `view_of` the parts of such a view; `shelf` the tables that a push searches.
    """

    wiring: Wiring | None = None
    wiring_before: tuple[Wiring, int] | None = None
    index: Index | None = None
    is_active: Bools | None = None
    active: Ints | None = None
    inactive: Ints | None = None
    versions: Versions | None = None
    view: tuple[Any, Callable[[], Memory | None]] | None = None
    view_of: tuple[Any, ...] | None = None
    shelf: Any = None

    def standing(self) -> Derived:
        """Return the parts that hold where statuses changed, but neither edges nor names."""
        return Derived(self.wiring, self.wiring_before, self.index)

    def with_more_edges(self, edges: int) -> Derived:
        """Return the parts for a memory with more than so many edges, which starts from the wiring of these."""
        before = (self.wiring, edges) if self.wiring else self.wiring_before
        return Derived(wiring_before=before)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Memory:
    """A graph of claims; every function returns a new one and leaves the old as it was.

    `cells` has one row a cell, in the order of admission; `edges` names cells by their row; `writers` has one row a
    writer: frames, made of the columns when somebody asks. The column `rep` keeps independent replications apart in one
    graph. Columns: `malsim.memory.schema`.

    >>> Memory.empty().cells.height
    0
    """

    tables: Mapping[str, Table]
    scanned: int  # the edges that the last tick saw
    derived: Derived

    # What reads files and pushes lines stands above the graph: `malsim.memory` sets these.
    open: ClassVar[Callable[..., Memory]]
    from_frames: ClassVar[Callable[..., Memory]]
    save: ClassVar[Callable[..., None]]
    mini_index: ClassVar[Callable[..., Any]]
    expand: ClassVar[Callable[..., Any]]

    def __init__(
        self, cells: pl.DataFrame | Table, edges: pl.DataFrame | Table, writers: pl.DataFrame | Table, scanned: int = 0,
        derived: Derived | None = None,
    ) -> None:  # fmt: skip
        parts = {"cells": cells, "edges": edges, "writers": writers}
        tables = {name: part if isinstance(part, Table) else Table.of(part) for name, part in parts.items()}
        for name, value in (("tables", tables), ("scanned", scanned), ("derived", derived or Derived())):
            object.__setattr__(self, name, value)

    @classmethod
    def empty(cls) -> Memory:
        """Return a memory that holds nothing yet."""
        cells, edges, writers = map(_blank, (schema.CELLS, schema.EDGES, schema.WRITERS))
        return cls(cells, edges, writers)

    def __repr__(self) -> str:
        cells, edges, writers = (table.height for table in self.tables.values())
        return f"<Memory: {cells} cells, {edges} edges, {writers} writers>"

    def __reduce__(self) -> tuple[type[Memory], tuple[object, ...]]:
        return Memory, (self.cells, self.edges, self.writers, self.scanned)

    @property
    def cells(self) -> pl.DataFrame:
        """Cells as a frame (columns of `schema.CELLS`)."""
        return self.tables["cells"].frame

    @property
    def edges(self) -> pl.DataFrame:
        """Edges as a frame (columns of `schema.EDGES`)."""
        return self.tables["edges"].frame

    @property
    def writers(self) -> pl.DataFrame:
        """Writers as a frame (columns of `schema.WRITERS`)."""
        return self.tables["writers"].frame

    @property
    def height(self) -> int:
        """Number of cells."""
        return self.tables["cells"].rows.height

    @property
    def recorded(self) -> Memory:
        """The stored memory from which the next tick starts, behind a view that `present` returned."""
        if self.derived.view_of is None:
            return self
        before: Memory = self.derived.view_of[1]
        return before

    def table(self, name: str) -> Table:
        """Return the `cells`, `edges` or `writers` as a table: height and columns are at hand without a frame."""
        return self.tables[name]

    @property
    def active(self) -> Ints:
        """Rows of the active cells."""
        if self.derived.active is None:
            self.derived.active = np.flatnonzero(self.column("status") == 0)
        return self.derived.active

    @property
    def inactive(self) -> Ints:
        """Rows of the inactive cells, which keep their scores."""
        if self.derived.inactive is None:
            self.derived.inactive = np.flatnonzero(self.column("status") != 0)
        return self.derived.inactive

    @property
    def is_active(self) -> Bools:
        """Mask of the active cells."""
        if self.derived.is_active is None:
            self.derived.is_active = self.column("status") == 0
        return self.derived.is_active

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of the cells as a read-only array, as of `frames.to_array`."""
        return self.tables["cells"].column(name)

    def values(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows of a column of the cells."""
        return self.column(name).take(rows)

    @property
    def wiring(self) -> Wiring:
        """Edges as sparse matrices, extended from those of the memory this one grew from."""
        derived = self.derived
        if derived.wiring is None:
            before, edges, authors = derived.wiring_before, self.tables["edges"], self.column("author")
            derived.wiring = before[0].append(edges, before[1], authors) if before else wire(edges, authors)
            derived.wiring_before = None
        return derived.wiring

    @property
    def index(self) -> Index:
        """Index of cells by name and content."""
        if self.derived.index is None:
            self.derived.index = Index(self.tables["cells"].rows, self.tables["writers"].rows)
        return self.derived.index

    def append(self, cells: LazyRows, edges: LazyRows, writers: LazyRows, own: Sequence[str]) -> Memory:
        """Return a memory with more rows in each table, under its own; what is derived grows along.

        `own` are the names of the new cells that are not made of their places alone.
        """
        if self.derived.view_of and self.recorded is not self:
            return self.recorded.append(cells, edges, writers, own)
        new = {"cells": cells, "edges": edges, "writers": writers}
        tables = {name: self.tables[name].append(rows) for name, rows in new.items()}
        derived = self.derived.with_more_edges(self.tables["edges"].height)
        rows, authors = tables["cells"].rows, tables["writers"].rows
        derived.index = self.index.append(rows, authors, (cells.height, writers.height), own)
        return Memory(**tables, scanned=self.scanned, derived=derived)

    def scored(self, scores: Mapping[str, NDArray[np.float64]], record: Mapping[str, NDArray[Any]]) -> Memory:
        """Return the memory after a tick, with new scores of cells and new records of writers."""
        parts, (cells, edges, writers) = self.derived, self.tables.values()
        columns = {name: Column(values) for name, values in scores.items()}
        records = {name: Column(values) for name, values in record.items()}
        return Memory(
            Table(cells.rows, cells.columns | columns, cells.stale | columns.keys()),
            edges,
            Table(writers.rows, writers.columns | records, writers.stale | records.keys()),
            edges.rows.height,
            Derived(parts.wiring, parts.wiring_before, parts.index, parts.is_active, parts.active, parts.inactive),
        )

    def changed(self, rows: NDArray[np.int64], values: Mapping[str, Any]) -> Memory:
        """Return the same edges over cells of which some rows hold other values: of each column one, or one a row.

        For what moves while names, texts and origins stay: status, successor, version, flags, times and scores.
        """
        if not len(rows):
            return self
        if self.derived.view_of and self.recorded is not self:
            return self.recorded.changed(rows, values)
        if "status" in values:
            values = {**values, "worth": np.nan}  # no tick has seen them as they stand
        cells, edges, writers = self.tables.values()
        derived = self.derived.standing()
        if "status" not in values:
            derived = replace(derived, is_active=self.is_active, active=self.derived.active, inactive=self.derived.inactive)
        else:
            derived.is_active = active = self.is_active.copy()
            active[rows] = np.equal(place_of("status", values["status"]), 0)
        return Memory(cells.changed(rows, values), edges, writers, self.scanned, derived)

    def with_cells(self, cells: pl.DataFrame) -> Memory:
        """Return the same edges over cells of the same rows whose status, flags or text changed."""
        return Memory(cells, self.tables["edges"], self.tables["writers"], self.scanned, self.derived.standing())

    def with_texts(self, cells: pl.DataFrame) -> Memory:
        """Return the same edges over cells of the same rows, of which some are restated by other words now."""
        return Memory(cells, self.tables["edges"], self.tables["writers"], self.scanned)

    def with_edges(self, edges: pl.DataFrame) -> Memory:
        """Return the same cells with more edges."""
        if self.derived.view_of and self.recorded is not self:
            return self.recorded.with_edges(edges)
        derived = self.derived.with_more_edges(self.tables["edges"].height)
        derived.index = self.derived.index
        return Memory(self.tables["cells"], edges, self.tables["writers"], self.scanned, derived)

    def row(self, handle: str, *, rep: int = 0, whole: bool = False) -> int:
        """Return the row of a cell by its handle or key; `handle@vN` is the Nth version of its chain.

        Unless `whole` is set, an unambiguous beginning of the handle or of its tag is enough. Raises `AddressError` if no
        cell or several cells match.
        """
        name, at, version = handle.partition("@v")
        here = (pl.col("handle") == name) | (pl.col("key") == name)
        names = self.cells.select("handle", "key").with_row_index("row")
        own = names.filter(pl.Series(self.cells["rep"].to_numpy() == rep))  # numpy compares with a number of any size
        rows = own.filter(here)["row"]
        if rows.is_empty() and not whole and (longer := beginning_so(name, own["handle"])):
            rows = own.filter(pl.col("handle") == longer)["row"]
        if rows.is_empty():
            near = own.filter(pl.col("handle").str.starts_with(name[:5]))["handle"].head(3).to_list()
            hint = f"near it: {', '.join(near)}" if near else "find its handle with a push about its words"
            raise AddressError("no such cell", given=handle, where=f"replication {rep}", hint=hint)
        return self._version(int(rows[0]), handle, version) if at else int(rows[0])

    def _version(self, row: int, handle: str, version: str) -> int:
        chain = self.chain(row)
        if not version.isdecimal() or version.startswith("0") or int(version) > len(chain):
            raise AddressError("no such version", given=handle, allowed=f"@v1 to @v{len(chain)}")
        return chain[int(version) - 1]

    def chain(self, row: int) -> list[int]:
        """Return the rows of a cell's versions from the first to the live head; in a fork, through `row`."""
        return self._versions.chain(row)

    def head(self, handle: str, *, rep: int = 0) -> str:
        """Return the handle of the live head of a cell's chain.

        Where two cells superseded the same one, the better calibrated writer's is the head, then the newer.
        """
        return str(self.cells["handle"][self.chain(self.row(handle, rep=rep))[-1]])

    @property
    def _versions(self) -> Versions:
        if self.derived.versions is None:
            factor = self.tables["writers"].column("calibration")[self.column("author")]
            self.derived.versions = Versions.of(self.column("successor"), self.column("version"), self.edges, factor)
        return self.derived.versions


def _blank(kinds: Mapping[str, pl.DataType | type[pl.DataType]]) -> Table:
    table = Table.of(pl.DataFrame(schema=kinds))
    for name in kinds:
        table.column(name)
    return table
