"""Opening a store's file, and saying clearly why one cannot be: foreign, newer, cut short, damaged, busy."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polars.exceptions import PolarsError

from malsim.errors import MalsimError, StoreError
from malsim.memory.tables.layout import APPLICATION, STATEMENTS, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["blank", "connect", "is_made", "is_store", "refusing", "sound", "transaction"]

MAGIC = b"SQLite format 3\0"
HEADER = 100
_PARTS = (slice(16, 18), slice(28, 32), slice(60, 64), slice(68, 72))  # page size, pages, user version, application id
LARGEST_PAGE = 65_536  # written as 1, in two bytes


def connect(path: Path, *, write: bool = False, wait: float = 5.0) -> sqlite3.Connection:
    """Open a store; under `write` make it where there is none. A file that is refused is left untouched.

    `wait` is how many seconds to wait for another process that is writing. Raises `StoreError`.
    """
    if not path.exists() and not write:
        raise StoreError("no such store", where=str(path))
    _check(path)
    with refusing(path):
        if not write:
            return _read_only(path, wait)
        connection = sqlite3.connect(path, isolation_level=None, timeout=wait)
        _make(connection)
        return connection


def _read_only(path: Path, wait: float) -> sqlite3.Connection:
    """Open and let nothing be written; where the folder is closed to us, as a file that nobody changes.

    A connection that may write, but is told not to, is the only one that leaves no log behind.
    """
    for mode in ("rw", "ro", *([] if _log(path) else ["ro&immutable=1"])):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=wait)
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA schema_version")
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
        else:
            return connection
    raise StoreError(
        "cannot be opened in this folder", where=str(path), hint="copy it, with its -wal file, where you may write"
    )


def is_store(path: Path) -> bool:
    """Whether a file says that it is a store of malsim's."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        header = file.read(HEADER)
    return header.startswith(MAGIC) and int.from_bytes(header[_PARTS[-1]], "big") == APPLICATION


def blank() -> sqlite3.Connection:
    """An empty store in working memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in STATEMENTS:
        connection.execute(statement)
    return connection


def _make(connection: sqlite3.Connection) -> None:
    """Tables, where there are none yet; the file says whose it is before anything else is in it, in one step.

    A store that is made already is opened without waiting for whoever is writing.
    """
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        with transaction(connection):
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if not is_made(connection):
        with transaction(connection):
            for statement in () if is_made(connection) else STATEMENTS:  # another process may have been first
                connection.execute(statement)


def is_made(connection: sqlite3.Connection) -> bool:
    """Whether the tables are there: they came all at once."""
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone())


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what is done inside, or nothing; begins by making sure that nobody else is writing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def refusing(path: Path | str) -> Iterator[None]:
    """Turn what SQLite raises into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreError("busy: another process is writing", where=str(path), hint="try again in a moment") from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise StoreError("damaged: not a readable SQLite file", where=str(path), hint="restore a copy") from error
        raise StoreError(f"cannot be read or written: {error}", where=str(path)) from error
    except (UnicodeDecodeError, PolarsError) as error:
        raise StoreError("damaged: it holds rows that no store does", where=str(path), hint="restore a copy") from error


@contextmanager
def sound(path: Path | str) -> Iterator[None]:
    """Read what a store holds; rows that no store holds, of a damaged or hand-edited file, are a `StoreError`."""
    try:
        yield
    except (MalsimError, sqlite3.Error):
        raise
    except (PolarsError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise StoreError("damaged: it holds rows that no store does", where=str(path), hint="restore a copy") from error


def _log(path: Path) -> bool:
    """Whether the file's write-ahead log holds anything."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _check(path: Path) -> None:
    """Refuse what is no store, from the file's first bytes alone."""
    if path.exists() and not path.is_file():
        raise StoreError(f"{'a folder' if path.is_dir() else 'no plain file'}, not a store", where=str(path))
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        header = file.read(HEADER)
    if not header.startswith(MAGIC[: len(header)]):
        raise StoreError("not an SQLite file", where=str(path), hint="malsim import reads JSON archives")
    if len(header) < HEADER:
        raise StoreError("cut short: not a whole SQLite file", where=str(path), hint="restore a copy")
    page, pages, version, application = (int.from_bytes(header[part], "big") for part in _PARTS)
    if application != APPLICATION:
        raise StoreError("an SQLite file, but no store of malsim's", where=str(path), hint="try malsim import")
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise StoreError(f"a store of {age} malsim", where=str(path), given=f"version {version}", allowed=str(VERSION))
    if path.stat().st_size < (LARGEST_PAGE if page == 1 else page) * pages and not _log(path):
        raise StoreError("cut short: pages are missing at its end", where=str(path), hint="restore a copy")
