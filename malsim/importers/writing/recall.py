"""Export as a Recall database or archive, in which imported fields are restored and scores have their current values."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from malsim.base.errors import UsageError
from malsim.importers.recall.cells import FLAGS, HYPEREDGES, OTHER_FIELDS
from malsim.importers.recall.files import WIRING, wiring_object
from malsim.importers.writing.cells import Cells, iso

_SCORES = {
    "conf": "stated", "uncertainty": "uncertainty", "concern": "concern", "sourceQuality": "source_quality",
    "actorCalibration": "calibration", "effective": "effective", "currencyC0": "c0", "currency": "currency",
    "salienceSeed": "salience_seed", "salience": "salience",
}  # fmt: skip
_TABLES = (
    """CREATE TABLE cells (key TEXT PRIMARY KEY, handle TEXT NOT NULL, kind TEXT NOT NULL, content_key TEXT NOT NULL,
        status TEXT NOT NULL, json TEXT NOT NULL,
        created_at TEXT GENERATED ALWAYS AS (json_extract(json, '$.createdAt')) VIRTUAL,
        updated_at TEXT GENERATED ALWAYS AS (json_extract(json, '$.updatedAt')) VIRTUAL,
        project TEXT GENERATED ALWAYS AS (json_extract(json, '$.scope.project')) VIRTUAL,
        effective REAL GENERATED ALWAYS AS (json_extract(json, '$.scores.effective')) VIRTUAL)""",
    (
        "CREATE TABLE edges (source TEXT NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL, weight REAL NOT NULL, "
        "PRIMARY KEY (source, relation, target))"
    ),
    (
        "CREATE TABLE hyperedges (id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, members_json TEXT NOT NULL, "
        "metadata_json TEXT NOT NULL, created_at TEXT NOT NULL)"
    ),
    (
        "CREATE VIRTUAL TABLE cells_fts USING fts5 (key UNINDEXED, handle, title, tags, summary, body, "
        "tokenize = 'porter unicode61')"
    ),
    "CREATE INDEX idx_cells_handle ON cells (handle)",
    "CREATE INDEX idx_cells_content ON cells (kind, content_key)",
    "CREATE INDEX idx_edges_target ON edges (target)",
)

_INSERT = "INSERT INTO cells (key, handle, kind, content_key, status, json) VALUES (?, ?, ?, ?, ?, ?)"


def write(cells: Cells, path: Path) -> dict[str, int]:
    """Write an archive if the file name ends in .json, otherwise a database. Return the counts for the report.

    Raises `UsageError` for a store with scopes.
    """
    if cells.scopes:
        given, hint = ", ".join(cells.scopes.values()), "export with --as jsonl"
        raise UsageError("this format does not support scopes", where="--as recall", given=given, hint=hint)
    objects = [_cell(row, cells) for row in cells.memory.cells.iter_rows(named=True)]
    hyperedges = list(cells.extras.get("", {}).get(HYPEREDGES, []))
    if path.suffix == ".json":
        for cell in objects:
            edges = cells.edges.get(cell["key"], ())
            cell["edgesOut"] = [dict(zip(("relation", "target", "weight"), edge, strict=True)) for edge in edges]
        archive: dict[str, Any] = {"schemaVersion": "recall.cells.export.v2", "cells": objects, "hyperedges": hyperedges}
        archive |= {WIRING: wiring_object(cells.standing)} if cells.standing.text else {}
        path.write_text(json.dumps(archive), encoding="utf-8")
    else:
        _database(cells, objects, hyperedges, path)
    silent = cells.memory.cells["stated"].null_count()
    return {
        "cells": len(objects),
        "edges": cells.memory.edges.height,
        "hyperedges": len(hyperedges),
        "lines of wiring": cells.standing.text.count("\n"),
        "note: cells without a confidence, which Recall requires": silent,
    }


def _cell(row: dict[str, Any], cells: Cells) -> dict[str, Any]:
    """Return a cell in Recall's format: the fields of its source, overwritten with the memory's current values."""
    fields = dict(cells.extras.get(row["key"], {}).get(OTHER_FIELDS, {}))
    tags, policy, provenance = (dict(fields.pop(name, {})) for name in ("tags", "policy", "provenance"))
    subjects = tags["subject"] if isinstance(tags.get("subject"), list) else []
    subjects = [row["object"], *subjects[1:]] if row["object"] else subjects
    tags |= {"topics": row["topics"], "entities": row["entities"]} | ({"subject": subjects} if subjects else {})
    dates = {name: _date(row[ours], cells.start) for name, ours in (("expiresAt", "expires"), ("reverifyAfter", "reverify"))}
    cell = {
        "scope": {"project": "default", "tenant": "local-default"}, "lineage": [], "programs": [], "props": {},
        "createdAt": _date(row["created"], cells.start), "updatedAt": _date(row["touched"], cells.start),
        **fields,
        **{name: row[name] for name in ("key", "handle", "kind", "title", "body", "stability", "status")},
        **{name: row[name] for name in ("summary", "value") if row[name] is not None},
        "owner": row["writer"],
        "scores": {name: row[ours] for name, ours in _SCORES.items() if row[ours] is not None},
        "flags": {name: row[ours] for ours, name in FLAGS.items()},
        "sourceRefs": row["source_refs"],
        "tags": tags,
        "provenance": {"producedBy": row["writer"], "signatureStatus": "unsigned", **provenance}
        | {name: row[name] for name in ("origin", "verification")},
        "policy": {**dates, **policy, "sensitivity": row["sensitivity"]},
    }  # fmt: skip
    if row["read"] is not None and "lastSalientAt" not in fields:
        cell["lastSalientAt"] = _date(row["read"], cells.start)
    return {name: value for name, value in cell.items() if value is not None}


def _date(day: float | None, start: str | None) -> str | None:
    return None if day is None else iso(day, start)


def _database(cells: Cells, objects: list[dict[str, Any]], hyperedges: list[dict[str, Any]], path: Path) -> None:
    connection = sqlite3.connect(path)
    try:
        for statement in _TABLES:
            connection.execute(statement)
        rows = [
            (cell["key"], cell["handle"], cell["kind"], f"{cell['kind']}:{' '.join(cell['title'].lower().split())}",
             cell["status"], _compact(cell)) for cell in objects
        ]  # fmt: skip
        connection.executemany(_INSERT, rows)
        edges = [(source, *edge) for source, targets in cells.edges.items() for edge in targets]
        connection.executemany("INSERT OR REPLACE INTO edges VALUES (?, ?, ?, ?)", edges)
        parts = [
            (item["id"], item.get("kind", ""), item.get("title", ""), _compact(item.get("members", [])),
             _compact(item.get("metadata", {})), item.get("createdAt", "")) for item in hyperedges
        ]  # fmt: skip
        connection.executemany("INSERT INTO hyperedges VALUES (?, ?, ?, ?, ?, ?)", parts)
        texts = [
            (cell["key"], cell["handle"], cell["title"], " ".join([*cell["tags"]["topics"], *cell["tags"]["entities"]]),
             cell.get("summary", ""), cell["body"]) for cell in objects
        ]  # fmt: skip
        connection.executemany("INSERT INTO cells_fts VALUES (?, ?, ?, ?, ?, ?)", texts)
        if cells.standing.text:
            connection.execute(f"CREATE TABLE {WIRING} (json TEXT NOT NULL)")
            wiring = _compact(wiring_object(cells.standing))
            connection.execute(f"INSERT INTO {WIRING} VALUES (?)", (wiring,))  # noqa: S608  # a constant
        connection.commit()
    finally:
        connection.close()


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
