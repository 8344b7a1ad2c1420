"""Owners of imported data become scopes of the store if requested, and are exported as scopes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from malsim.cli import main
from malsim.memory.store import Store

DAY = "2026-01-01T00:00:00Z"


def fact(uuid: str, group: str) -> dict[str, Any]:
    ends = {"source_node_name": "tea", "target_node_name": "hot"}
    return {"uuid": uuid, "fact": "tea is hot", "name": "IS", "group_id": group, "valid_at": DAY, "created_at": DAY, **ends}


def memory(number: str, user: str) -> dict[str, Any]:
    return {"id": number, "memory": "tea is hot", "hash": "h", "user_id": user, "created_at": DAY}


def agent(name: str) -> dict[str, Any]:
    call = {"id": f"c-{name}", "function": {"name": "core_memory_append", "arguments": json.dumps(
        {"label": f"of {name}", "content": "tea is hot"})}}  # fmt: skip
    return {"name": name, "block_ids": [], "messages": [{"created_at": DAY, "tool_calls": [call]}]}


def langgraph(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE store (prefix TEXT, key TEXT, value TEXT, updated_at TEXT)")
        rows = [(who, "tea", json.dumps({"content": "tea is hot"}), DAY) for who in ("ann", "bob")]
        file.executemany("INSERT INTO store VALUES (?, ?, ?, ?)", rows)
    file.close()


@pytest.fixture(params=["graphiti", "mem0", "letta", "langgraph"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write a source file in which ann and bob own the same fact."""
    path = tmp_path / f"{request.param}.json"
    documents: dict[str, Any] = {
        "graphiti": [fact("e1", "ann"), fact("e2", "bob")],
        "mem0": {"results": [memory("1", "ann"), memory("2", "bob")]},
        "letta": {"agents": [agent("ann"), agent("bob")], "blocks": [], "tools": []},
    }
    if request.param == "langgraph":
        langgraph(path)
    else:
        path.write_text(json.dumps(documents[request.param]))
    return path


def test_owner_becomes_a_scope_and_is_exported_as_a_scope(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "memory.sqlite")
    assert (
        main(["import", str(source), "-o", store, "--scopes"]) == main(["import", str(source), "-o", store, "--scopes"]) == 0
    )
    with Store(store, write=False) as file:
        assert file.scopes == {"ann": 1, "bob": 2}
        assert file.memory.cells["rep"].to_list() == [1, 2]
        assert file.memory.writers["rep"].to_list() == [1, 2]
        objects = file.memory.cells["object"].to_list()
        assert [file.ask(objects[0], now=1.0, scope=who).height for who in ("ann", "bob", "")][::2] == [1, 0]
    capsys.readouterr()
    assert main(["look", store]) == main(["look", store, "--scope", "bob"]) == 0
    everybodys, bobs = capsys.readouterr().out.split("last written", 1)
    assert ("no visible cells" in everybodys, "tea is hot" in bobs) == (True, True)
    assert main(["look", store, "--scope", "cid"]) == main(["why", store, "obs_1", "--scope", "cid"]) == 2
    assert "allowed: ann, bob" in capsys.readouterr().err
    assert main(["export", store, "--as", "jsonl", "-o", str(tmp_path / "out")]) == 0
    assert [json.loads(line)["scope"] for line in (tmp_path / "out").read_text().splitlines()] == ["ann", "bob"]
    assert main(["export", store, "--as", "recall", "-o", str(tmp_path / "recall.json")]) == 2


def test_import_without_scopes_is_public(source: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "memory.sqlite")
    assert main(["import", str(source), "-o", store]) == 0
    with Store(store, write=False) as file:
        assert (file.scopes, set(file.memory.cells["rep"])) == ({}, {0})
