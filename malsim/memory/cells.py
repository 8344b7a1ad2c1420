"""The memory: cells, edges and writers as frames, with what is derived from them kept while it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from malsim.errors import AddressError
from malsim.memory import schema
from malsim.memory.columns import Column, bare, counted
from malsim.memory.frames import joined, places, with_columns
from malsim.memory.index import NONE, Index, Roster
from malsim.memory.versions import Versions
from malsim.memory.wiring import Wiring, wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from malsim.memory.expand import Expanded
    from malsim.memory.push import Push

__all__ = ["Memory"]

_STANDING = ("wiring", "_wired", "index", "roster", "held", "claims")
_KEPT = (*_STANDING, "_accusations", "_replaced", "_contradicted")


class _Accusations(NamedTuple):
    accuser: Column
    accused: Column
    judged: int  # so many of the wiring's


_NOBODY = Column(np.zeros(0, dtype=np.int64))
_UNJUDGED = _Accusations(_NOBODY, _NOBODY, judged=0)


@dataclass(frozen=True, eq=False)
class Memory:
    """A graph of claims as three frames; every function returns a new one and leaves the old as it was.

    `cells` has one row a cell, in the order of admission; `edges` names cells by their row; `writers` has one row a
    writer. The column `rep` keeps independent replications apart in one graph. Columns: `malsim.memory.schema`.

    >>> Memory.empty().cells.height
    0
    """

    cells: pl.DataFrame
    edges: pl.DataFrame
    writers: pl.DataFrame
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
        return f"<Memory: {self.cells.height} cells, {self.edges.height} edges, {self.writers.height} writers>"

    @cached_property
    def wiring(self) -> Wiring:
        """The edges as sparse matrices; those of the memory this one grew from, with what is new."""
        before: tuple[Wiring, int] | None = self.__dict__.pop("_wired", None)
        if before is None:
            return wire(self.edges, self.cells.height)
        wiring, known = before
        return wiring.grown(self.edges.slice(known), self.cells.height)

    @cached_property
    def index(self) -> Index:
        """Where names and contents are found."""
        return Index(self.cells)

    def column(self, name: str) -> NDArray[Any]:
        """A column of the cells as a read-only array, as of `columns.bare`; kept, and grown along with the memory."""
        if name not in self._columns:
            self._columns[name] = Column(bare(self.cells[name]))
        return self._columns[name].values

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {}

    @cached_property
    def held(self) -> NDArray[np.int64]:
        """How many cells each replication holds, from 0 to the last that holds any."""
        return np.bincount(self.column("rep"))

    @cached_property
    def claims(self) -> NDArray[np.int64]:
        """How many cells each writer wrote."""
        return np.bincount(self.column("author"), minlength=self.writers.height)

    def grown(self, cells: pl.DataFrame, edges: pl.DataFrame, writers: pl.DataFrame, own: Sequence[str]) -> Memory:
        """A memory with more rows in each frame: those given, under its own; what is derived grows along.

        `own` are the names of the new cells that are not made of their places alone.
        """
        after = Memory(joined(self.cells, cells), joined(self.edges, edges), joined(self.writers, writers), self.scanned)
        self._wired_into(after)
        after.__dict__["index"] = self.index.grown(after.cells, cells, own)
        after.__dict__["roster"] = self.roster.grown(after.writers, self.writers.height)
        after.__dict__["_columns"] = {name: held.grown(bare(cells[name])) for name, held in self._columns.items()}
        after.__dict__["_replaced"] = {form: held.grown(np.zeros(len(cells), bool)) for form, held in self._replaced.items()}
        after.__dict__["held"] = counted(self.held, bare(cells["rep"]))
        after.__dict__["claims"] = counted(self.claims, bare(cells["author"]))
        return after

    def _wired_into(self, after: Memory) -> Memory:
        """Let a memory with more edges start from the wiring of this one, when it needs its own."""
        after.__dict__["_accusations"] = dict(self._accusations)
        if "wiring" in self.__dict__:
            after.__dict__["_wired"] = (self.wiring, self.edges.height)
        elif "_wired" in self.__dict__:
            after.__dict__["_wired"] = self.__dict__["_wired"]
        return after

    @cached_property
    def roster(self) -> Roster:
        """Where writers are found."""
        return Roster(self.writers)

    @cached_property
    def _accusations(self) -> dict[str, _Accusations]:
        return {}

    @cached_property
    def _replaced(self) -> dict[str, Column]:
        return {}

    @cached_property
    def _contradicted(self) -> dict[str, NDArray[np.bool_]]:
        return {}

    def accusations(self, evidence_from: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows (accuser, accused) of the `contradicts` edges that may count against a writer's record."""
        accuser, accused = self.wiring.accuser, self.wiring.accused
        found = self._accusations.get(evidence_from, _UNJUDGED)
        if found.judged < len(accuser):
            new = slice(found.judged, None)
            keep = self._may_judge(accuser[new], accused[new], evidence_from)
            pair = found.accuser.grown(accuser[new][keep]), found.accused.grown(accused[new][keep])
            found = self._accusations[evidence_from] = _Accusations(*pair, len(accuser))
        return found.accuser.values, found.accused.values

    def replaced(self, evidence_from: str) -> NDArray[np.bool_]:
        """Which cells were superseded by a cell that may count against a writer's record."""
        if evidence_from not in self._replaced:
            successor = self.column("successor")
            old = np.flatnonzero(successor != NONE)
            wrong = np.zeros(len(successor), dtype=bool)
            wrong[old[self._may_judge(successor[old], old, evidence_from)]] = True
            self._replaced[evidence_from] = Column(wrong)
        return self._replaced[evidence_from].values

    def contradicted(self, evidence_from: str) -> NDArray[np.bool_]:
        """Which cells were superseded or have an active accuser, of those that may count against a writer's record."""
        if evidence_from not in self._contradicted:
            active = self.column("status") == 0
            accuser, accused = self.accusations(evidence_from)
            wrong = self.replaced(evidence_from).copy()
            wrong[accused[active[accuser]]] = True
            self._contradicted[evidence_from] = wrong
        return self._contradicted[evidence_from]

    def _may_judge(self, judge: NDArray[np.int64], judged: NDArray[np.int64], evidence_from: str) -> NDArray[np.bool_]:
        if evidence_from == "any":
            return np.ones(len(judge), dtype=bool)
        author = self.column("author")
        other: NDArray[np.bool_] = author[judge] != author[judged]
        if evidence_from == "external":
            outside = (self.cells["verification"] == "external") | (self.cells["origin"] == "external")
            other &= outside.to_numpy()[judge]
        return other

    def with_scores(
        self,
        columns: Mapping[str, NDArray[np.float64]],
        *,
        claims: NDArray[np.int64],
        contradicted: NDArray[np.int64],
        factor: NDArray[np.float64],
    ) -> Memory:
        """The same cells and edges with new scores and new writers' records."""
        cells = with_columns(self.cells, columns)
        writers = with_columns(self.writers, {"claims": claims, "contradicted": contradicted, "calibration": factor})
        after = self._keeping(Memory(cells, self.edges, writers, self.edges.height), *_KEPT)
        after.__dict__["_columns"] = self._columns | {name: Column(held) for name, held in columns.items()}
        return after

    def changed(self, rows: NDArray[np.int64], values: Mapping[str, Any]) -> Memory:
        """The same edges over cells of which some rows hold other values: of each column one, or one a row.

        For what moves while names, texts and origins stay: status, successor, version, times and scores.
        """
        if not len(rows):
            return self
        cells = {name: self.cells[name].scatter(rows, value) for name, value in values.items()}
        after = self._keeping(replace(self, cells=with_columns(self.cells, cells)), *_STANDING, "_accusations", "_replaced")
        written = {name: bare(cells[name][places(rows)]) for name in self._columns.keys() & values.keys()}
        after.__dict__["_columns"] = self._columns | {
            name: self._columns[name].changed(rows, value) for name, value in written.items()
        }
        if "successor" in values:
            heirs = after.column("successor")[rows]
            after.__dict__["_replaced"] = {
                form: held.changed(rows, (heirs != NONE) & self._may_judge(heirs, rows, form))
                for form, held in self._replaced.items()
            }
        return after

    def with_cells(self, cells: pl.DataFrame) -> Memory:
        """The same edges over cells of the same rows whose status, flags or text changed."""
        return self._keeping(replace(self, cells=cells), *_STANDING)

    def with_edges(self, edges: pl.DataFrame) -> Memory:
        """The same cells with more edges."""
        return self._wired_into(self._keeping(replace(self, edges=edges), "index", "roster", "held", "_columns"))

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
