"""Handling of malsim's SQLite files: header checks, transactions, and errors with hints."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from weakref import WeakSet

from malsim.base.errors import StoreError
from malsim.base.limits import within

MAGIC = b"SQLite format 3\0"
HEADER = 100
# header fields: page size, number of pages, user version, application id
_PARTS = (slice(16, 18), slice(28, 32), slice(60, 64), slice(68, 72))
# sizes of a log's header, a frame's header and the log index's header, in bytes
LOG_HEAD, FRAME_HEAD, _INDEX_HEAD = 32, 24, 100
# fields in the header of a log's index: page size, frames written, frames copied
_COUNTS = (slice(14, 16), slice(16, 20), slice(96, 100))
LARGEST_PAGE = 65_536  # maximum page size in bytes, stored as 1 because its header field has two bytes


class FileConnection(sqlite3.Connection):
    """Connection to a malsim SQLite file. While the connection is open, this process does not read the file's header.

    POSIX drops every lock of a process on a file when the process closes any descriptor of the file. Another process could
    then remove the log that the connection still writes to.
    """

    def hold(self, path: Path, application: int) -> None:
        if _held_for(path) is None:
            _HELD[_inode(path)] = (application, WeakSet())
        _HELD[_inode(path)][1].add(self)

    def close(self) -> None:
        for _, connections in _HELD.values():
            connections.discard(self)
        super().close()


_HELD: dict[tuple[int, int], tuple[int, WeakSet[FileConnection]]] = {}
OPENING = RLock()
"""Lock held from the header check until the file is open, so that no other thread opens the file in between."""


def _inode(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _held_for(path: Path) -> int | None:
    application, connections = _HELD.get(_inode(path), (0, ()))
    return application if len(connections) else None


def belongs_to(path: Path, application: int) -> bool:
    """Return whether the file's SQLite header has the given application number."""
    if not path.is_file():
        return False
    if (owner := _held_for(path)) is not None:
        return owner == application
    with path.open("rb") as file:
        header = file.read(HEADER)
    return header.startswith(MAGIC) and int.from_bytes(header[_PARTS[-1]], "big") == application


def check_header(path: Path, application: int, version: int | range, *, what: str = "store") -> int:
    """Return the format version from the file's SQLite header, or the newest version if the file is missing or empty.

    Raises `StoreError` for a folder, a truncated file, or a file of another program or version.
    """
    if path.exists() and not path.is_file():
        raise StoreError(
            f"this is {'a folder' if path.is_dir() else 'not a plain file'}, so it cannot be a {what}", where=str(path)
        )
    versions = range(version, version + 1) if isinstance(version, int) else version
    if not path.exists() or path.stat().st_size == 0:
        return versions[-1]
    within({"input": path.stat().st_size}, where=str(path))
    if _held_for(path) == application:
        return versions[-1]
    # checked both before and after reading, because another process may be copying the log into the file
    had_log = holds_log(path)
    with path.open("rb") as file:
        header = file.read(HEADER)
    if not header.startswith(MAGIC[: len(header)]):
        raise StoreError("not an SQLite file", where=str(path), hint="run `malsim import` for other files")
    if len(header) < HEADER:
        raise StoreError("damaged: the SQLite header is incomplete", where=str(path), hint="restore a backup")
    page, pages, actual, owner = (int.from_bytes(header[part], "big") for part in _PARTS)
    if owner != application:
        raise StoreError(f"this is an SQLite file, but not a malsim {what}", where=str(path), hint="try malsim import")
    if actual not in versions:
        age = "a newer" if actual > versions[-1] else "an older"
        hint = (
            "export it with the version that wrote it, then import the export"
            if age == "an older" and what == "store"
            else None
        )
        given = f"version {actual}"
        raise StoreError(
            f"this {what} was written by {age} version of malsim",
            where=str(path),
            given=given,
            allowed=str(versions[-1]),
            hint=hint,
        )
    if path.stat().st_size < (LARGEST_PAGE if page == 1 else page) * pages and not (had_log or holds_log(path)):
        raise StoreError("damaged: pages are missing at the end of the file", where=str(path), hint="restore a backup")
    if _has_lost_log(path):
        raise lost_log(path)
    return actual


def lost_log(path: Path) -> StoreError:
    hint = "restore both files from one copy; to copy an open store, use sqlite3's .backup"
    return StoreError(f"its log, {path.name}-wal, was lost or cut: the last writes are missing", where=str(path), hint=hint)


def _has_lost_log(path: Path) -> bool:
    """Return whether frames are missing from the write-ahead log, according to its index or to the length of the log.

    The index holds the number of frames (bytes 16 to 20) and how many of them were copied to the file itself (bytes 96
    to 100). If a process was killed, the log may end within a frame, but the index exists.
    """
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    try:
        size = log.stat().st_size if log.exists() else 0
        if index.exists():
            head = index.read_bytes()[:_INDEX_HEAD]
            page, frames, copies = (int.from_bytes(head[part], sys.byteorder) for part in _COUNTS)
            return frames > copies and page > 1 and size < LOG_HEAD + frames * (page + FRAME_HEAD)
        if size <= LOG_HEAD:
            return 0 < size < LOG_HEAD
        with log.open("rb") as file:
            page = int.from_bytes(file.read(LOG_HEAD)[8:12], "big")
        return (size - LOG_HEAD) % (page + FRAME_HEAD) != 0
    except OSError:
        return False


def holds_log(path: Path) -> bool:
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one write transaction, which is rolled back if the block raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def make_tables(
    connection: sqlite3.Connection,
    statements: Sequence[str],
    *,
    application: int,
    version: int,
    table: str,
    log: bool = True,
) -> None:
    """Create the tables of a file in one transaction, with a write-ahead log, unless `table` already exists.

    The application number is written first. Opening a complete file does not wait for other writers.
    """
    if connection.execute("PRAGMA application_id").fetchone()[0] != application:
        with transaction(connection):
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute(f"PRAGMA application_id = {application}")
    if log:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    if not holds_table(connection, table):
        with transaction(connection):
            # another process may have created the tables
            for statement in () if holds_table(connection, table) else statements:
                connection.execute(statement)


def holds_table(connection: sqlite3.Connection, table: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone())


def _is_full(path: Path | str) -> bool:
    """Return whether the disk is full, which SQLite may report as an I/O error in its log."""
    try:
        return shutil.disk_usage(Path(path).parent).free < LARGEST_PAGE
    except OSError:
        return False


@contextmanager
def refusing_file(path: Path | str) -> Iterator[None]:
    """Convert SQLite errors in the block to `StoreError` with a hint."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreError(
                "busy: another process is writing to the file", where=str(path), hint="try again in a moment"
            ) from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise StoreError("damaged: SQLite cannot read the file", where=str(path), hint="restore a backup") from error
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
            raise StoreError("the disk is full", where=str(path), hint="free some space; the file is unchanged") from error
        raise StoreError(f"the file cannot be read or written: {error}", where=str(path)) from error
