"""A memory of others that grows is followed as a store is; what is watched and compared is found by what is in it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from malsim.cli import main
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.history.follow import Follower
from malsim.scenario.history.judge_history import HistorySource

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = """
why = "One answer about the pump."
[[check]]
name = "undisputed"
property = "always (rivals({object}) <= 0)"
"""
HISTORY = """CREATE TABLE IF NOT EXISTS history (id TEXT, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
    created_at TEXT, updated_at TEXT, is_deleted INTEGER, actor_id TEXT, role TEXT)"""


def add_to_mem0(path: Path, day: int, value: str, *, wal: bool = False) -> sqlite3.Connection:
    """One more row of a mem0 history; with `wal` it stays in the log beside the file."""
    file = sqlite3.connect(path)
    if wal:
        file.execute("PRAGMA journal_mode = WAL")
    file.execute(HISTORY)
    date = f"2026-01-{day:02}T00:00:00"
    row = (str(day), f"m{day}", None, value, "ADD", date, date, 0, "ann", "user")
    file.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    file.commit()
    return file


def add_to_mcp(path: Path, value: str) -> None:
    """One more observation of the pump, as the server writes its file: whole, each time."""
    entity = (
        json.loads(path.read_text(encoding="utf-8"))
        if path.exists()
        else {"type": "entity", "name": "pump", "entityType": "fact"}
    )
    entity["observations"] = [*entity.get("observations", []), value]
    path.write_text(json.dumps(entity) + "\n", encoding="utf-8")


def follower(path: Path, name: str) -> Follower:
    return Follower(parse(CHECKS.format(object=name), name="checks", where="checks"), HistorySource.of(path, confidence=0.7))


def test_a_growing_file_of_an_mcp_server_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    add_to_mcp(path, "runs")
    watcher = follower(path, "pump")
    assert watcher.look() == []
    assert watcher.look() == []
    add_to_mcp(path, "stands")
    assert [(one.name, one.status) for one in watcher.look()] == [("undisputed", "fail")]
    assert watcher.look() == []
    path.unlink()
    add_to_mcp(path, "runs")
    assert [(one.name, one.status) for one in watcher.look()] == [("undisputed", "passes")]


@pytest.mark.parametrize("wal", [False, True])
def test_a_growing_history_of_mem0_is_followed(tmp_path: Path, *, wal: bool) -> None:
    path = tmp_path / "history.db"
    with closing(add_to_mem0(path, 1, "the pump runs", wal=wal)):
        text = CHECKS.format(object="m1").replace("rivals(m1) <= 0", "belief(m9) >= 0.9")
        watcher = Follower(parse(text, name="checks", where="checks"), HistorySource.of(path, confidence=0.7))
        assert watcher.look() == []
        assert list(watcher.unread) == ["undisputed"]  # there is no m9 yet
        with closing(add_to_mem0(path, 9, "the pump stands", wal=wal)):
            assert [(one.status, one.t) for one in watcher.look()] == [("fail", 8.0)]
            assert watcher.look() == []


def test_what_is_watched_or_compared_is_found_by_what_is_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history, log, checks = tmp_path / "history.db", tmp_path / "events.txt", tmp_path / "checks.toml"
    add_to_mem0(history, 1, "the pump runs").close()
    log.write_text('{"t": 1, "event": "write", "item": "m1", "object": "pump", "value": "runs", "belief": 0.7}\n'
                   '{"t": 2, "event": "read", "object": "pump"}\n', encoding="utf-8")  # fmt: skip
    checks.write_text(CHECKS.format(object="pump"), encoding="utf-8")
    assert main(["watch", str(log), "--checks", str(checks), "--once"]) == 0
    assert main(["watch", str(history), "--checks", str(checks), "--once"]) == 2  # nothing about a pump
    for path, said in ((history, "1 questions, 1 claims"), (log, "1 questions, 1 claims")):
        capsys.readouterr()
        assert main(["compare", str(path), "--laws", "majority,mal", "--confidence", "0.7"]) == 0
        assert said in capsys.readouterr().out
    assert main(["compare", str(history), "--laws", "majority,mal"]) == 2
    assert "--confidence NUMBER" in capsys.readouterr().err
