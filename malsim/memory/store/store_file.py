"""Store file, which is read in its current state or that of a past day, and written in transactions."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import polars as pl

from malsim.base.errors import StoreError, UsageError
from malsim.base.finite import finite
from malsim.memory.gate.edit import check_author
from malsim.memory.law_steps import present
from malsim.memory.store.partial_load import rows_meant
from malsim.memory.tables import history, read, stored_wires
from malsim.memory.tables.connect import blank, connect, is_made, refusing, sound, transaction
from malsim.memory.tables.layout import is_date
from malsim.memory.tables.read import StorePart, part_of
from malsim.memory.tables.scores import read_scores
from malsim.memory.tables.write import extends, latest_day, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from malsim.memory.graph.arrays import Array
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules
    from malsim.memory.tables.scores import Clock
    from malsim.memory.tables.stored_wires import Standing

_Result = TypeVar("_Result")
FEW_CELLS = 500  # up to this number of cells, the whole cached memory is used instead of a part
FEW_TEXTS = 10_000  # up to this number of cells, text columns are loaded together with the numeric ones


class StoreFile:
    """Open file of a store, to be used in a `with` block.

    Every change is one transaction: it is on disk when the call returns, or the file is unchanged. A process that is killed
    loses no change whose call had returned. If two processes write, the second waits up to `wait` seconds and continues
    from what the first wrote.

    Parameters
    ----------
    path
        The file; created if it is missing, unless `write` is False. None: a store in working memory, lost on closing.
    write
        False to only read.
    wait
        Seconds to wait for another process.

    Raises
    ------
    StoreError
        For a file that is not a store, of a newer version, damaged or truncated (none is touched), or busy for too long.
    """

    def __init__(self, path: str | Path | None, *, write: bool = True, wait: float = 5.0) -> None:
        self.path, self.write = Path(path or ":memory:"), write
        self.connection: sqlite3.Connection = blank() if path is None else connect(self.path, write=write, wait=wait)
        # SQLite data version of the file, and the memory stored in that version.
        self._cache: tuple[int, Memory] | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        self.connection.close()

    @property
    def memory(self) -> Memory:
        """Memory as a reader sees it now under the default rules; see `current`."""
        return self.current()

    def current(self, rules: Rules | None = None) -> Memory:
        """Return the memory as a reader sees it now. A tick of this memory still starts from the stored scores.

        See `law_steps.present`.
        """
        return present(self.recorded, rules).memory

    @property
    def recorded(self) -> Memory:
        """Memory as stored: the scores of the last tick, and the claims admitted since then."""
        with self._reading() as file, sound(self.path):
            version = self._version()
            if self._cache is None or self._cache[0] != version:
                self._cache = (version, read.present(file))
            return self._cache[1]

    def _query(self, query: Callable[[sqlite3.Connection], _Result]) -> _Result:
        with self._reading() as file, sound(self.path):
            return query(file)

    @property
    def height(self) -> int:
        """Number of cells in the store."""
        return self._query(lambda file: read.height(file, "cells"))

    @property
    def effective(self) -> Array:
        """Stored effective confidence of every cell, NaN if unknown."""
        return self._query(lambda file: read_scores(file, read.height(file, "cells"), names=("effective",))["effective"])

    def handle(self, row: int) -> str:
        """Return the handle of the cell in row `row`."""
        with self._reading() as file:
            return str(file.execute('SELECT handle FROM cells WHERE "row" = ?', (row,)).fetchone()[0])

    @property
    def day(self) -> float | None:
        """Day of the last write, or None before the first write."""
        return self._query(read.last_day)

    @property
    def start(self) -> str | None:
        """Calendar date of day 0, or None if it is not set."""
        return self._query(read.start)

    @property
    def ticks(self) -> pl.DataFrame:
        """History of all writes to the store, one row per write."""
        return self._query(read.ticks)

    @property
    def verdicts(self) -> pl.DataFrame:
        """History of all verdicts, including those on refused claims."""
        return self._query(read.verdicts)

    @property
    def events(self) -> pl.DataFrame:
        """Events of programs and wires at ticks, with columns t, rep, kind, subject, detail and cause."""
        return self._query(stored_wires.events)

    @property
    def standing(self) -> Standing:
        """Stored netlist with its state, and the lines that it adds to the next push."""
        return self._query(stored_wires.standing)

    def updates(self, handle: str, *, rep: int = 0, day: float | None = None) -> pl.DataFrame:
        """Return the changes of a cell's fields on or before a day, with columns t, field and writer (null if unknown)."""
        with self._reading() as file, sound(self.path):
            rows, updates = rows_meant(file, handle, rep), read.updates(file)
            part = part_of(file, rows)
        part = part if rows else StorePart.of(self.recorded)
        row = int(part.rows[part.memory.row(handle, rep=rep)])
        last = math.inf if day is None else finite(day, where="day")
        return updates.filter(pl.col("row") == row, pl.col("t") <= last).drop("row")

    def at(self, day: float) -> Memory:
        """Return the memory after the last write on or before a day."""
        return self._query(lambda file: history.memory_on(file, finite(day, where="day")))

    def save(self, memory: Memory, *, t: float | None = None, start: str | None = None, writer: str | None = None) -> None:
        """Save this memory to the file, dated day `t` (default: the latest day in the memory).

        `start` is the date (ISO 8601) of day 0. `writer` is the person who rewrote fields; after rewrites by several people,
        save after each, or use `update`. The memory must have grown from the content of the file; its scores and flags
        replace the stored ones. Raises `StoreError` if the file holds cells, edges or touches that the memory lacks because
        another process wrote them.
        """
        if writer is not None:
            check_author(writer)
        if start is not None and not is_date(start):
            raise UsageError("not a date", where="start", given=start, allowed="a date such as 2026-03-01")
        t = latest_day(memory) if t is None else finite(t, where="t")
        with self._changing() as old:
            self._write(old, memory, t=t, deed="save", writer=writer)
            if start is not None:
                self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('start', ?)", (start,))

    def begin(self, start: str) -> None:
        """Set the calendar date of day 0."""
        with refusing(self.path), transaction(self.connection):
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('start', ?)", (start,))

    def _load(self, part: Callable[[sqlite3.Connection], StorePart | None]) -> StorePart:
        """Return the part of the store that `part` selects; all of it if `part` returns None or a small store is cached."""
        with sound(self.path):
            few = self._cache and self._cache[0] == self._version() and self._cache[1].height <= FEW_CELLS
            return (None if few else part(self.connection)) or StorePart.of(self.recorded)

    @property
    def numbers(self) -> Memory:
        """Memory as stored. The texts of a large store are loaded on demand."""
        with self._reading() as file, sound(self.path):
            cached = self._cache is not None and self._cache[0] == self._version()
            if cached or self.connection is not file or read.height(file, "cells") <= FEW_TEXTS:
                return self.recorded
            query = 'SELECT "row", cells, edges FROM ticks ORDER BY "row" DESC LIMIT 1'
            write = file.execute(query).fetchone() or (0, 0, 0)
            return read.numbers(file, lambda table: self._rows_after(table, *write))

    def _rows_after(self, table: str, deed: int, cells: int, edges: int) -> pl.DataFrame:
        if self._closed:
            with StoreFile(self.path, write=False) as reopened:
                return reopened._rows_after(table, deed, cells, edges)
        with self._reading() as file, sound(self.path):
            return history.cells_at(file, deed, cells) if table == "cells" else read.edges(file).head(edges)

    @contextmanager
    def _changing(self, *, numbers: bool = False) -> Iterator[Memory]:
        with self._transaction():
            yield self.numbers if numbers else self.recorded

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        previous = self._cache
        try:
            with refusing(self.path), transaction(self.connection):
                yield
        except BaseException:
            self._cache = previous
            raise

    def _write(
        self, old: Memory, new: Memory, *, t: float, deed: str, writer: str | None = None, part: StorePart | None = None,
        clock: Clock | None = None,
    ) -> Memory:  # fmt: skip
        """Write the difference between two memories. Raise `StoreError` if cells or edges in the file would be lost."""
        new = new.recorded
        if not extends(new, old):
            hint = "open the store again and continue from its memory, or save to another file"
            raise StoreError("the store holds data that this memory lacks", where=str(self.path), hint=hint)
        write(self.connection, old, new, t=t, deed=deed, writer=writer, part=part, clock=clock)
        whole = (part is None or part.scanned is None) and new.table("cells").rows.is_frame
        self._cache = (self._version(), new) if whole else None
        return new

    def _version(self) -> int:
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with refusing(self.path):
            if self.connection.in_transaction:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            try:
                if is_made(self.connection):
                    yield self.connection
                else:
                    with closing(blank()) as empty:
                        yield empty
            finally:
                with suppress(sqlite3.OperationalError):  # a disk error has already ended the transaction
                    self.connection.execute("ROLLBACK")
