"""The memory: cells, edges and writers as frames, with what is derived from them kept while it holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.errors import AddressError
from malsim.memory import schema
from malsim.memory.columns import Column, counted, place_of
from malsim.memory.index import Index, Roster
from malsim.memory.outcomes import Outcomes
from malsim.memory.table import Table, TableField
from malsim.memory.versions import Versions
from malsim.memory.wiring import Wiring, wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from malsim.memory.deferred import Deferred
    from malsim.memory.expand import Expanded
    from malsim.memory.push import Push

__all__ = ["Memory"]

_STANDING = ("wiring", "_wiring", "index", "roster", "held", "claims")
_LIVING = ("living", "_living")
_KEPT = (*_STANDING, *_LIVING, "_outcomes", "_contradicted", "active", "is_active")


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

    @classmethod
    def empty(cls) -> Memory:
        """A memory that holds nothing yet."""
        return cls(pl.DataFrame(schema=schema.CELLS), pl.DataFrame(schema=schema.EDGES), pl.DataFrame(schema=schema.WRITERS))

    @classmethod
    def open(cls, path: str | Path, *, at: float | None = None) -> Memory:
        """The memory in a store's file, as it stands or as it stood on day `at`; the file is only read.

        Raises `StoreError` where there is no such store.
        """
        from malsim.memory.store import Store

        with Store(path, write=False) as store:
            return store.memory if at is None else store.at(at)

    def save(self, path: str | Path, *, t: float | None = None) -> None:
        """Make a store's file hold this memory, as of day `t`: one transaction; see `store.Store.save`."""
        from malsim.memory.store import Store

        with Store(path) as store:
            store.save(self, t=t)

    def mini_index(self, query: str = "", **options: Any) -> Push:
        """The lines that a reader is pushed about a query; options as of `push.mini_index`."""
        from malsim.memory.push import mini_index

        return mini_index(self, query, **options)

    def expand(self, handle: str, **options: Any) -> Expanded:
        """One cell, opened; options as of `expand.expand`."""
        from malsim.memory.expand import expand

        return expand(self, handle, **options)

    def __repr__(self) -> str:
        """Say how much it holds."""
        return f"<Memory: {self.height} cells, {self.table('edges').height} edges, {self.table('writers').height} writers>"

    def __reduce__(self) -> tuple[type[Memory], tuple[object, ...]]:
        """Copy and pickle what it holds, not what is derived from that."""
        return Memory, (self.cells, self.edges, self.writers, self.scanned)

    @property
    def height(self) -> int:
        """How many cells there are."""
        return self.table("cells").height

    def table(self, name: str) -> Table:
        """The `cells`, `edges` or `writers` as a table: height, columns and latest rows are at hand without a frame."""
        table: Table = self.__dict__[name]
        return table

    @cached_property
    def active(self) -> NDArray[np.int64]:
        """The rows of the active cells."""
        return np.flatnonzero(self.is_active)

    @cached_property
    def is_active(self) -> NDArray[np.bool_]:
        """Which cells are active."""
        active: NDArray[np.bool_] = self.column("status") == 0
        return active

    def column(self, name: str) -> NDArray[Any]:
        """A column of the cells as a read-only array, as of `columns.bare`; kept, and grown along with the memory."""
        return self.table("cells").column(name)

    def values(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows of a column of the cells; what they are worth now is computed for no other row."""
        return self.table("cells").kept(name).at(rows)

    @cached_property
    def wiring(self) -> Wiring:
        """The edges as sparse matrices; those of the memory this one grew from, with what is new."""
        return self._extended("_wiring") or wire(self.edges, self.height)

    @cached_property
    def living(self) -> Wiring:
        """The `wiring` without most edges of cells that are not active: in a long run, that is most of them.

        The masses of active cells from active sources, and the accusations by active cells, are those of all edges.
        """
        if len(self.active) == self.height:
            return self.wiring
        return (self._extended("_living") or self.wiring).weeded(self.is_active)

    def _extended(self, name: str) -> Wiring | None:
        """The wiring that the memory this one grew from kept under a name, with the edges that are new."""
        before: tuple[Wiring, int] | None = self.__dict__.pop(name, None)
        return before and before[0].grown(self.table("edges"), before[1], self.height)

    @cached_property
    def index(self) -> Index:
        """Where names and contents are found."""
        return Index(self.table("cells").rows)

    @cached_property
    def held(self) -> NDArray[np.int64]:
        """How many cells each replication holds, from 0 to the last that holds any."""
        return np.bincount(self.column("rep"))

    @cached_property
    def claims(self) -> NDArray[np.int64]:
        """How many cells each writer wrote."""
        return np.bincount(self.column("author"), minlength=self.table("writers").height)

    def grown(self, cells: Deferred, edges: Deferred, writers: Deferred, own: Sequence[str]) -> Memory:
        """A memory with more rows in each table: those given, under its own; what is derived grows along.

        `own` are the names of the new cells that are not made of their places alone.
        """
        after = Memory(
            self.table("cells").grown(cells),
            self.table("edges").grown(edges),
            self.table("writers").grown(writers),
            self.scanned,
        )
        self._wired_into(after)
        after.__dict__["index"] = self.index.grown(after.table("cells").rows, cells, own)
        after.__dict__["roster"] = self.roster.grown(after.table("writers").rows, writers)
        after.__dict__["_outcomes"] = {form: held.grown(cells.height) for form, held in self._outcomes.items()}
        after.__dict__["is_active"] = np.concatenate([self.is_active, cells.column("status") == 0])
        after.__dict__["held"] = counted(self.held, cells.column("rep"))
        after.__dict__["claims"] = counted(self.claims, cells.column("author"))
        return after

    def _wired_into(self, after: Memory) -> Memory:
        """Let a memory with more edges start from the wiring of this one, when it needs its own."""
        after.__dict__["_outcomes"] = dict(self._outcomes)
        for name in ("wiring", "living"):
            if name in self.__dict__:
                after.__dict__[f"_{name}"] = (self.__dict__[name], self.table("edges").height)
        return self._keeping(after, *({"_wiring", "_living"} - after.__dict__.keys()))

    @cached_property
    def roster(self) -> Roster:
        """Where writers are found."""
        return Roster(self.writers)

    @cached_property
    def _outcomes(self) -> dict[str, Outcomes]:
        return {}

    @cached_property
    def _contradicted(self) -> dict[str, NDArray[np.bool_]]:
        return {}

    def _outcomes_of(self, evidence_from: str) -> Outcomes:
        held = self._outcomes.get(evidence_from) or Outcomes.of(self, evidence_from)
        self._outcomes[evidence_from] = found = held.seen(self)
        return found

    def accusations(self, evidence_from: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows (accuser, accused) of the `contradicts` edges that may count against a writer's record."""
        outcomes = self._outcomes_of(evidence_from)
        return outcomes.accuser.values, outcomes.accused.values

    def replaced(self, evidence_from: str) -> NDArray[np.bool_]:
        """Which cells were superseded by a cell that may count against a writer's record."""
        return self._outcomes_of(evidence_from).replaced.values

    def contradicted(self, evidence_from: str) -> NDArray[np.bool_]:
        """Which cells were superseded or have an active accuser, of those that may count against a writer's record."""
        if evidence_from not in self._contradicted:
            self._contradicted[evidence_from] = self._outcomes_of(evidence_from).contradicted(self.is_active)
        return self._contradicted[evidence_from]

    def with_scores(
        self,
        columns: Mapping[str, Column],
        *,
        claims: NDArray[np.int64],
        contradicted: NDArray[np.int64],
        factor: NDArray[np.float64],
    ) -> Memory:
        """The same cells and edges with new scores and new writers' records."""
        cells = self.table("cells").moved(columns)
        records = {"claims": claims, "contradicted": contradicted, "calibration": factor}
        writers = self.table("writers").moved({name: Column(held) for name, held in records.items()})
        return self._keeping(Memory(cells, self.table("edges"), writers, self.table("edges").height), *_KEPT)

    def changed(self, rows: NDArray[np.int64], values: Mapping[str, Any]) -> Memory:
        """The same edges over cells of which some rows hold other values: of each column one, or one a row.

        For what moves while names, texts and origins stay: status, successor, version, flags, times and scores.
        """
        if not len(rows):
            return self
        after = Memory(self.table("cells").changed(rows, values), self.table("edges"), self.table("writers"), self.scanned)
        kept: tuple[str, ...] = (*_STANDING, *_LIVING, "active", "is_active")
        if "status" in values:
            after.__dict__["is_active"] = active = self.is_active.copy()
            active[rows] = np.equal(place_of("status", values["status"]), 0)
            kept = _STANDING if active[rows].any() else (*_STANDING, *_LIVING)
        moved, outcomes = "successor" in values, self._outcomes.items()
        after.__dict__["_outcomes"] = {form: held.changed(after, rows) if moved else held for form, held in outcomes}
        return self._keeping(after, *kept)

    def with_cells(self, cells: pl.DataFrame) -> Memory:
        """The same edges over cells of the same rows whose status, flags or text changed."""
        return self._keeping(Memory(cells, self.table("edges"), self.table("writers"), self.scanned), *_STANDING)

    def with_edges(self, edges: pl.DataFrame) -> Memory:
        """The same cells with more edges."""
        after = Memory(self.table("cells"), edges, self.table("writers"), self.scanned)
        return self._wired_into(self._keeping(after, "index", "roster", "held", "claims"))

    def _keeping(self, other: Memory, *names: str) -> Memory:
        """Hand what was derived from unchanged columns on to the next memory."""
        other.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})
        return other

    def row(self, handle: str, *, rep: int = 0) -> int:
        """The row of a cell by its handle or key; `handle@vN` is the Nth version of its chain.

        Raises `AddressError` when nothing is so named.
        """
        name, at, version = handle.partition("@v")
        here = (pl.col("handle") == name) | (pl.col("key") == name)
        rows = self.cells.with_row_index("row").filter(here & (pl.col("rep") == rep))["row"]
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
        return Versions.of(self)
