"""Recall's own files: databases new and old, and JSON archives; opened for reading only, taken as they are."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.errors import StoreError
from malsim.memory.importers.dates import days
from malsim.memory.importers.legacy import cell_of
from malsim.memory.importers.recall_cells import EDGES, number
from malsim.memory.tables.connect import MAGIC, refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Archive", "read"]

UNKEPT = ("hyperedges", "semantic_index", "dag_overlays", "program_runs", "eval_runs", "operator_runs")
UNPLACED = ("scope", "programs", "props")  # fields of cells that malsim has no column for
NEWER = ("value", "summary", "lastSalientAt", "programs")  # fields that older cells lack


@dataclass(kw_only=True)
class Archive:
    """What a file holds: cells as JSON objects in stored order, edges by key, the days (after 1970) of ticks on record.

    `left` counts what malsim has no place for, `absent` names what the file has not got, `unreadable` counts rows that are
    no JSON object.
    """

    form: str
    cells: list[dict[str, Any]] = field(default_factory=list)
    edges: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EDGES))
    ticks: list[float] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    unreadable: int = 0


def read(path: str | Path) -> Archive:
    """Read a database or an archive. Raises `StoreError` for what is neither, and leaves it untouched."""
    source = Path(path)
    if not source.is_file():
        raise StoreError("no such file", where=str(source))
    with source.open("rb") as file:
        is_database = file.read(len(MAGIC)) == MAGIC
    archive = _database(source) if is_database else _json(source)
    given = {name for cell in archive.cells for name in cell}
    archive.absent += [name for name in NEWER if name not in given]
    archive.left |= {f"{name} of cells": sum(bool(cell.get(name)) for cell in archive.cells) for name in UNPLACED}
    return archive


def _database(path: Path) -> Archive:
    log = Path(f"{path}-wal")
    mode = "ro" if log.exists() and log.stat().st_size else "ro&immutable=1"
    with refusing(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "cells" in tables and _columns(connection, "cells") >= {"key", "json"}:
                return _current(connection, tables)
            if "graph_nodes" in tables:
                return _legacy(connection, tables)
        finally:
            connection.close()
    raise StoreError("an SQLite file, but no database of Recall's", where=str(path))


def _count(connection: sqlite3.Connection, table: str) -> int:
    """How many rows a table of the file has."""
    quoted = table.replace('"', '""')
    return int(connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])  # noqa: S608  # a quoted name


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _current(connection: sqlite3.Connection, tables: set[str]) -> Archive:
    archive = Archive(form="Recall database")
    for (text,) in connection.execute("SELECT json FROM cells ORDER BY rowid"):
        archive.unreadable += not _add(archive.cells, text)
    if "edges" in tables:
        rows = connection.execute("SELECT source, relation, target, weight FROM edges ORDER BY rowid").fetchall()
        archive.edges = _edges(dict(zip(EDGES, row, strict=True)) for row in rows)
    if "operator_runs" in tables:
        found = [days(str(at)) for (at,) in connection.execute("SELECT created_at FROM operator_runs ORDER BY created_at")]
        archive.ticks = [day for day in found if day is not None]
    for name in UNKEPT:
        if name in tables:
            archive.left[name] = _count(connection, name)
    if "secrets" in tables:
        archive.left["secrets (never read)"] = _count(connection, "secrets")
    archive.absent = [name for name in ("edges", *UNKEPT) if name not in tables]
    return archive


def _legacy(connection: sqlite3.Connection, tables: set[str]) -> Archive:
    """The cells alone: how such files keep their edges is written nowhere, so the other tables are counted and left."""
    archive = Archive(
        form="Recall database from before 0.6", absent=["edges (how files from before 0.6 keep them is unknown)"]
    )
    kept = sorted(name for name in tables if name != "graph_nodes" and not name.startswith(("sqlite_", "cells_fts")))
    archive.left = {name: _count(connection, name) for name in kept}
    cursor = connection.execute("SELECT * FROM graph_nodes ORDER BY rowid")
    names = [column[0] for column in cursor.description]
    archive.cells = [cell_of(dict(zip(names, row, strict=True))) for row in cursor]
    return archive


def _json(path: Path) -> Archive:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise StoreError("neither an SQLite file nor JSON", where=str(path)) from error
    cells = held.get("cells") if isinstance(held, dict) else None
    if not isinstance(cells, list):
        raise StoreError("JSON, but no archive of Recall's", where=str(path), allowed="an object with a list `cells`")
    good = [cell for cell in cells if isinstance(cell, dict) and isinstance(cell.get("key"), str)]
    listed = ((cell["key"], cell.get("edgesOut")) for cell in good)
    edges = (
        {"source": key, **edge}
        for key, held in listed if isinstance(held, list)
        for edge in held if isinstance(edge, dict)
    )  # fmt: skip
    archive = Archive(form=str(held.get("schemaVersion", "JSON archive")), cells=good, edges=_edges(edges))
    archive.unreadable = len(cells) - len(good)
    runs = held.get("operatorRuns") or held.get("operator_runs") or []
    told = [days(str(run.get("createdAt", run.get("created_at")))) for run in runs if isinstance(run, dict)]
    archive.ticks = sorted(day for day in told if day is not None)
    archive.left = {name: len(part) for name, part in held.items() if name != "cells" and isinstance(part, list) and part}
    return archive


def _add(cells: list[dict[str, Any]], text: object) -> bool:
    try:
        cell = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        cell = None
    good = isinstance(cell, dict) and isinstance(cell.get("key"), str)
    if good:
        cells.append(cell)  # type: ignore[arg-type]  # told just above
    return good


def _edges(given: Iterator[dict[str, Any]]) -> pl.DataFrame:
    """Edges whose ends are texts and whose weight is a number."""
    ends = ("source", "relation", "target")
    good = [
        {**{name: edge[name].encode("utf-8", "replace").decode() for name in ends}, "weight": weight}
        for edge in given
        if all(isinstance(edge.get(name), str) for name in ends) and (weight := number(edge.get("weight"))) is not None
    ]
    return pl.DataFrame(good, schema=EDGES)
