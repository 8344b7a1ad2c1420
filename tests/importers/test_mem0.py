"""Import of mem0: the history of each memory becomes a chain of claims, and the payload supplies missing writers."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from malsim.importers.building.bring import bring
from malsim.importers.reading.records import Options
from tests.importers.samples import HISTORY, counts, database

ADDED, LATER, LAST = (f"2026-03-0{day}T12:00:00+00:00" for day in (2, 5, 7))


def history(path: Path, rows: list[tuple[Any, ...]], columns: Sequence[str] = HISTORY) -> Path:
    return database(path, "history", columns, rows)


CHAIN = [
    ("a", "41", None, "one", "ADD", ADDED, None, 0, None, "user"),
    ("b", "41", "one", "two", "UPDATE", ADDED, LATER, 0, "ann", "user"),
    ("c", "42", None, "tea", "ADD", ADDED, None, 0, None, None),
    ("d", "42", "tea", None, "DELETE", ADDED, LAST, 1, None, None),
]


def test_update_supersedes_and_delete_annexes_a_claim(tmp_path: Path) -> None:
    came = bring(history(tmp_path / "history.db", CHAIN))
    cells = came.memory.cells
    assert came.start == "2026-03-02"
    assert cells.select("key", "title", "writer", "created", "status", "version").rows() == [
        ("41@1", "one", "user", 0.5, "superseded", 1),
        ("41@2", "two", "ann", 3.5, "active", 2),
        ("42@1", "tea", "unknown:mem0", 0.5, "annexed", 1),
    ]
    assert cells["successor"].to_list() == [1, None, None]
    assert cells["touched"].to_list() == [0.5, 3.5, 5.5]
    assert came.memory.edges.select("source", "relation", "target", "weight").rows() == [(1, "supersedes", 0, 0.0)]
    edges_with_disputes = bring(tmp_path / "history.db", options=Options(contradict=True)).memory.edges
    assert edges_with_disputes["relation"].to_list() == ["supersedes", "contradicts"]


def test_payload_supplies_writers_missing_from_the_history(tmp_path: Path) -> None:
    payload = {
        "results": [
            {"id": "42", "memory": "tea", "user_id": "u1", "categories": ["drinks"], "expiration_date": "2026-04-02"},
            {"id": "77", "memory": "only there", "hash": "h", "created_at": LATER, "updated_at": None, "role": "assistant"},
        ]
    }
    came = bring(history(tmp_path / "history.db", CHAIN), options=Options(payload=payload))
    cells = came.memory.cells.select("key", "writer", "topics", "expires").rows()
    assert cells[2:] == [("42@1", "u1", ["drinks"], 31.0), ("77@1", "assistant", [], None)]


def test_older_databases_and_json_files_are_imported(tmp_path: Path) -> None:
    columns = ["id", "memory_id", "prev_value", "new_value", "event", "timestamp", "is_deleted"]
    rows = [("a", "41", None, "one", "ADD", "2026-03-02 12:00:00", 0), ("b", "41", "one", "two", "UPDATE", ADDED, 0)]
    old = bring(history(tmp_path / "v1.db", rows, columns)).memory.cells
    assert old.select("title", "created", "status").rows() == [("one", 0.5, "superseded"), ("two", None, "active")]
    payload = {"id": "9", "payload": {"data": "three", "hash": "h", "created_at": ADDED, "actor_id": "bob", "user_id": "u"}}
    (tmp_path / "points.json").write_text(json.dumps([payload]), encoding="utf-8")
    assert bring(tmp_path / "points.json").memory.cells.select("key", "title", "writer").rows() == [("9@1", "three", "bob")]


def test_update_without_an_add_implies_the_old_version(tmp_path: Path) -> None:
    rows = [("b", "41", "one", "two", "UPDATE", ADDED, LATER, 0, None, None), ("x", "5", None, None, "NONE", *[None] * 5)]
    came = bring(history(tmp_path / "history.db", rows))
    assert came.memory.cells.select("title", "status").rows() == [("one", "superseded"), ("two", "active")]
    assert counts(came)["versions known only from the row that replaced them"] == "1"
    assert counts(came)["left out: events without text or of an unknown kind"] == "1"


def test_open_database_is_imported_with_its_write_ahead_log(tmp_path: Path) -> None:
    path = history(tmp_path / "history.db", CHAIN[:1])
    live = sqlite3.connect(path)
    live.execute("PRAGMA journal_mode = WAL")
    live.execute("INSERT INTO history VALUES ('z', '50', NULL, 'new', 'ADD', ?, NULL, 0, NULL, NULL)", (LATER,))
    live.commit()
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    assert before["history.db-wal"]
    assert bring(path).memory.cells["title"].to_list() == ["one", "new"]
    assert before == {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    live.close()


EVENTS = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from([None, " ", "before"]),
    st.sampled_from([None, "", "after"]),
    st.sampled_from(["ADD", "UPDATE", "DELETE", "update", "NONE"]),
    st.sampled_from([ADDED, "2 Mar 2026", None]),
    st.sampled_from([LATER, LAST, None]),
)


def one_by_one(events: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Replay the events in plain Python. Return each version's key, title and status, and whether it has a date."""
    cells: list[list[Any]] = []
    latest: dict[str, int] = {}
    version: dict[str, int] = {}

    def add(memory: str, title: str, day: str | None) -> None:
        version[memory], latest[memory] = version.get(memory, 0) + 1, len(cells)
        cells.append([f"{memory}@{version[memory]}", title, "active", day is not None])

    for memory, old, new, word, created, updated in events:
        event = word.upper()
        if event in ("UPDATE", "DELETE") and memory not in latest and old == "before":
            add(memory, old, created)
        before = latest.get(memory)
        if event in ("ADD", "UPDATE") and new == "after":
            add(memory, new, created if event == "ADD" else updated)
            if event == "UPDATE" and before is not None and cells[before][2] == "active":
                cells[before][2] = "superseded"
        elif event == "DELETE" and before is not None:
            cells[before][2] = "annexed"
    return [tuple(cell) for cell in cells]


@given(st.lists(EVENTS, min_size=1, max_size=12))
def test_versions_equal_a_plain_python_replay_of_events(events: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [(f"h{i}", *event, 0, None, None) for i, event in enumerate(events)]
        came = bring(history(Path(folder) / "history.db", rows))
    cells = came.memory.cells.select("key", "title", "status", pl.col("created").is_not_null()).rows()
    assert cells == one_by_one(events)
