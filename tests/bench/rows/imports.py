"""Benchmark of the importers: time to read a table or JSON lines, relative to parsing alone."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from malsim.importers.building.bring import bring
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

RECORDS = 100_000
LIMIT = 3.0
_COLUMNS = "id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role"


def rows() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        history, lines = _history(Path(folder) / "history.db"), _lines(Path(folder) / "memory.jsonl")
        name = f"importing {RECORDS:,} records of mem0, against a bare fetchall"
        yield compare(name, partial(bring, history), partial(_fetch_all, history), limit=LIMIT, repeats=5)
        name = f"importing {RECORDS:,} records of an MCP file, against json.loads of its lines"
        yield compare(name, partial(bring, lines), partial(_load_lines, lines), limit=LIMIT, repeats=5)


def _history(path: Path) -> Path:
    random = np.random.default_rng(7)
    parts_of = random.integers(2**32, size=(RECORDS, 4)).tolist()
    kinds = random.choice(["ADD", "UPDATE", "DELETE"], RECORDS, p=[0.7, 0.25, 0.05]).tolist()
    records, names = [], ["0" * 36]
    for index, (kind, parts) in enumerate(zip(kinds, parts_of, strict=True)):
        name = f"{parts[0]:08x}-{parts[1] % 65536:04x}-4000-8000-{parts[2]:08x}{parts[3] % 65536:04x}"
        if kind == "ADD":
            names.append(name)
        new = None if kind == "DELETE" else f"Prefers the train of {index % 24:02}:{parts[1] % 60:02} when it is {parts[2]}"
        at = f"2026-03-{1 + index * 28 // RECORDS:02}T{index % 24:02}:{index % 60:02}:09.123456-08:00"
        old, changed_at = (None, None) if kind == "ADD" else ("Prefers a train", at)
        records.append((name, names[-1], old, new, kind, at, changed_at, int(new is None), None, "user"))
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"CREATE TABLE history ({_COLUMNS})")
        file.executemany(f"INSERT INTO history VALUES ({','.join('?' * len(records[0]))})", records)  # noqa: S608  # our own
        file.commit()
    return path


def _lines(path: Path) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for index in range(RECORDS):
            observations = [f"listens on port {index}", f"is owned by team {index % 97} since release {index // 7}"]
            entity = {"type": "entity", "name": f"service-{index}", "entityType": "service", "observations": observations}
            ends = {"from": f"service-{index}", "to": f"service-{index // 2}", "relationType": "writes_to"}
            file.write(json.dumps({"type": "relation", **ends} if index % 4 == 3 else entity) + "\n")
    return path


def _fetch_all(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT * FROM history").fetchall()


def _load_lines(path: Path) -> list[object]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
