"""Import of files written by the real packages mem0ai and LangGraph (skipped if not installed)."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from malsim.importers.building.bring import bring

FIRST, LATER = "2026-03-02T12:00:00+00:00", "2026-03-05T12:00:00+00:00"


def real(name: str, package: str) -> Any:
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        pytest.skip(f'needs {package}: pip install -c constraints.txt -e ".[memories]"')
    return importlib.import_module(name)


def test_history_written_by_mem0_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    storage = real("mem0.memory.storage", "mem0ai")
    manager = storage.SQLiteManager(str(tmp_path / "history.db"))
    manager.add_history("41", None, "the 07:40 train", "ADD", created_at=FIRST)
    manager.add_history(
        "41", "the 07:40 train", "the 08:10 train", "UPDATE", created_at=FIRST, updated_at=LATER, role="user"
    )
    batch = {"memory_id": "42", "new_memory": "tea", "event": "ADD", "created_at": FIRST, "actor_id": "ann"}
    manager.batch_add_history([batch])
    manager.add_history("42", "tea", None, "DELETE", created_at=FIRST, updated_at=LATER, is_deleted=1)
    expected = [
        ("41@1", "the 07:40 train", "unknown:mem0", "superseded", 0.5),
        ("41@2", "the 08:10 train", "user", "active", 3.5),
        ("42@1", "tea", "ann", "annexed", 0.5),
    ]
    live = bring(tmp_path / "history.db")  # import while mem0 still has the file open
    manager.close()
    for came in (live, bring(tmp_path / "history.db")):
        assert came.memory.cells.select("key", "title", "writer", "status", "created").rows() == expected


def test_oldest_mem0_history_is_read_with_or_without_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    storage = real("mem0.memory.storage", "mem0ai")
    path = tmp_path / "history.db"
    manager = storage.SQLiteManager(str(path))
    columns = ("id", "memory_id", "old_memory", "new_memory", "new_value", "event", "created_at", "updated_at", "is_deleted")
    with manager.connection as file:
        file.execute("DROP TABLE history")
        file.execute(f"CREATE TABLE history ({', '.join(columns)})")
        row = ("a", "41", None, "tea", None, "ADD", FIRST, None, 0)
        file.execute(f"INSERT INTO history VALUES ({', '.join('?' * len(columns))})", row)  # noqa: S608  # our own
    manager.close()
    before = bring(path).memory.cells
    storage.SQLiteManager(str(path)).close()
    assert bring(path).memory.cells.equals(before)
    assert before["title"].to_list() == ["tea"]


def test_store_written_by_langgraph_is_imported(tmp_path: Path) -> None:
    sqlite = real("langgraph.store.sqlite", "langgraph-checkpoint-sqlite")
    with sqlite.SqliteStore.from_conn_string(str(tmp_path / "store.sqlite")) as store:
        store.setup()
        store.put(("memories", "u17"), "5d", {"kind": "Memory", "content": {"content": "aisle seats"}})
        store.put(("memories", "u17"), "5d", {"kind": "Memory", "content": {"content": "window seats"}})
        store.put(("memories", "u18"), "5e", {"rules": ["be brief"]})
    came = bring(tmp_path / "store.sqlite")
    cells = came.memory.cells
    assert cells["object"].to_list() == ["memories.u17|5d", "memories.u18|5e"]
    assert cells["title"][0] == "window seats"
    assert cells["created"].null_count() == 0
    assert came.start is not None
