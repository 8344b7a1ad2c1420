"""Programs and wires that are stored with a memory and run at its ticks: netlist text, state and events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.files.sqlite_file import holds_table
from malsim.memory.tables.layout import DamagedRowsError
from malsim.memory.tables.rows import column_list, insert, select

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

EVENTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "t": pl.Float64, "rep": pl.Int32, "kind": pl.String, "subject": pl.String, "detail": pl.String, "cause": pl.String,
}  # fmt: skip
_TABLES = (  # created when the first program or wire is stored
    "CREATE TABLE IF NOT EXISTS standing (name TEXT PRIMARY KEY, value)",
    """CREATE TABLE IF NOT EXISTS happenings
        ("row" INTEGER PRIMARY KEY, t REAL, rep INTEGER, kind TEXT, subject TEXT, detail TEXT, cause TEXT)""",
)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Stored netlist with its state between ticks, and the lines that it adds to the next push of each replication.

    `events` (columns of EVENTS) are those of the last tick; `state` is opaque here; `inputs` holds the values of inputs that
    were set, `moved` the day on which each signal last changed, and `files` the name and text of each source file.
    """

    text: str = ""
    state: bytes = b""
    inputs: Mapping[str, float] = field(default_factory=dict)
    moved: Mapping[str, float] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    lines: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    events: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EVENTS))


def standing(connection: sqlite3.Connection) -> Standing:
    if not holds_table(connection, "standing"):
        return Standing()
    parts = dict(connection.execute("SELECT name, value FROM standing").fetchall())
    text, state, pairs = parts.get("text", ""), parts.get("state", b""), json.loads(parts.get("lines", "[]"))
    try:
        lines = {int(rep): tuple(map(str, texts)) for rep, texts in pairs}
        inputs, moved = (
            {str(name): float(value) for name, value in json.loads(parts.get(part, "{}")).items()}
            for part in ("inputs", "moved")
        )
        files = tuple((str(name), str(content)) for name, content in json.loads(parts.get("files", "[]")))
    except (AttributeError, TypeError, ValueError) as error:
        raise DamagedRowsError("the stored netlist is invalid") from error
    if not (isinstance(text, str) and isinstance(state, bytes)):
        raise DamagedRowsError("the stored netlist is invalid")
    return Standing(text=text, state=state, lines=lines, inputs=inputs, moved=moved, files=files)


def save(connection: sqlite3.Connection, wires: Standing) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    maps = {
        "lines": list(wires.lines.items()),
        "inputs": dict(wires.inputs),
        "moved": dict(wires.moved),
        "files": wires.files,
    }
    values = {"text": wires.text, "state": wires.state} | {name: json.dumps(value) for name, value in maps.items()}
    connection.executemany("INSERT OR REPLACE INTO standing VALUES (?, ?)", list(values.items()))
    insert(connection, "happenings", wires.events.select(list(EVENTS)))


def events(connection: sqlite3.Connection) -> pl.DataFrame:
    if not holds_table(connection, "happenings"):
        return pl.DataFrame(schema=EVENTS)
    return select(connection, f'SELECT {column_list(EVENTS)} FROM happenings ORDER BY "row"', EVENTS)
