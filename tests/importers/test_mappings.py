"""Import of each sample: objects, writers, times, confidences, supersession and counts."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from malsim.base.errors import UsageError
from malsim.importers.building.assemble import assemble
from malsim.importers.building.bring import bring
from malsim.importers.reading.records import Options, Records
from malsim.memory.push.ask import ask
from tests.importers import samples
from tests.importers.samples import counts

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.importers.building.assemble import ImportedMemory


def rows(came: ImportedMemory, *columns: str) -> list[tuple[Any, ...]]:
    return came.memory.cells.select(columns).rows()


def edges(came: ImportedMemory) -> list[tuple[Any, ...]]:
    return came.memory.edges.select("source", "relation", "target", "weight").rows()


@pytest.mark.parametrize(
    ("source", "name", "target", "relation", "status"),
    [
        ("Rook", "OWNS", "ledger", "supersedes", "superseded"),
        ("Rook", "LEFT", "billing-api", "contradicts", "annexed"),
        ("Pawn", "OWNS", "billing-api", "concerns", "annexed"),
    ],
)
def test_graphiti_relation_depends_on_shared_source_and_name(
    tmp_path: Path, source: str, name: str, target: str, relation: str, status: str
) -> None:
    old = {"uuid": "a", "source_node_name": "Rook", "target_node_name": "billing-api", "name": "OWNS", "fact": "old",
           "group_id": "g", "valid_at": samples.at(1), "invalid_at": samples.at(8), "expired_at": samples.at(9)}  # fmt: skip
    ends = {"source": source, "target": target, "name": name}
    new = {"uuid": "b", "fact": "new", "group_id": "g", "valid_at": samples.at(8)} | ends
    other = new | {"uuid": "c", "group_id": "h"}
    (tmp_path / "edges.json").write_text(json.dumps({"edges": [old, new, other]}), encoding="utf-8")
    came = bring(tmp_path / "edges.json")
    assert [edge[:3] for edge in edges(came)] == [(1, relation, 0)]
    assert came.memory.cells["status"].to_list() == [status, "active", "active"]
    assert counts(came)["edges that ceased to be valid"] == "1"


def test_graphiti_facts_keep_their_times_and_episodes(tmp_path: Path) -> None:
    came = bring(samples.graphiti(tmp_path))
    assert rows(came, "key", "object", "writer", "status") == [
        ("e1", "Rook|OWNS", "wiki", "superseded"),
        ("e2", "Rook|OWNS", "unknown:graphiti", "active"),
        ("ep9", None, "unknown:graphiti", "active"),
    ]
    first = came.memory.cells.row(0, named=True)
    assert (round(first["created"]), round(first["touched"])) == (0, 2)
    assert round(first["valid_to"]) == 7
    titles = [ask(came.memory, "Rook|OWNS", now=20.0, at=day).row(0, named=True)["title"] for day in (3.0, 12.0)]
    assert titles == ["Team Rook owns billing-api", "Team Rook owns the ledger"]
    assert edges(came) == [(2, "supports", 0, 1.0), (1, "supersedes", 0, 0.0)]
    extras = dict(came.extras.filter(came.extras["cell"] == "e1").select("name", "value").rows())
    assert json.loads(extras["expired_at"]) == samples.at(9)


def test_arw_records_and_links_are_imported(tmp_path: Path) -> None:
    came = bring(samples.arw(tmp_path))
    assert came.start == "2026-01-01"
    assert rows(came, "object", "title", "writer", "stated", "stability", "created") == [
        ("nas", "Backups run nightly", "scout", 0.9, "stable", 0.0),
        ("backup.time", "Backups run at 02:00", "rover", 0.8, "volatile", 1.0),
    ]
    assert came.memory.cells["uncertainty"].to_list() == pytest.approx([0.07, 0.3])
    assert came.memory.cells["expires"].to_list() == [None, pytest.approx(1 + 900 / 86_400)]
    assert edges(came) == [(1, "derived_from", 0, 0.0), (1, "supports", 0, 0.5), (0, "concerns", 1, -0.5)]
    assert counts(came)["confidences taken from ARW's trust"] == "2"


def test_langgraph_writer_is_taken_from_a_namespace_segment(tmp_path: Path) -> None:
    source = samples.langgraph(tmp_path)
    came = bring(source, options=Options(writer_segment=1))
    assert rows(came, "object", "title", "writer", "topics") == [
        ("memories.u17|5d", "Prefers aisle seats", "u17", ["Memory"]),
        ("memories.u18|5e", '{"rules": ["be brief"], "rating": 4}', "u18", []),
    ]
    assert bring(source).memory.writers["writer"].to_list() == ["unknown:langgraph"]
    with pytest.raises(UsageError, match="0 to 1"):
        bring(source, options=Options(writer_segment=2))


def test_letta_writes_have_dates_and_block_lines_have_none(tmp_path: Path) -> None:
    came = bring(samples.letta(tmp_path))
    assert rows(came, "object", "title", "writer", "status") == [
        ("human", "Name: Ines.", "helper", "active"),
        ("human", "Works nights.", "helper", "superseded"),
        ("human", "Works days.", "helper", "active"),
        ("human", "Likes tea.", "helper", "active"),
    ]
    assert edges(came) == [(2, "supersedes", 1, 0.0)]
    assert came.memory.cells["created"].is_null().to_list() == [False, False, False, True]
    old = {"name": "sam", "core_memory": [{"label": "persona", "value": "A\n\nB"}], "messages": [], "agent_type": "x"}
    (tmp_path / "old.af").write_text(json.dumps(old), encoding="utf-8")
    assert rows(bring(tmp_path / "old.af"), "title", "writer") == [("A", "sam"), ("B", "sam")]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory", {"command": "delete", "path": "/memories/human"}),
        ("memory_rethink", {"label": "human", "new_memory": ""}),
    ],
)
def test_cells_deleted_in_letta_have_the_status_annexed(name: str, arguments: dict[str, str], tmp_path: Path) -> None:
    path = samples.letta(tmp_path)
    document = json.loads(path.read_text())
    call = {"id": "c6", "function": {"name": name, "arguments": json.dumps(arguments)}}
    document["agents"][0]["messages"].append({"id": "m6", "created_at": samples.at(6), "tool_calls": [call]})
    document["blocks"] = []
    path.write_text(json.dumps(document), encoding="utf-8")
    assert rows(bring(path), "title", "status", "annexed") == [
        ("Name: Ines.", "annexed", True), ("Works nights.", "superseded", False), ("Works days.", "annexed", True),
    ]  # fmt: skip


def test_claude_code_memory_folder_is_imported(tmp_path: Path) -> None:
    came = bring(samples.claude_code(tmp_path))
    assert rows(came, "object", "title", "writer", "kind") == [
        ("MEMORY", "Tests run with make check", "claude", "obs"),
        ("port", "billing-api listens on 8443", "claude", "obs"),
        ("style", "Short sentences", "claude", "bel"),
    ]
    assert edges(came) == [(1, "concerns", 2, -0.5)]
    assert came.memory.cells["created"].null_count() == 0


def test_colliding_handles_are_lengthened() -> None:
    keys = ("36779", "88362")  # the hashes of these two keys share their first eight digits
    rows = pl.DataFrame({"key": ["1", *keys], "title": ["a", "b", "c"], "writer": ["w"] * 3})
    cells = assemble(Records(form="test", cells=rows)).memory.cells
    short, long = cells["handle"][1:]
    assert (len(short), len(long)) == (len("obs_") + 8, len("obs_") + 12)
    assert long.startswith(short)


def test_empty_arw_database_becomes_an_empty_memory(tmp_path: Path) -> None:
    file = sqlite3.connect(tmp_path / "arw.db")
    file.execute("CREATE TABLE memory_records (id TEXT, kind TEXT, text TEXT)")
    file.close()
    came = bring(tmp_path / "arw.db")
    assert (came.memory.height, came.start) == (0, None)
