"""Export of stores: imported data is written back unchanged, with the memory's current scores."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from malsim.cli import main
from malsim.importers.building.bring import bring
from malsim.importers.building.save import write
from malsim.importers.reading.source import open_source
from malsim.importers.recall.files import read_source
from malsim.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

HYPEREDGE = {"id": "hyp-1", "kind": "team", "title": "A team", "members": [{"key": "k", "role": "member", "ordinal": 0}],
             "metadata": {"note": "é"}, "createdAt": "2026-05-01T00:00:00.000Z"}  # fmt: skip


def contents(path: Path) -> tuple[dict[str, Any], list[Any]]:
    connection = sqlite3.connect(path)
    cells = {key: json.loads(text) for key, text in connection.execute("SELECT key, json FROM cells")}
    edges = sorted(connection.execute("SELECT source, relation, target, weight FROM edges"))
    connection.close()
    return cells, edges


def command(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_recall_database_is_exported_with_every_field(tmp_path: Path, recall_database: Callable[..., Path]) -> None:
    theirs, store, ours = recall_database(tmp_path / "recall.sqlite3"), tmp_path / "m.sqlite", tmp_path / "back.sqlite3"
    assert command("import", theirs, "-o", store) == 0
    assert command("export", store, "--as", "recall", "-o", ours) == 0
    assert contents(ours) == contents(theirs)
    again = bring(ours).memory
    assert again.cells.equals(bring(theirs).memory.cells)


def test_recall_archive_is_exported_with_its_hyperedges(tmp_path: Path, recall_cells: list[dict[str, Any]]) -> None:
    theirs, store, ours = tmp_path / "a.json", tmp_path / "m.sqlite", tmp_path / "b.json"
    archive = {"schemaVersion": "recall.cells.export.v2", "cells": recall_cells, "hyperedges": [HYPEREDGE]}
    theirs.write_text(json.dumps(archive), encoding="utf-8")
    assert command("import", theirs, "-o", store) == 0
    assert command("export", store, "--as", "recall", "-o", ours) == 0
    back = json.loads(ours.read_text(encoding="utf-8"))
    assert back["hyperedges"] == [HYPEREDGE]
    plain = {cell["key"]: {name: value for name, value in cell.items() if name != "edgesOut"} for cell in recall_cells}
    assert {
        cell["key"]: {name: value for name, value in cell.items() if name != "edgesOut"} for cell in back["cells"]
    } == plain
    assert command("export", store, "--as", "recall", "-o", tmp_path / "b.sqlite3") == 0
    with open_source(tmp_path / "b.sqlite3") as source:
        assert read_source(source).hyperedges == [HYPEREDGE]


def test_json_lines_export_contains_every_cell_and_edge(
    tmp_path: Path, recall_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, out = tmp_path / "m.sqlite", tmp_path / "m.jsonl"
    write(bring(recall_file), store)
    assert command("export", store, "--as", "jsonl", "-o", out) == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    memory = Memory.open(store)
    assert [line["effective"] for line in lines] == memory.cells["effective"].to_list()
    assert sum(len(line["edges"]) for line in lines) == memory.edges.height
    assert lines[0]["created"].startswith("2026-")
    assert command("export", store, "--as", "jsonl", "-o", out) == 2
    assert "the file already exists" in capsys.readouterr().err
