"""Connection to a store's SQLite file, and errors for files that are foreign, too new, truncated, damaged or busy."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from polars.exceptions import PolarsError

from malsim.base.errors import MalsimError, StoreError
from malsim.base.files.sqlite_file import (
    OPENING,
    FileConnection,
    belongs_to,
    check_header,
    holds_log,
    holds_table,
    lost_log,
    make_tables,
    refusing_file,
    transaction,
)
from malsim.memory.tables.layout import APPLICATION, STATEMENTS, VERSION, DamagedRowsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["blank", "connect", "is_made", "is_store", "refusing", "sound", "transaction"]


def connect(path: Path, *, write: bool = False, wait: float = 5.0) -> sqlite3.Connection:
    """Open a store and, with `write`, create it if it does not exist. A refused file is left untouched.

    `wait` is how many seconds to wait for another process that is writing. Raises `StoreError`.
    """
    if "\0" in str(path):
        raise StoreError("a path cannot contain a NUL character", where=str(path), hint="remove the NUL character")
    if not path.exists() and not write:
        raise StoreError("no such store", where=str(path), hint="create one: malsim import FILE -o memory.sqlite")
    with OPENING:
        check_header(path, APPLICATION, VERSION)
        with refusing(path):
            if not write:
                connection = _read_only(path, wait)
                try:
                    is_blank = not holds_table(connection, _FIRST)
                except sqlite3.Error:
                    connection.close()
                    raise
                if is_blank and path.stat().st_size and not holds_log(path):
                    connection.close()
                    raise lost_log(path)
                return connection
            connection = sqlite3.connect(path, isolation_level=None, timeout=wait, factory=FileConnection)
            connection.hold(path, APPLICATION)
    with refusing(path):
        try:
            connection.execute("PRAGMA secure_delete = ON")  # overwrites erased text instead of only freeing its pages
            make_tables(connection, STATEMENTS, application=APPLICATION, version=VERSION, table=_FIRST)
        except BaseException:
            connection.close()
            raise
        return connection


_FIRST = "meta"
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
# The disk has no space for the index of a write-ahead log, which is needed only if there is a log.
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _read_only(path: Path, wait: float) -> sqlite3.Connection:
    """Open a store read-only. If its folder is not writable or the disk is full, open the file as immutable.

    The first mode may write, but `query_only` forbids it: any other connection would leave a log behind.
    """
    for mode in ("rw", "ro", *([] if holds_log(path) else ["ro&immutable=1"])):
        uri = f"{path.resolve().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=wait, factory=FileConnection)
        connection.hold(path, APPLICATION)
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA schema_version")
        except sqlite3.OperationalError as error:
            connection.close()
            code = error.sqlite_errorcode & 0xFF
            if code not in _CLOSED and (code not in _NO_ROOM or holds_log(path)):
                raise
        else:
            return connection
    hint = "copy the file, and its -wal file, to a folder where you may write"
    raise StoreError("the store cannot be opened in this folder", where=str(path), hint=hint)


def is_store(path: Path) -> bool:
    return belongs_to(path, APPLICATION)


def blank() -> sqlite3.Connection:
    # Another thread may close the connection, because calls with a time limit run in their own threads.
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    for statement in STATEMENTS:
        connection.execute(statement)
    return connection


def is_made(connection: sqlite3.Connection) -> bool:
    return holds_table(connection, _FIRST)


@contextmanager
def refusing(path: Path | str) -> Iterator[None]:
    """Convert SQLite errors and errors about invalid rows into a `StoreError` with advice."""
    try:
        with refusing_file(path):
            yield
    except (DamagedRowsError, UnicodeDecodeError, PolarsError) as error:
        raise _damaged(path, error) from error


@contextmanager
def sound(path: Path | str) -> Iterator[None]:
    """Raise `StoreError` instead of the errors that invalid rows of a damaged or hand-edited file cause."""
    try:
        yield
    except (MalsimError, sqlite3.Error):
        raise
    except (PolarsError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path | str, error: Exception) -> StoreError:
    reason = error if isinstance(error, DamagedRowsError) else "invalid rows"
    return StoreError(f"damaged: {reason}", where=str(path), hint="restore a backup")
