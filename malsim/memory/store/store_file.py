"""A store's file: open it, read it as of now or of a day, and write to it in transactions."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import polars as pl

from malsim.base.errors import StoreError, UsageError
from malsim.base.finite import finite
from malsim.memory.gate.edit import check_author
from malsim.memory.law_steps import present
from malsim.memory.store.needed_rows import rows_meant
from malsim.memory.tables import past, read, standing_parts
from malsim.memory.tables.connect import blank, connect, is_made, refusing, sound, transaction
from malsim.memory.tables.layout import is_date
from malsim.memory.tables.scores import read_scores
from malsim.memory.tables.store_part import StorePart, part_of
from malsim.memory.tables.write import extends, latest_day, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from malsim.memory.graph.arrays import Array
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules
    from malsim.memory.tables.scores import Clock
    from malsim.memory.tables.standing_parts import Standing

FEW_CELLS = 500
FEW_TEXTS = 10_000  # cells whose texts are read with their numbers


class StoreFile:
    """Open file of a store, for use in a `with` block.

    Every change is one transaction: it is on disk when the call returns, or the file is as it was. A process killed at any
    moment loses nothing that a call had returned from. Of two processes that write, the second waits, up to `wait` seconds,
    and works on what the first left.

    Parameters
    ----------
    path
        The file; made where there is none, unless `write` is False. None: a store in working memory, gone when it is closed.
    write
        False to only read.
    wait
        Seconds to wait for another process.

    Raises
    ------
    StoreError
        For a file that is no store, a newer one, a damaged or truncated one (none is touched), and one that stays busy.
    """

    def __init__(self, path: str | Path | None, *, write: bool = True, wait: float = 5.0) -> None:
        self.path, self.write = Path(path or ":memory:"), write
        self.connection: sqlite3.Connection = blank() if path is None else connect(self.path, write=write, wait=wait)
        self._cache: tuple[int, Memory] | None = None  # as recorded
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
        """Return the memory as a reader sees it now; see `law_steps.present`.

        What continues from it, such as a tick, continues from what the last tick gave.
        """
        return present(self.recorded, rules).memory

    @property
    def recorded(self) -> Memory:
        """Memory as stored: scores of the last tick, and the claims admitted since."""
        with self._reading() as file, sound(self.path):
            version = self._version()
            if self._cache is None or self._cache[0] != version:
                self._cache = (version, read.present(file))
            return self._cache[1]

    @property
    def height(self) -> int:
        """Number of cells."""
        with self._reading() as file, sound(self.path):
            return read.height(file, "cells")

    @property
    def effective(self) -> Array:
        """Stored effective confidence of every cell; NaN if unknown."""
        with self._reading() as file, sound(self.path):
            return read_scores(file, read.height(file, "cells"), names=("effective",))["effective"]

    def handle(self, row: int) -> str:
        """Return the handle of the cell in a row."""
        with self._reading() as file:
            return str(file.execute('SELECT handle FROM cells WHERE "row" = ?', (row,)).fetchone()[0])

    @property
    def day(self) -> float | None:
        """Day of the last write; None for a store that was never written to."""
        with self._reading() as file, sound(self.path):
            return read.last_day(file)

    @property
    def start(self) -> str | None:
        """Date of day 0, or None."""
        with self._reading() as file, sound(self.path):
            return read.start(file)

    @property
    def ticks(self) -> pl.DataFrame:
        """History of writes."""
        with self._reading() as file, sound(self.path):
            return read.ticks(file)

    @property
    def verdicts(self) -> pl.DataFrame:
        """History of verdicts, including those of refused claims."""
        with self._reading() as file, sound(self.path):
            return read.verdicts(file)

    @property
    def events(self) -> pl.DataFrame:
        """Events of programs and wires at ticks: t, rep, kind, subject, detail, cause."""
        with self._reading() as file, sound(self.path):
            return standing_parts.events(file)

    @property
    def standing(self) -> Standing:
        """Stored netlist, its state, and its lines in the next push."""
        with self._reading() as file, sound(self.path):
            return standing_parts.standing(file)

    def updates(self, handle: str, *, rep: int = 0, day: float | None = None) -> pl.DataFrame:
        """Return rewritten fields of a cell up to a day: t, field, writer (null if unnamed)."""
        with self._reading() as file, sound(self.path):
            part = part_of(file, rows_meant(file, handle, rep))
            row, updates = int(part.rows[part.memory.row(handle, rep=rep)]), read.updates(file)
        upto = math.inf if day is None else finite(day, where="day")
        return updates.filter(pl.col("row") == row, pl.col("t") <= upto).drop("row")

    def at(self, day: float) -> Memory:
        """Return the memory after the last write up to a day."""
        with self._reading() as file, sound(self.path):
            return past.past(file, finite(day, where="day"))

    def save(self, memory: Memory, *, t: float | None = None, start: str | None = None, writer: str | None = None) -> None:
        """Save this memory to the file, as of day `t` (default: the latest day in the memory).

        `start` is the date (ISO 8601) of day 0, where there is one. `writer` is whoever rewrote what is rewritten, if it was
        one; where several did, save after each, or use `update`. The memory must have grown from what the file holds;
        scores and flags become what they are in it. Raises `StoreError` where the file holds cells, edges or touches that
        this memory does not: another process wrote them, and they are not lost.
        """
        if writer is not None:
            check_author(writer)
        if start is not None and not is_date(start):
            raise UsageError("no date", where="start", given=start, allowed="a date such as 2026-03-01")
        t = latest_day(memory) if t is None else finite(t, where="t")
        with self._changing() as old:
            self._write(old, memory, t=t, deed="save", writer=writer)
            if start is not None:
                self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('start', ?)", (start,))

    def begin(self, start: str) -> None:
        """Set the date of day 0 of a store that has none."""
        with refusing(self.path), transaction(self.connection):
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('start', ?)", (start,))

    @contextmanager
    def _changing_part(self, part_in: Callable[[sqlite3.Connection], StorePart | None]) -> Iterator[StorePart]:
        previous = self._cache
        try:
            with refusing(self.path), transaction(self.connection):
                with sound(self.path):
                    part = None if self._holds_few() else part_in(self.connection)
                    part = part or StorePart.of(self.recorded)
                yield part
        except BaseException:
            self._cache = previous
            raise

    @property
    def numbers(self) -> Memory:
        """Memory as stored; the texts of a large store are read only when asked for."""
        with self._reading() as file, sound(self.path):
            cached = self._cache is not None and self._cache[0] == self._version()
            if cached or self.connection is not file or read.height(file, "cells") <= FEW_TEXTS:
                return self.recorded
            deed = read.last_deed(file)
            return read.numbers(file, lambda table: self._rows_after(table, *deed))

    def _rows_after(self, table: str, deed: int, cells: int, edges: int) -> pl.DataFrame:
        if self._closed:
            with StoreFile(self.path, write=False) as again:
                return again._rows_after(table, deed, cells, edges)
        with self._reading() as file, sound(self.path):
            return past.cells_at(file, deed, cells) if table == "cells" else read.edges(file).head(edges)

    @contextmanager
    def _changing(self, *, numbers: bool = False) -> Iterator[Memory]:
        previous = self._cache
        try:
            with refusing(self.path), transaction(self.connection):
                yield self.numbers if numbers else self.recorded
        except BaseException:
            self._cache = previous
            raise

    def _write(
        self,
        old: Memory,
        new: Memory,
        *,
        t: float,
        deed: str,
        writer: str | None = None,
        part: StorePart | None = None,
        clock: Clock | None = None,
    ) -> Memory:
        """Write what changed. Nothing in the file is dropped, whatever the rules say about reused keys."""
        new = new.recorded
        if not extends(new, old):
            hint = "open it again and work on that, or save to another file"
            raise StoreError("holds what this memory does not", where=str(self.path), hint=hint)
        write(self.connection, old, new, t=t, deed=deed, writer=writer, part=part, clock=clock)
        whole = (part is None or part.scanned is None) and new.table("cells").rows.is_frame
        self._cache = (self._version(), new) if whole else None
        return new

    def _holds_few(self) -> bool:
        return self._cache is not None and self._cache[0] == self._version() and self._cache[1].height <= FEW_CELLS

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
                with suppress(sqlite3.OperationalError):  # an error of the disk has ended it already
                    self.connection.execute("ROLLBACK")
