"""Reader of Recall databases and JSON archives."""

from __future__ import annotations

import base64
import binascii
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from malsim.base.errors import StoreError
from malsim.base.finite import is_number
from malsim.importers.reading.put import EDGES
from malsim.importers.reading.records import from_json
from malsim.importers.reading.source import Source
from malsim.memory.tables.connect import refusing
from malsim.memory.tables.stored_wires import Standing

UNKEPT = ("semantic_index", "dag_overlays", "program_runs", "eval_runs", "operator_runs")
_HYPEREDGES = "SELECT id, kind, title, members_json, metadata_json, created_at FROM hyperedges ORDER BY rowid"
NEWER = ("value", "summary", "lastSalientAt", "programs")  # fields that are missing from older cells


@dataclass(kw_only=True)
class Archive:
    """Content of a Recall file: cells as JSON objects in stored order, and edges identified by key.

    `wiring` is a netlist that malsim stored in the file, `left_out` counts what malsim does not import, `absent` names
    missing parts, and `unreadable` counts the rows that do not hold a JSON object.
    """

    form: str
    cells: list[dict[str, Any]] = field(default_factory=list)
    hyperedges: list[Any] = field(default_factory=list)
    edges: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EDGES))
    left_out: dict[str, int] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    unreadable: int = 0
    wiring: Standing | None = None


def read_source(source: Source) -> Archive:
    """Read a database or an archive. Raises `StoreError` if the database is damaged or the archive has no list of cells."""
    with refusing(source.path):
        archive = _archive_in(source.database, set(source.tables)) if source.is_database else _json(source)
    names = {name for cell in archive.cells for name in cell}
    archive.absent += [name for name in NEWER if name not in names]
    return archive


def _count(connection: sqlite3.Connection, table: str) -> int:
    quoted = table.replace('"', '""')
    return int(connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])  # noqa: S608  # a quoted name


def _archive_in(connection: sqlite3.Connection, tables: set[str]) -> Archive:
    archive = Archive(form="Recall database")
    stored = [text for (text,) in connection.execute("SELECT json FROM cells ORDER BY rowid")]
    archive.cells = _readable(from_json(text) for text in stored if isinstance(text, str))
    archive.unreadable = len(stored) - len(archive.cells)
    if "edges" in tables:
        rows = connection.execute("SELECT source, relation, target, weight FROM edges ORDER BY rowid").fetchall()
        archive.edges = _edges(dict(zip(EDGES, row, strict=True)) for row in rows)
    for name in UNKEPT:
        if name in tables:
            archive.left_out[name] = _count(connection, name)
    if "hyperedges" in tables:
        names = ("id", "kind", "title", "members", "metadata", "createdAt")
        for row in connection.execute(_HYPEREDGES):
            edge = dict(zip(names, row, strict=True))
            parsed = {"members": from_json(edge["members"]) or [], "metadata": from_json(edge["metadata"]) or {}}
            archive.hyperedges.append(edge | parsed)
    if WIRING in tables:
        texts = [text for (text,) in connection.execute(f"SELECT json FROM {WIRING}")]  # noqa: S608  # a constant
        archive.wiring = next((item for text in texts if (item := wiring_of(from_json(text)))), None)
    if "secrets" in tables:
        archive.left_out["secrets (never read)"] = _count(connection, "secrets")
    archive.absent = [name for name in ("edges", "hyperedges", *UNKEPT) if name not in tables]
    return archive


def _json(source: Source) -> Archive:
    document = source.object
    cells = document.get("cells")
    if not isinstance(cells, list):
        allowed = "an object with a list `cells`"
        raise StoreError("this is JSON, but not a Recall archive", where=str(source.path), allowed=allowed)
    good = _readable(cells)
    edges = (
        {"source": cell["key"], **edge}
        for cell in good if isinstance(cell.get("edgesOut"), list)
        for edge in cell["edgesOut"] if isinstance(edge, dict)
    )  # fmt: skip
    archive = Archive(form=str(document.get("schemaVersion", "JSON archive")), cells=good, edges=_edges(edges))
    archive.unreadable, archive.wiring = len(cells) - len(good), wiring_of(document.get(WIRING))
    archive.hyperedges = [item for item in document.get("hyperedges") or [] if isinstance(item, dict) and "id" in item]
    others = {name: part for name, part in document.items() if name not in ("cells", "hyperedges")}
    archive.left_out = {name: len(part) for name, part in others.items() if isinstance(part, list) and part}
    return archive


def _readable(cells: Iterable[Any]) -> list[dict[str, Any]]:
    return [cell for cell in cells if isinstance(cell, dict) and isinstance(cell.get("key"), str)]


def _edges(rows: Iterator[dict[str, Any]]) -> pl.DataFrame:
    ends = ("source", "relation", "target")
    good = [
        {**{name: edge[name].encode("utf-8", "replace").decode() for name in ends}, "weight": float(edge["weight"])}
        for edge in rows
        if all(isinstance(edge.get(name), str) for name in ends) and is_number(edge.get("weight"))
    ]
    return pl.DataFrame(good, schema=EDGES)


WIRING = "malsimWiring"  # name of the key in an archive and of the table in a database


def wiring_object(standing: Standing) -> dict[str, str]:
    """Return a standing netlist as a JSON object: its source, its state between ticks, and lines for the next push."""
    state = base64.b64encode(standing.state).decode()
    return {"text": standing.text, "state": state, "lines": json.dumps(standing.lines.get(0, ()))}


def wiring_of(given: Any) -> Standing | None:
    """Return the netlist in a wiring object, or None if the object has none. A damaged state is dropped.

    >>> wiring_of(wiring_object(Standing(text="loadrt watch names=low", state=b"1"))).state
    b'1'
    """
    if not isinstance(given, dict) or not isinstance(given.get("text"), str) or not given["text"]:
        return None
    try:
        state = base64.b64decode(given.get("state", ""), validate=True)
        lines = json.loads(given.get("lines", "[]"))
    except (binascii.Error, TypeError, ValueError, RecursionError):
        return Standing(text=given["text"])
    good = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return Standing(text=given["text"], state=state, lines={0: tuple(lines)} if good and lines else {})
