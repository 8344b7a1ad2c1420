"""A user's own Recall files: brought in as they stand, never written to, their secrets left where they are."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from malsim.cli import main
from malsim.errors import StoreError
from malsim.memory import Memory, Rules
from malsim.memory.importers.recall import import_recall
from malsim.memory.importers.recall_verify import verify
from malsim.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VECTORS = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parents[1] / "vectors")
FOLDER = VECTORS / "recall" if (VECTORS / "recall").is_dir() else VECTORS
SAMPLE: dict[str, Any] = json.loads((FOLDER / "sample_recall.json").read_text(encoding="utf-8"))
TICKS = ("2026-05-12T00:00:00.000Z", "2026-05-13T00:00:00.000Z", "2026-05-31T00:00:00.000Z")
SECRET = "sk-" + "a1B2" * 8


def database(path: Path, *, old: bool = False, change: Callable[[dict[str, Any]], None] | None = None) -> Path:
    """The sample as the reference writes it: under `old` as before 0.6.1, with two tables and six columns."""
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


def archive(path: Path, cells: list[Any]) -> Path:
    path.write_text(json.dumps({"schemaVersion": "recall.cells.export.v1", "cells": cells}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def current(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database(tmp_path_factory.mktemp("recall") / "recall.sqlite3")


def traces(path: Path) -> tuple[bytes, int, list[Path]]:
    return hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())


@pytest.fixture(autouse=True)
def untouched(current: Path) -> Iterator[None]:
    """Whatever a test reads of Recall's stays as it was, with nothing left beside it."""
    before = traces(current)
    yield
    assert traces(current) == before


def counts(path: Path) -> dict[str, str]:
    return {item.strip(): count for item, count in import_recall(path).report.rows()}


def test_cells_come_as_they_stand(current: Path) -> None:
    came = import_recall(current)
    assert came.start == "2026-04-01"
    recorded = {cell["key"]: cell for cell in SAMPLE["cells"]}
    for cell in came.memory.cells.to_dicts():
        theirs = recorded[cell["key"]]
        assert (cell["handle"], cell["title"], cell["body"], cell["writer"], cell["status"]) == tuple(
            theirs[name] for name in ("handle", "title", "body", "owner", "status")
        )
        for ours, name in (("stated", "conf"), ("effective",) * 2, ("currency",) * 2, ("calibration", "actorCalibration")):
            assert cell[ours] == theirs["scores"][name]
    told = {
        (recorded[edge["source"]]["handle"], edge["relation"], edge["target"], edge["weight"])
        for cell in SAMPLE["cells"] for edge in cell["edgesOut"]
    }  # fmt: skip
    memory = came.memory
    handle, key = memory.cells["handle"].to_list(), memory.cells["key"].to_list()
    assert told == {
        (handle[source], relation, key[target], weight)
        for source, relation, target, weight in memory.edges.select("source", "relation", "target", "weight").rows()
    }


def test_the_report_says_what_came_and_what_did_not(current: Path) -> None:
    said = counts(current)
    assert said["cells, from a Recall database"] == "43"
    assert (said["superseded"], said["edges"], said["writers"]) == ("8", "113", "5")
    assert (said["left out: operator_runs"], said["left out: secrets (never read)"]) == ("3", "1")
    assert said["left out: props of cells"] == str(sum(bool(cell["props"]) for cell in SAMPLE["cells"]))
    assert "absent: hyperedges" in said
    assert "absent: lastSalientAt" in said


def test_a_database_its_archive_and_an_old_file_of_it_come_to_the_same(current: Path, tmp_path: Path) -> None:
    whole = import_recall(current).memory
    for path in (archive(tmp_path / "a.json", SAMPLE["cells"]), database(tmp_path / "old.sqlite3", old=True)):
        came = import_recall(path).memory
        scores = ["key", "handle", "writer", "stated", "effective", "currency", "status", "pinned", "support_mass"]
        assert came.cells.select(scores).equals(whole.cells.select(scores))
        assert came.edges.sort("source", "target", "relation").equals(whole.edges.sort("source", "target", "relation"))
    said = counts(tmp_path / "old.sqlite3")
    assert {"absent: programs", "absent: value", "absent: hyperedges"} <= said.keys()


def test_a_file_from_before_0_6_comes_without_its_edges_and_the_report_says_so(tmp_path: Path) -> None:
    path = tmp_path / "legacy.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE graph_nodes (id, kind, title, body, data_json, provenance_json, status, created_at)")
    connection.execute("CREATE TABLE graph_edges (a, b)")
    nodes = [
        (
            "n-1a2b",
            "lemma",
            "held",
            "why",
            '{"confidence": {"value": 0.8}}',
            '{"produced_by": "ann"}',
            "active",
            "2025-01-01",
        ),
        ("n-ffff", "oddity", "seen", None, "not JSON", None, "superseded", "2025-01-03"),
    ]
    connection.executemany("INSERT INTO graph_nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", nodes)
    connection.execute("INSERT INTO graph_edges VALUES ('n-1a2b', 'n-ffff')")
    connection.commit()
    connection.close()
    cells = import_recall(path).memory.cells.select("handle", "writer", "stated", "body", "status", "created")
    assert cells.rows() == [
        ("bel_1a2b", "ann", 0.8, "why", "active", 0.0),
        ("obs_ffff", "unknown", 0.5, "", "superseded", 2.0),
    ]
    said = counts(path)
    assert said["left out: graph_edges"] == "1"
    assert "absent: edges (how files from before 0.6 keep them is unknown)" in said


def test_secrets_stay_where_they_are(tmp_path: Path) -> None:
    def spoil(cell: dict[str, Any]) -> None:
        if cell["handle"] == "tsk_83fd":
            cell["body"] = f"use {SECRET} for it"
        if cell["handle"] == "rsk_9d6e":
            cell["tags"]["topics"] = [SECRET]
        if cell["handle"] == "obs_c721":
            cell["policy"]["sensitivity"], cell["body"] = "secret", "nobody is to read this"

    source, out = database(tmp_path / "recall.sqlite3", change=spoil), tmp_path / "memory.sqlite"
    came = import_recall(source)
    came.memory.save(out)
    assert counts(source)["cells with a text withheld"] == "3"
    assert "withheld" in Memory.open(out).expand("tsk_83fd").cell["body"]
    held = out.read_bytes()
    for text in (SECRET, "nobody is to read this", "the sealed words", "sec_0123456789ab"):
        assert text.encode() in source.read_bytes()
        assert text.encode() not in held
    assert Memory.open(out).mini_index("nobody read").lines == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("not JSON", "neither an SQLite file nor JSON"),
        ("[1, 2]", "no archive of Recall's"),
        ('{"cells": 3}', "no archive of Recall's"),
        (b"SQLite format 3\0" + bytes(200), "damaged"),
        (b"\xff\xfe", "neither"),
    ],
)
def test_what_is_none_of_recalls_is_refused(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=said):
        import_recall(path)
    assert path.read_bytes() == before


def test_what_is_odd_within_an_archive_is_counted_and_the_rest_comes(tmp_path: Path) -> None:
    good = {"key": "a1", "handle": "obs_00a1", "kind": "obs", "title": "one", "edgesOut": [{"relation": "supports"}, 7]}
    odd = {"key": "b2", "kind": 9, "title": None, "scores": "high", "createdAt": "soon", "edgesOut": [
        {"relation": "supports", "target": "a1", "weight": 1}, {"relation": "supports", "target": "gone", "weight": 1},
        {"relation": "likes", "target": "a1", "weight": 1}]}  # fmt: skip
    came = import_recall(archive(tmp_path / "a.json", [good, odd, 3, {"handle": "no key"}]))
    said = {item.strip(): count for item, count in came.report.rows()}
    assert said["cells left out: not readable"] == "2"
    assert said["edges left out: an end names no cell"] == "2"
    assert came.memory.cells["handle"].to_list() == ["obs_00a1", "b2"]
    assert came.memory.edges.height == 1
    empty = import_recall(archive(tmp_path / "b.json", []))
    assert empty.memory.cells.is_empty()


def real() -> list[Path]:
    return sorted(FOLDER.glob("*.sqlite3"))


@pytest.mark.parametrize("path", real(), ids=lambda path: path.stem)
def test_a_real_file_comes_whole_and_its_scores_are_what_the_preset_computes(path: Path) -> None:
    before = traces(path)
    assert import_recall(path).memory.cells.height == len(SAMPLE["cells"])
    assert verify(path).differing.is_empty()
    assert traces(path) == before


def test_recorded_scores_are_what_the_preset_computes(current: Path) -> None:
    assert verify(current).differing.is_empty()
    assert verify(FOLDER / "sample_recall.json").differing.is_empty()  # no tick is on record there


@pytest.mark.parametrize(
    ("handle", "score", "by", "named"),
    [
        ("tsk_83fd", "effective", 1e-6, {"tsk_83fd"}),
        ("dec_5e22", "effective", -1e-3, {"dec_5e22"}),  # superseded; other orders of edges come to more and to less
        ("rsk_9d6e", "currency", 1e-4, {"rsk_9d6e"}),
        ("obs_c721", "sourceQuality", -0.5, {"obs_c721"}),
    ],
)
def test_a_score_that_was_tampered_with_is_named(
    tmp_path: Path, handle: str, score: str, by: float, named: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    def tamper(cell: dict[str, Any]) -> None:
        if cell["handle"] == handle:
            cell["scores"][score] += by

    path = database(tmp_path / "recall.sqlite3", change=tamper)
    assert set(verify(path).differing["handle"]) == named
    assert main(["verify", str(path)]) == 1
    assert f"  {handle}" in capsys.readouterr().out


def test_an_edge_that_was_taken_out_shows(tmp_path: Path) -> None:
    def cut(cell: dict[str, Any]) -> None:
        if cell["handle"] == "tsk_83fd":
            cell["edgesOut"] = []

    assert "hyp_5002" in set(verify(database(tmp_path / "recall.sqlite3", change=cut)).differing["handle"])


def test_import_look_and_verify_from_the_shell(current: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "memory.sqlite")
    assert main(["import", str(current), "-o", out]) == 0
    said = capsys.readouterr().out
    assert "43 cells, 113 edges, 5 writers" in said
    assert "day 0 is 2026-04-01" in said
    assert main(["verify", str(current)]) == 0
    assert "43 cells, 3 ticks: every recorded score" in capsys.readouterr().out
    assert main(["look", out, "--query", "bodies"]) == 0
    assert "sample cell" in capsys.readouterr().out
    assert main(["look", out, "tsk_83fd"]) == 0
    said = capsys.readouterr().out
    assert "overturned by" in said
    assert "= effective" in said
    assert main(["look", out, "--at", "2026-04-04"]) == 0
    assert "<Memory: 4 cells, 7 edges, 5 writers> on day 3 (2026-04-04)" in capsys.readouterr().out
    assert main(["look", out, "--at", "400", "--set", "rules.challenge_ceiling=0.45", "--limit", "1"]) == 0
    assert "on day 400 (2027-05-06)" in capsys.readouterr().out
    assert main(["look", out, "--query", "zebra"]) == 0
    assert "holds a word of 'zebra'" in capsys.readouterr().out
    assert main(["look", out, "--at", "-1"]) == 0
    assert "no cell was there yet" in capsys.readouterr().out
    assert main(["look", out, "--at", "soon"]) == 2
    assert main(["look", out, "nothing_0000"]) == 2
    assert main(["look", str(current)]) == 2
    assert main(["verify", str(tmp_path / "gone.sqlite3")]) == 2
    assert main(["import", str(tmp_path / "gone.sqlite3"), "-o", str(tmp_path / "new.sqlite")]) == 2
    assert not (tmp_path / "new.sqlite").exists()
    with Store(out, write=False) as store:
        assert store.ticks.height == 1  # looking left no trace


def test_a_store_primes_another_from_the_shell(current: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared, own = str(tmp_path / "global.sqlite"), str(tmp_path / "project.sqlite")
    assert main(["import", str(current), "-o", shared]) == 0
    assert main(["import", shared, "-o", own]) == 0
    assert "cells new" in capsys.readouterr().out
    memory = Memory.open(own)
    assert memory.cells["writer"].unique().to_list() == ["_init"]
    assert memory.cells["stated"].max() == 0.7
    assert memory.edges.is_empty()
    assert main(["import", str(current), "-o", own]) == 2  # what stands there is not written over
    assert "holds what this memory does not" in capsys.readouterr().err
    assert Memory.open(own).cells.height == memory.cells.height


def test_evidence_by_handle_is_resolved_or_left_inert_as_the_rules_say(tmp_path: Path) -> None:
    cells: list[Any] = [
        {"key": "a1", "handle": "obs_00a1", "kind": "obs", "title": "one", "edgesOut": []},
        {"key": "b2", "handle": "obs_00b2", "kind": "obs", "title": "two",
         "edgesOut": [{"relation": "supports", "target": "obs_00a1", "weight": 1}]},
    ]  # fmt: skip
    path = archive(tmp_path / "a.json", cells)
    assert import_recall(path).memory.edges.height == 1
    assert import_recall(path, rules=Rules.recall_v5()).memory.edges.is_empty()
