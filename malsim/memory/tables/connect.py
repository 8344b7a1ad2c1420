"""Open the SQLite file of a store, and explain why a file cannot be opened (foreign, newer, cut short, damaged, busy)."""

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
    """Open a store; with `write`, create it if it is missing. A refused file is left untouched.

    `wait` is how many seconds to wait for another process that is writing. Raises `StoreError`.
    """
    if "\0" in str(path):
        raise StoreError("not a file name", where=str(path), hint="leave out the NUL character")
    if not path.exists() and not write:
        raise StoreError("no such store", where=str(path), hint="make one: malsim import FILE -o memory.sqlite")
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
            connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten, not only freed
            _make(connection)
        except BaseException:
            connection.close()
            raise
        return connection


_FIRST = "meta"
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)  # for the index of a log, which is not needed where there is no log


def _read_only(path: Path, wait: float) -> sqlite3.Connection:
    """Open read-only; if the folder is not writable or is full, open the file as immutable.

    A connection that may write, but is told not to, is the only one that leaves no log behind.
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
    raise StoreError(
        "cannot be opened in this folder", where=str(path), hint="copy it, with its -wal file, where you may write"
    )


def is_store(path: Path) -> bool:
    return belongs_to(path, APPLICATION)


def blank() -> sqlite3.Connection:
    # closed by whoever lets the memory go: a call with a time limit runs on a thread of its own
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    for statement in STATEMENTS:
        connection.execute(statement)
    return connection


def _make(connection: sqlite3.Connection) -> None:
    make_tables(connection, STATEMENTS, application=APPLICATION, version=VERSION, table=_FIRST)


def is_made(connection: sqlite3.Connection) -> bool:
    return holds_table(connection, _FIRST)


@contextmanager
def refusing(path: Path | str) -> Iterator[None]:
    """Turn SQLite errors and invalid rows into a `StoreError` with advice."""
    try:
        with refusing_file(path):
            yield
    except (DamagedRowsError, UnicodeDecodeError, PolarsError) as error:
        raise StoreError("damaged: it holds rows that no store does", where=str(path), hint="restore a copy") from error


@contextmanager
def sound(path: Path | str) -> Iterator[None]:
    """Read from a store; raise `StoreError` for invalid rows of a damaged or hand-edited file."""
    try:
        yield
    except (MalsimError, sqlite3.Error):
        raise
    except (PolarsError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise StoreError("damaged: it holds rows that no store does", where=str(path), hint="restore a copy") from error
