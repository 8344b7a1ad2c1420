"""Fixtures that write Recall files from the recorded sample."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parents[1] / "vectors")
FOLDER = VECTORS / "recall" if (VECTORS / "recall").is_dir() else VECTORS
SAMPLE: dict[str, Any] = json.loads((FOLDER / "sample_recall.json").read_text(encoding="utf-8"))
TICKS = ("2026-05-12T00:00:00.000Z", "2026-05-13T00:00:00.000Z", "2026-05-31T00:00:00.000Z")


def database(path: Path, *, old: bool = False, change: Callable[[dict[str, Any]], None] | None = None) -> Path:
    """Write the sample as a Recall database. With `old`, use the format before 0.6.1, which has fewer fields."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE cells (key TEXT PRIMARY KEY, handle, kind, content_key, status, json TEXT NOT NULL)")
    connection.execute("CREATE TABLE edges (source, relation, target, weight REAL, PRIMARY KEY (source, relation, target))")
    for cell in json.loads(json.dumps(SAMPLE["cells"])):
        if change:
            change(cell)
        edges = cell.pop("edgesOut")
        for name in ("value", "programs", "summary", "policy", "tags") if old else ():
            cell.pop(name, None)
        row = (cell["key"], cell["handle"], cell["kind"], "", cell["status"], json.dumps(cell))
        connection.execute("INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?)", row)
        values = [(cell["key"], edge["relation"], edge["target"], edge["weight"]) for edge in edges]
        connection.executemany("INSERT INTO edges VALUES (?, ?, ?, ?)", values)
    if not old:
        connection.execute("CREATE TABLE operator_runs (id TEXT PRIMARY KEY, created_at TEXT)")
        connection.executemany("INSERT INTO operator_runs VALUES (?, ?)", [(at, at) for at in TICKS])
        connection.execute("CREATE TABLE secrets (alias TEXT PRIMARY KEY, ciphertext BLOB)")
        connection.execute("INSERT INTO secrets VALUES ('sec_0123456789ab', ?)", (b"the sealed words",))
    connection.commit()
    connection.close()
    return path


@pytest.fixture(scope="session")
def recall_cells() -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = SAMPLE["cells"]
    return cells


@pytest.fixture(scope="session")
def recall_database() -> Callable[..., Path]:
    return database


@pytest.fixture(scope="session")
def recall_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shared database with the sample. Use `untouched` to check that a test does not change the file."""
    return database(tmp_path_factory.mktemp("recall") / "recall.sqlite3")


@pytest.fixture
def untouched(recall_file: Path) -> Iterator[None]:
    """Fail if the test changes the Recall file or its folder."""

    def traces() -> tuple[bytes, int, list[Path]]:
        return (
            hashlib.sha256(recall_file.read_bytes()).digest(),
            recall_file.stat().st_mtime_ns,
            sorted(recall_file.parent.iterdir()),
        )

    before = traces()
    yield
    assert traces() == before
