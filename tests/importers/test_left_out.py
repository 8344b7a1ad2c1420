"""Import reports count the source data that are left out. Custom metadata is preserved."""

from __future__ import annotations

import json
from pathlib import Path

from malsim.importers.building.bring import bring

PAYLOAD = {"data": "it is open", "hash": "x", "user_id": "ann", "created_at": "2026-01-01T00:00:00+00:00", "colour": "red"}
FACT = {
    "uuid": "e1", "name": "IS", "fact": "it is open", "source_node_uuid": "valve", "target_node_uuid": "open",
    "episodes": ["p1", "p2", "p9"], "valid_at": "2026-01-01T00:00:00Z",
}  # fmt: skip


def test_custom_metadata_of_a_vector_store_is_preserved(tmp_path: Path) -> None:
    source = tmp_path / "dump.json"
    source.write_text(json.dumps({"points": [{"id": "a1", "payload": PAYLOAD}]}), encoding="utf-8")
    came = bring(source)
    assert "left out: hash of a memory" in str(came)
    assert came.extras["value"].to_list() == ['{"colour": "red"}']


def test_unused_and_missing_graphiti_episodes_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "dump.jsonl"
    episodes = [{"uuid": item, "content": item, "source_description": item} for item in ("p1", "p2", "p3")]
    source.write_text("".join(json.dumps(line) + "\n" for line in [FACT, *episodes]), encoding="utf-8")
    lines = [line.split() for line in str(bring(source)).splitlines()]
    counts = {" ".join(words[:-1]): words[-1] for words in lines if words}
    assert counts["left out: episodes that no fact refers to"] == "1"
    assert counts["left out: texts of the facts' first episodes"] == "1"
    assert counts["episodes that facts refer to but the file lacks"] == "1"
