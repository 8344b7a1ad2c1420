"""Memory of claims: typed columns of cells, edges and writers, with cached derived structures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from malsim.base.errors import AddressError
from malsim.memory import schema
from malsim.memory.graph.edge_matrix import Wiring
from malsim.memory.graph.frames import code_of
from malsim.memory.graph.index import Index
from malsim.memory.graph.table import Column, Table
from malsim.memory.graph.texts import handle_with_prefix
from malsim.memory.graph.versions import Versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.frames import LazyRows


@dataclass(slots=True, eq=False)
class Derived:
    """Derived structures of a memory, built on demand and passed on to every later memory for which they remain valid.

    `wiring_before` holds the wiring of a memory with fewer edges, and their number; `view` holds the rules and the view
    that `law_steps.present` last returned; `view_of` is set in such a view and holds its moved rows, the memory behind it
    and the records; `search` is the database that a push searches.
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
    search: Any = None

    def without_status(self) -> Derived:
        """Return the structures that remain valid after cells change their status."""
        return Derived(self.wiring, self.wiring_before, self.index)

    def with_more_edges(self, edges: int) -> Derived:
        """Return the structures that remain valid after edges are added: the wiring of the first `edges`, to be extended."""
        return Derived(wiring_before=(self.wiring, edges) if self.wiring else self.wiring_before)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Memory:
    """Immutable graph of claims. Functions that change a memory return a new one.

    The frames are built on demand: `cells` has one row per cell, in order of admission; `edges` refers to cells by row
    number; `writers` has one row per writer. The column `rep` separates independent replications in one graph.
    `malsim.memory.schema` lists the columns.

    >>> Memory.empty().cells.height
    0
    """

    tables: Mapping[str, Table]
    scanned: int  # number of edges that the last tick read
    derived: Derived

    # `malsim.memory` sets these methods, because this package may not import the packages of stores and pushes.
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
        """Return an empty memory."""
        kinds = (schema.CELLS, schema.EDGES, schema.WRITERS)
        cells, edges, writers = (Table.of(pl.DataFrame(schema=names)) for names in kinds)
        for table, names in zip((cells, edges, writers), kinds, strict=True):
            for name in names:
                table.column(name)
        return cls(cells, edges, writers)

    def __repr__(self) -> str:
        cells, edges, writers = (table.height for table in self.tables.values())
        return f"<Memory: {cells} cells, {edges} edges, {writers} writers>"

    def __reduce__(self) -> tuple[type[Memory], tuple[object, ...]]:
        return Memory, (self.cells, self.edges, self.writers, self.scanned)

    @property
    def cells(self) -> pl.DataFrame:
        """Data frame of the cells (columns of `schema.CELLS`)."""
        return self.tables["cells"].frame

    @property
    def edges(self) -> pl.DataFrame:
        """Data frame of the edges (columns of `schema.EDGES`)."""
        return self.tables["edges"].frame

    @property
    def writers(self) -> pl.DataFrame:
        """Data frame of the writers (columns of `schema.WRITERS`)."""
        return self.tables["writers"].frame

    @property
    def height(self) -> int:
        """Number of cells in the memory."""
        return self.tables["cells"].rows.height

    @property
    def recorded(self) -> Memory:
        """Memory from which the next tick starts. For a view returned by `present`, this is the memory behind the view."""
        if self.derived.view_of is None:
            return self
        before: Memory = self.derived.view_of[1]
        return before

    def table(self, name: str) -> Table:
        """Return the table `cells`, `edges` or `writers`. Its height and columns are available without building a frame."""
        return self.tables[name]

    @property
    def active(self) -> Ints:
        """Row numbers of the active cells."""
        if self.derived.active is None:
            self.derived.active = np.flatnonzero(self.column("status") == 0)
        return self.derived.active

    @property
    def inactive(self) -> Ints:
        """Row numbers of the inactive cells, whose scores a tick does not change."""
        if self.derived.inactive is None:
            self.derived.inactive = np.flatnonzero(self.column("status") != 0)
        return self.derived.inactive

    @property
    def is_active(self) -> Bools:
        """Boolean mask of the active cells."""
        if self.derived.is_active is None:
            self.derived.is_active = self.column("status") == 0
        return self.derived.is_active

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of the cells as a read-only array; see `frames.to_array`."""
        return self.tables["cells"].column(name)

    def values(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values of a column of the cells in the given rows."""
        return self.column(name).take(rows)

    @property
    def wiring(self) -> Wiring:
        """Edges as sparse matrices, built by extending the matrices of the memory from which this one was derived."""
        derived = self.derived
        if derived.wiring is None:
            before, edges, authors = derived.wiring_before, self.tables["edges"], self.column("author")
            derived.wiring = before[0].append(edges, before[1], authors) if before else Wiring.of(edges, authors)
            derived.wiring_before = None
        return derived.wiring

    @property
    def index(self) -> Index:
        """Index that finds cells by name or content."""
        if self.derived.index is None:
            self.derived.index = Index(self.tables["cells"].rows, self.tables["writers"].rows)
        return self.derived.index

    def append(self, cells: LazyRows, edges: LazyRows, writers: LazyRows, names: Sequence[str]) -> Memory:
        """Return the memory with new rows appended to each table and with its derived structures extended.

        `names` are the handles and keys of the new cells, except those generated from an ordinal alone.
        """
        if self.derived.view_of and self.recorded is not self:
            return self.recorded.append(cells, edges, writers, names)
        new = {"cells": cells, "edges": edges, "writers": writers}
        tables = {name: self.tables[name].append(rows) for name, rows in new.items()}
        derived = self.derived.with_more_edges(self.tables["edges"].height)
        rows, authors = tables["cells"].rows, tables["writers"].rows
        derived.index = self.index.append(rows, authors, (cells.height, writers.height), names)
        return Memory(**tables, scanned=self.scanned, derived=derived)

    def scored(self, scores: Mapping[str, NDArray[np.float64]], record: Mapping[str, NDArray[Any]]) -> Memory:
        """Return the memory after a tick, with new scores of the cells and new records of the writers."""
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
        """Return the memory with new values in the given rows of the cells. A column gets one value, or one value per row.

        Only for columns other than names, texts and origins: status, successor, version, flags, times and scores.
        """
        if not len(rows):
            return self
        if self.derived.view_of and self.recorded is not self:
            return self.recorded.changed(rows, values)
        if "status" in values:
            values = {**values, "worth": np.nan}  # unknown until a tick has read the cells with their new status
        cells, edges, writers = self.tables.values()
        derived = self.derived.without_status()
        if "status" not in values:
            derived = replace(derived, is_active=self.is_active, active=self.derived.active, inactive=self.derived.inactive)
        else:
            derived.is_active = active = self.is_active.copy()
            active[rows] = np.equal(code_of("status", values["status"]), 0)
        return Memory(cells.changed(rows, values), edges, writers, self.scanned, derived)

    def with_cells(self, cells: pl.DataFrame) -> Memory:
        """Return the memory with a new frame of cells, whose names, titles, bodies and writers must be unchanged."""
        return Memory(cells, self.tables["edges"], self.tables["writers"], self.scanned, self.derived.without_status())

    def with_texts(self, cells: pl.DataFrame) -> Memory:
        """Return the memory with a new frame of cells, in which any column may differ, including titles and bodies."""
        return Memory(cells, self.tables["edges"], self.tables["writers"], self.scanned)

    def with_edges(self, edges: pl.DataFrame) -> Memory:
        """Return the memory with the given edges, which must be the existing edges followed by the new ones."""
        if self.derived.view_of and self.recorded is not self:
            return self.recorded.with_edges(edges)
        derived = self.derived.with_more_edges(self.tables["edges"].height)
        derived.index = self.derived.index
        return Memory(self.tables["cells"], edges, self.tables["writers"], self.scanned, derived)

    def row(self, handle: str, *, rep: int = 0, whole: bool = False) -> int:
        """Return the row number of the cell with this handle or key. `handle@vN` means version N in the cell's chain.

        Unless `whole` is set, an unambiguous prefix of the handle or of its tag is enough. Raises `AddressError` if no cell
        or several cells match.
        """
        name, at, version = handle.partition("@v")
        names = self.cells.select("handle", "key").with_row_index("row")
        # The comparison uses numpy, which, unlike polars, accepts integers of any size.
        names = names.filter(pl.Series(self.cells["rep"].to_numpy() == rep))
        rows = names.filter((pl.col("handle") == name) | (pl.col("key") == name))["row"]
        if rows.is_empty() and not whole and (longer := handle_with_prefix(name, names["handle"])):
            rows = names.filter(pl.col("handle") == longer)["row"]
        if rows.is_empty():
            near = names.filter(pl.col("handle").str.starts_with(name[:5]))["handle"].head(3).to_list()
            hint = f"did you mean {', '.join(near)}?" if near else "run `malsim look FILE --query WORDS` to find its handle"
            raise AddressError("no such cell", given=handle, where=f"replication {rep}" if rep else None, hint=hint)
        if not at:
            return int(rows[0])
        chain = self.chain(int(rows[0]))
        if not version.isdecimal() or version.startswith("0") or int(version) > len(chain):
            raise AddressError("no such version", given=handle, allowed=f"@v1 to @v{len(chain)}")
        return chain[int(version) - 1]

    def chain(self, row: int) -> list[int]:
        """Return the rows of a cell's versions, from the first version to the live head, along the branch through `row`."""
        if self.derived.versions is None:
            factor = self.tables["writers"].column("calibration")[self.column("author")]
            self.derived.versions = Versions.of(self.column("successor"), self.column("version"), self.edges, factor)
        return self.derived.versions.chain(row)

    def head(self, handle: str, *, rep: int = 0) -> str:
        """Return the handle of the live head of a cell's version chain.

        If two cells superseded the same cell, the head is that of the better calibrated writer, then the newer cell.
        """
        return str(self.cells["handle"][self.chain(self.row(handle, rep=rep))[-1]])
