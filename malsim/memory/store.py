"""A store: one file, written in whole steps, read as it stands or as it stood."""

from __future__ import annotations

import math
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import polars as pl

from malsim.base.errors import StoreError, UsageError
from malsim.base.finite import FARTHEST, finite
from malsim.memory.gate.admit import admit
from malsim.memory.gate.edit import check_author, update
from malsim.memory.law import tick
from malsim.memory.law_steps import effective_now
from malsim.memory.push.expand import expand
from malsim.memory.push.mini_index import Push, push
from malsim.memory.rules import Rules
from malsim.memory.tables import read, standing_parts
from malsim.memory.tables.connect import blank, connect, is_made, refusing, sound, transaction
from malsim.memory.tables.damage import is_date
from malsim.memory.tables.search import look_with
from malsim.memory.tables.write import extends, fill, latest_day, log_verdicts, write

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType

    from malsim.memory.gate.claims import Claims
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.push.expand import Expanded
    from malsim.memory.tables.standing_parts import Standing

__all__ = ["Store", "open_memory", "save_memory"]


class RunsStanding(Protocol):
    """What runs the programs and wires of a store on a memory that has just ticked at `now` days."""

    def __call__(self, memory: Memory, standing: Standing, now: float, rules: Rules) -> tuple[Memory, Standing]: ...


class Store:
    """One open store; use it in a `with` block.

    Every change is one transaction: it is on disk when the call returns, or the file is as it was. A process killed at any
    moment loses nothing that a call had returned from. Of two processes that write, the second waits, up to `wait` seconds,
    and works on what the first left.

    Parameters
    ----------
    path
        The file; made where there is none, unless `write` is False.
    write
        False to only read.
    wait
        Seconds to wait for another process.

    Raises
    ------
    StoreError
        For a file that is no store, a newer one, a damaged or truncated one (none is touched), and one that stays busy.
    """

    # What runs netlists stands above the memory: `malsim.netlist` sets it.
    scan: ClassVar[RunsStanding | None] = None

    def __init__(self, path: str | Path, *, write: bool = True, wait: float = 5.0) -> None:
        self.path, self.write = Path(path), write
        self.connection: sqlite3.Connection = connect(self.path, write=write, wait=wait)
        self._cache: tuple[int, Memory] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    @property
    def memory(self) -> Memory:
        """The memory as it stands in the file now."""
        with self._reading() as file, sound(self.path):
            version = self._version()
            if self._cache is None or self._cache[0] != version:
                self._cache = (version, read.present(file))
            return self._cache[1]

    @property
    def day(self) -> float | None:
        """The day of the last write; None of a store never written to."""
        with self._reading() as file, sound(self.path):
            return read.last_day(file)

    @property
    def start(self) -> str | None:
        """The date of day 0, where one was given."""
        with self._reading() as file, sound(self.path):
            return read.start(file)

    @property
    def ticks(self) -> pl.DataFrame:
        """Every write on record."""
        with self._reading() as file, sound(self.path):
            return read.ticks(file)

    @property
    def verdicts(self) -> pl.DataFrame:
        """Every verdict on record, those of refused claims included."""
        with self._reading() as file, sound(self.path):
            return read.verdicts(file)

    @property
    def events(self) -> pl.DataFrame:
        """What its programs and wires did at ticks: t, rep, kind, subject, detail, cause."""
        with self._reading() as file, sound(self.path):
            return standing_parts.events(file)

    @property
    def standing(self) -> Standing:
        """The netlist that stands in it, what it remembers, and its lines in the next push."""
        with self._reading() as file, sound(self.path):
            return standing_parts.standing(file)

    def updates(self, handle: str, *, rep: int = 0, day: float | None = None) -> pl.DataFrame:
        """Which fields of a cell were rewritten, up to a day, and by whom: t, field, writer (null: nobody is named)."""
        with self._reading() as file, sound(self.path):
            row, updates = self.memory.row(handle, rep=rep), read.updates(file)
        upto = math.inf if day is None else finite(day, where="day")
        return updates.filter(pl.col("row") == row, pl.col("t") <= upto).drop("row")

    def at(self, day: float) -> Memory:
        """The memory as the last write up to a day left it."""
        with self._reading() as file, sound(self.path):
            return read.past(file, finite(day, where="day"))

    def admit(
        self, claims: Claims, rules: Rules | None = None, *, factors: Mapping[str, float] | None = None
    ) -> pl.DataFrame:
        """Take claims through the gate, as `malsim.memory.admit`; keeps and returns the verdicts."""
        with self._changing() as old:
            new, verdicts = admit(old, claims, rules, factors=factors)
            log_verdicts(self.connection, verdicts)
            self._write(old, new, t=max(verdicts["t"].to_list(), default=0.0), deed="admit")
        return verdicts

    def tick(self, now: float, rules: Rules | None = None) -> Memory:
        """Tick the memory in the file, as `malsim.memory.tick`, and run what stands in it; returns the memory.

        `now` is a finite number of days. Raises `StoreError` where something stands in it and nothing here runs it.
        """
        now, rules = finite(now, where="now", low=-FARTHEST, high=FARTHEST), rules or Rules()
        with self._changing() as old:
            new, before = tick(old, now, rules), self.standing
            if Store.scan:
                new, after = Store.scan(new, before, now, rules)
                if after is not before:
                    standing_parts.keep(self.connection, after)
            elif before.text or (old.cells["kind"] == "prg").any():
                raise StoreError("programs stand in it that nothing here runs", hint="import malsim.netlist")
            return self._write(old, new, t=now, deed="tick")

    def wire(self, load: Callable[[Memory, Standing], tuple[Memory, Standing]]) -> Memory:
        """Put what `load` makes of the memory and of what stands here into the file, in one write; returns the memory."""
        with self._changing() as old:
            new, after = load(old, self.standing)
            standing_parts.keep(self.connection, after)
            return self._write(old, new, t=latest_day(new), deed="save")

    def update(self, handle: str, *, writer: str, now: float, rules: Rules | None = None, **fields: Any) -> Memory:
        """Rewrite fields of a cell in the file, as `gate.edit.update`, and keep who did; returns the memory."""
        with self._changing() as old:
            new = update(old, handle, writer=writer, now=now, rules=rules, **fields)
            return self._write(old, new, t=now, deed="update", writer=writer)

    def mini_index(self, query: str = "", **options: Any) -> Push:
        """The lines that a reader is pushed about a query, found by the file's own index; options as of `push.push`.

        Where something came since the last tick, the memory is read for what it touched.
        """
        with self._reading() as file:
            look_with(file, effective_now(self.memory, options.get("rules")) if read.holds_news(file) else {})
            lines = [*standing_parts.standing(file).lines, *options.pop("surfaced", ())]
            return push(file, query, surfaced=lines, **options)

    def expand(self, handle: str, *, now: float | None = None, rep: int = 0, rules: Rules | None = None) -> Expanded:
        """One cell, opened as of `now` (days; by default that of the last write); that it was read is kept.

        In a store open for reading only, nothing is kept.
        """
        now = None if now is None else finite(now, where="now")
        if not self.write:
            return expand(self.memory, handle, now=self.day if now is None else now, rep=rep, rules=rules)
        with self._changing() as old:
            now = read.last_day(self.connection) if now is None else now
            page = expand(old, handle, now=now, rep=rep, rules=rules)
            self._write(old, page.memory, t=page.explanation.t, deed="expand")
        return page

    def save(self, memory: Memory, *, t: float | None = None, start: str | None = None, writer: str | None = None) -> None:
        """Make the file hold this memory, as of day `t` (by default the latest day it knows of).

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

    def fill(self, rows: Iterable[tuple[str, pl.DataFrame]], *, start: str | None = None) -> None:
        """Let an empty store hold what comes some rows at a time, as `write.fill`: a file that nobody knows of yet."""
        with refusing(self.path):
            fill(self.connection, rows, start=start)

    @contextmanager
    def _changing(self) -> Iterator[Memory]:
        """The memory as it stands, with nobody else writing until the block is left."""
        previous = self._cache
        try:
            with refusing(self.path), transaction(self.connection):
                yield self.memory
        except BaseException:
            self._cache = previous
            raise

    def _write(self, old: Memory, new: Memory, *, t: float, deed: str, writer: str | None = None) -> Memory:
        """Keep what changed. Nothing that a file holds is dropped, whatever rules say of keys used again."""
        if not extends(new, old):
            hint = "open it again and work on that, or save to another file"
            raise StoreError("holds what this memory does not", where=str(self.path), hint=hint)
        write(self.connection, old, new, t=t, deed=deed, writer=writer)
        self._cache = (self._version(), new)
        return new

    def _version(self) -> int:
        """A number that moves when another process writes."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One snapshot for all that is read inside; of a file in which nothing was made yet, an empty store."""
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
                self.connection.execute("ROLLBACK")


def open_memory(path: str | Path, *, at: float | None = None) -> Memory:
    """The memory in a store's file, as it stands or as it stood on day `at`; the file is only read.

    Raises `StoreError` where there is no such store.
    """
    with Store(path, write=False) as store:
        return store.memory if at is None else store.at(at)


def save_memory(memory: Memory, path: str | Path, *, t: float | None = None, writer: str | None = None) -> None:
    """Make a store's file hold this memory, as of day `t`: one transaction; see `Store.save`."""
    with Store(path) as store:
        store.save(memory, t=t, writer=writer)
