"""Import of Recall files: cells are imported unchanged, the files are only read, and secrets are left out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from malsim.base.errors import StoreError
from malsim.importers.building.bring import bring
from malsim.memory import Memory, tick
from tests.importers.samples import counts

pytestmark = pytest.mark.usefixtures("untouched")
SECRET = "sk-" + "a1B2" * 8


def archive(path: Path, cells: list[Any]) -> Path:
    path.write_text(json.dumps({"schemaVersion": "recall.cells.export.v1", "cells": cells}), encoding="utf-8")
    return path


def test_recall_cells_are_imported_unchanged(recall_file: Path, recall_cells: list[dict[str, Any]]) -> None:
    came = bring(recall_file)
    assert came.start == "2026-04-01"
    recorded = {cell["key"]: cell for cell in recall_cells}
    for cell in came.memory.cells.to_dicts():
        theirs = recorded[cell["key"]]
        assert (cell["handle"], cell["title"], cell["body"], cell["writer"], cell["status"]) == tuple(
            theirs[name] for name in ("handle", "title", "body", "owner", "status")
        )
        for ours, name in (("stated", "conf"), ("effective",) * 2, ("currency",) * 2, ("calibration", "actorCalibration")):
            assert cell[ours] == theirs["scores"][name]
    expected = {
        (recorded[edge["source"]]["handle"], edge["relation"], edge["target"], edge["weight"])
        for cell in recall_cells for edge in cell["edgesOut"]
    }  # fmt: skip
    memory = came.memory
    handle, key = memory.cells["handle"].to_list(), memory.cells["key"].to_list()
    assert expected == {
        (handle[source], relation, key[target], weight)
        for source, relation, target, weight in memory.edges.select("source", "relation", "target", "weight").rows()
    }


def test_report_counts_imported_and_left_out_items(recall_file: Path, recall_cells: list[dict[str, Any]]) -> None:
    report = counts(bring(recall_file))
    assert report["cells, from a Recall database"] == "43"
    assert (report["superseded"], report["edges"], report["writers"]) == ("8", "113", "5")
    assert (report["left out: operator_runs"], report["left out: secrets (never read)"]) == ("3", "1")
    assert report["standing programs"] == str(sum("program" in cell["props"] for cell in recall_cells))
    assert "absent: hyperedges" in report
    assert "absent: lastSalientAt" in report


def test_database_archive_and_old_file_give_the_same_memory(
    recall_file: Path, tmp_path: Path, recall_cells: list[dict[str, Any]], recall_database: Callable[..., Path]
) -> None:
    whole = bring(recall_file).memory
    for path in (archive(tmp_path / "a.json", recall_cells), recall_database(tmp_path / "old.sqlite3", old=True)):
        came = bring(path).memory
        scores = ["key", "handle", "writer", "stated", "effective", "currency", "status", "pinned", "support_mass"]
        assert came.cells.select(scores).equals(whole.cells.select(scores))
        assert came.edges.sort("source", "target", "relation").equals(whole.edges.sort("source", "target", "relation"))
    report = counts(bring(tmp_path / "old.sqlite3"))
    assert {"absent: programs", "absent: value", "absent: hyperedges"} <= report.keys()


def test_secrets_are_not_imported(tmp_path: Path, recall_database: Callable[..., Path]) -> None:
    def add_secrets(cell: dict[str, Any]) -> None:
        if cell["handle"] == "tsk_83fd":
            cell["body"] = f"use {SECRET} for it"
        if cell["handle"] == "rsk_9d6e":
            cell["tags"]["topics"] = [SECRET]
        if cell["handle"] == "obs_c721":
            cell["policy"]["sensitivity"], cell["body"] = "secret", "nobody is to read this"

    source, out = recall_database(tmp_path / "recall.sqlite3", change=add_secrets), tmp_path / "memory.sqlite"
    came = bring(source)
    came.memory.save(out)
    assert counts(came)["cells with withheld texts"] == "3"
    assert "withheld" in Memory.open(out).expand("tsk_83fd").cell["body"]
    content = out.read_bytes()
    for text in (SECRET, "nobody is to read this", "the sealed words", "sec_0123456789ab"):
        assert text.encode() in source.read_bytes()
        assert text.encode() not in content
    assert Memory.open(out).mini_index("nobody read").lines == []


def test_write_ahead_log_is_imported_and_not_removed(tmp_path: Path, recall_database: Callable[..., Path]) -> None:
    source = recall_database(tmp_path / "recall.sqlite3")
    other = sqlite3.connect(source)
    other.execute("UPDATE cells SET json = replace(json, 'sample cell 5 ', 'later words ')")
    other.commit()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.endswith("-shm")}
    assert before["recall.sqlite3-wal"]
    titles = bring(source).memory.cells["title"]
    assert titles.str.starts_with("later words").sum() == 1
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.endswith("-shm")}
    other.close()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("not JSON", "not a memory in a known format"),
        ("[1, 2]", "not a memory in a known format"),
        ('{"cells": 3}', "not a Recall archive"),
        (b"SQLite format 3\0" + bytes(200), "damaged"),
        (b"\xff\xfe", "UTF-16"),
    ],
)
def test_file_that_is_not_a_recall_file_is_refused(tmp_path: Path, content: str | bytes, problem: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=problem):
        bring(path)
    assert path.read_bytes() == before


def test_unreadable_parts_of_an_archive_are_counted(tmp_path: Path) -> None:
    good = {"key": "a1", "handle": "obs_00a1", "kind": "obs", "title": "one", "edgesOut": [{"relation": "supports"}, 7]}
    odd = {"key": "b2", "kind": 9, "title": None, "scores": "high", "createdAt": "soon", "edgesOut": [
        {"relation": "supports", "target": "a1", "weight": 1}, {"relation": "supports", "target": "gone", "weight": 1},
        {"relation": "likes", "target": "a1", "weight": 1}]}  # fmt: skip
    came = bring(archive(tmp_path / "a.json", [good, odd, 3, {"handle": "no key"}]))
    assert counts(came)["left out: unreadable cells"] == "2"
    assert counts(came)["left out: edges with an unknown cell or relation"] == "2"
    assert came.memory.cells["handle"].to_list() == ["obs_00a1", "b2"]
    assert came.memory.edges.height == 1
    about = good | {"tags": {"subject": ["pump", "valve"], "topics": ["works"]}}
    assert bring(archive(tmp_path / "c.json", [about])).memory.cells.select("object", "topics").rows() == [
        ("pump", ["works"])
    ]
    empty = bring(archive(tmp_path / "b.json", []))
    assert empty.memory.cells.is_empty()


def test_edge_target_may_be_given_by_its_handle(tmp_path: Path) -> None:
    cells: list[Any] = [
        {"key": "a1", "handle": "obs_00a1", "kind": "obs", "title": "one", "edgesOut": []},
        {"key": "b2", "handle": "obs_00b2", "kind": "obs", "title": "two",
         "edgesOut": [{"relation": "supports", "target": "obs_00a1", "weight": 1}]},
    ]  # fmt: skip
    path = archive(tmp_path / "a.json", cells)
    assert bring(path).memory.edges.select("source", "target").rows() == [(1, 0)]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["superseded", "9999-12-31"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["conf", "topics", "pinned"]), inner, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = ("handle", "kind", "title", "value", "scores", "flags", "lineage", "tags", "policy", "createdAt", "status")
TARGETS = st.fixed_dictionaries(
    {"relation": st.sampled_from(["supports", "supersedes"]), "target": st.sampled_from(["a", "b"]), "weight": ANYTHING}
)
CELLS = st.builds(
    lambda key, fields, edges: fields | {"key": key, "edgesOut": edges},
    st.sampled_from(["a", "b", "", "\ud800"]),
    st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6),
    st.lists(TARGETS, max_size=2) | ANYTHING,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CELLS, max_size=4))
def test_any_imported_archive_can_be_saved(tmp_path: Path, cells: list[Any]) -> None:
    came = bring(archive(tmp_path / "a.json", cells)).memory
    (tmp_path / "m.sqlite").unlink(missing_ok=True)
    tick(came, 500.0).save(tmp_path / "m.sqlite")
    assert Memory.open(tmp_path / "m.sqlite").cells.height == len({cell["key"] for cell in cells})
