"""Read-only access to sources that can be imported: a database, a JSON document, JSON lines or a folder."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from malsim.base.errors import StoreError
from malsim.base.files.sqlite_file import MAGIC
from malsim.base.files.text_files import IS_UTF16, is_utf16, without_mark
from malsim.base.limits import within
from malsim.memory.tables.connect import refusing

MOST_BYTES = 1 << 30  # maximum size of a JSON document, which is read into memory at once
LONGEST_LINE = 64 << 20
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
}
_PICKLE = b"\x80"
_BLANK = " \t\r\n"  # white space allowed around a JSON value
_DECODER = json.JSONDecoder()
_LOGS = ("-wal", "-journal")


@contextmanager
def open_source(path: str | Path) -> Iterator[Source]:
    """Open a source for reading. A temporary copy, if one is needed, is removed at the end of the block.

    Raises `StoreError` for a source that cannot be read: an archive, a pickle, a wrong encoding or a damaged database.
    """
    where = Path(path)
    if not where.exists():
        raise StoreError("no such file", where=str(where))
    with ExitStack() as stack:
        source = Source(where, stack)
        if where.is_file():
            source.check()
        yield source


class Source:
    """File or folder to import. Each part of its content is read once, when first needed."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path, self._stack = path, stack
        self.cut = self.bad = 0  # counts of truncated last lines and of other lines without a record

    @cached_property
    def head(self) -> bytes:
        if not self.path.is_file():
            return b""
        with self.path.open("rb") as file:
            return file.read(len(MAGIC))

    def check(self) -> None:
        """Raise `StoreError` for an archive, a pickle or UTF-16 text, and `ScenarioError` for a file beyond the limits."""
        within({"input": self.path.stat().st_size}, where=str(self.path))
        for magic, name in _ARCHIVES.items():
            if self.head.startswith(magic):
                raise StoreError(
                    f"malsim cannot read {name}",
                    where=str(self.path),
                    hint="unpack it and give the file inside",
                )
        if self.head.startswith(_PICKLE):
            problem = "neither an SQLite file nor text in UTF-8, but a Python pickle, which runs code when it is read"
            raise StoreError(problem, where=str(self.path), hint="ask for the memory as JSON")
        if is_utf16(self.head):
            raise StoreError(IS_UTF16, where=str(self.path), hint="save the file as UTF-8")

    @property
    def is_database(self) -> bool:
        return self.head.startswith(MAGIC)

    @cached_property
    def database(self) -> sqlite3.Connection:
        """Read-only connection to the database.

        A database with a write-ahead log is copied first, because another process may be writing to it.
        """
        logs = [log for end in _LOGS if (log := Path(f"{self.path}{end}")).exists() and log.stat().st_size]
        path = self._copy(logs) if logs else self.path
        mode = "rw" if logs else "ro&immutable=1"  # opened read-write so that SQLite can apply the log to the copy
        with refusing(self.path):
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)
            self._stack.callback(connection.close)
            for setting in ("query_only = ON", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection

    def _copy(self, logs: list[Path]) -> Path:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="malsim-")))
        for _ in range(3):
            before = [(part.stat().st_mtime_ns, part.stat().st_size) for part in (self.path, *logs)]
            for part in (self.path, *logs):
                shutil.copyfile(part, folder / part.name)
            if before == [(part.stat().st_mtime_ns, part.stat().st_size) for part in (self.path, *logs)]:
                return folder / self.path.name
        raise StoreError("busy: another process is writing to the file", where=str(self.path), hint="try again in a moment")

    @cached_property
    def tables(self) -> dict[str, frozenset[str]]:
        """Column names of each table in the database, without views and virtual tables."""
        if not self.is_database:
            return {}
        with refusing(self.path):
            query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            names = [name for (name,) in self.database.execute(query)]
            columns = "SELECT name FROM pragma_table_info(?)"
            return {name: frozenset(row[0] for row in self.database.execute(columns, (name,))) for name in names}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query and return its rows. Invalid UTF-8 is decoded with replacement characters."""
        with refusing(self.path):
            try:
                return self.database.execute(query).fetchall()
            except sqlite3.OperationalError as error:
                if "UTF-8" not in str(error):
                    raise
                # `partial` because a Python function would take 50 % longer
                self.database.text_factory = partial(str, encoding="utf-8", errors="replace")
                return self.database.execute(query).fetchall()

    @cached_property
    def first(self) -> dict[str, Any]:
        """First record of a file of JSON lines, or an empty dict if there is none."""
        line, more = self._two_lines
        if records := _records_in(line):
            return records[0]
        return next(self.records(), {}) if more and self.document is None else {}

    @cached_property
    def _two_lines(self) -> tuple[bytes, bytes]:
        """First two non-blank lines. A missing line is empty."""
        if not self.path.is_file() or self.is_database:
            return b"", b""
        with self.path.open("rb") as file:
            lines = (line for line in iter(lambda: file.readline(LONGEST_LINE), b"") if line.strip())
            return without_mark(next(lines, b"")), next(lines, b"")

    @cached_property
    def document(self) -> Any:
        """Content of the file as one JSON value, or None if the file is not a single value."""
        if not self._two_lines[0] or (self._two_lines[1] and _records_in(self._two_lines[0])):
            return None
        if self.path.stat().st_size > MOST_BYTES:
            raise StoreError("the JSON document is too large", where=str(self.path), allowed=f"at most {MOST_BYTES} bytes")
        try:
            value = json.loads(self.path.read_bytes().decode("utf-8-sig"))
            # some programs encode their JSON twice, so a string is decoded again
            return json.loads(value) if isinstance(value, str) else value
        except UnicodeDecodeError as error:
            raise StoreError("not UTF-8 text", where=str(self.path), hint="save the file as UTF-8") from error
        except RecursionError as error:
            raise StoreError("the JSON document is nested too deeply", where=str(self.path)) from error
        except ValueError:
            return None

    @property
    def object(self) -> dict[str, Any]:
        return self.document if isinstance(self.document, dict) else {}

    @property
    def list(self) -> list[Any]:
        return self.document if isinstance(self.document, list) else []

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects on all lines.

        All other lines are counted in `bad`, or in `cut` if the line break is missing.
        """
        self.cut = self.bad = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), 1):
                if len(line) > LONGEST_LINE:
                    raise StoreError(
                        "the line is too long", where=f"{self.path}:{number}", allowed=f"at most {LONGEST_LINE} bytes"
                    )
                try:
                    text = without_mark(line).decode("utf-8", "surrogatepass").strip(_BLANK)
                    value, end = _DECODER.raw_decode(text)
                    if end != len(text):
                        yield from (glued := _glued(text))
                        value = None if not glued else True
                except UnicodeDecodeError as error:
                    if line.endswith(b"\n"):
                        raise StoreError(
                            "not UTF-8 text", where=f"{self.path}:{number}", hint="save the file as UTF-8"
                        ) from error
                    value = None  # the file is truncated within a character
                except (ValueError, RecursionError):
                    value = None
                if isinstance(value, dict):
                    yield value
                elif value is not True and line.strip():
                    self.cut, self.bad = self.cut + (not line.endswith(b"\n")), self.bad + line.endswith(b"\n")


def _glued(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects concatenated on one line, or an empty list if one of the values is not an object."""
    records, end = list[dict[str, Any]](), 0
    while end < len(text):
        value, end = _DECODER.raw_decode(text, end)
        if not isinstance(value, dict):
            return []
        records.append(value)
        end += len(text[end:]) - len(text[end:].lstrip(_BLANK))
    return records


def _records_in(line: bytes) -> list[dict[str, Any]]:
    try:
        return _glued(line.decode("utf-8", "surrogatepass").strip(_BLANK))
    except (ValueError, RecursionError):
        return []
