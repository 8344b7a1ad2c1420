"""Import of the MCP reference memory: dialects of the file format, and an incomplete last line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from malsim.importers.building.bring import bring
from tests.importers.samples import counts


def test_observations_and_relations_become_claims_in_file_order(tmp_path: Path) -> None:
    records = [
        {"type": "entity", "name": "billing-api", "entityType": "service", "observations": ["on 8443", "by team Rook"]},
        {"type": "entity", "name": "empty", "entityType": "service", "observations": []},
        {"type": "relation", "from": "billing-api", "to": "ledger-db", "relationType": "writes_to"},
    ]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, records)) + '\n{"type":"relation","from":"bil', encoding="utf-8")
    came = bring(path)
    assert came.memory.cells.select("object", "title", "writer", "kind", "topics").rows() == [
        ("billing-api", "on 8443", "unknown:mcp", "obs", ["service"]),
        ("billing-api", "by team Rook", "unknown:mcp", "obs", ["service"]),
        ("billing-api", "writes_to ledger-db", "unknown:mcp", "obs", []),
    ]
    assert came.memory.edges.is_empty()
    assert came.start is None
    report = counts(came)
    assert report["left out: truncated last lines"] == "1"
    assert report["left out: entities without observations"] == "1"
    assert "note: unknown:mcp is the only writer, so calibration is meaningless" in report


def test_all_spellings_of_mcp_fields_give_the_same_claims(tmp_path: Path) -> None:
    plain: list[dict[str, Any]] = [
        {"type": "entity", "name": "a", "entityType": "t", "observations": ["é"]},
        {"type": "relation", "from": "a", "to": "b", "relationType": "r"},
    ]
    results = []
    for i, name in enumerate(("name", "entityName", "id")):
        entity = {name if key == "name" else key: value for key, value in plain[0].items()}
        other = {"from": "from_id", "to": "to_id", "relationType": "relation_type"}
        relation = {other.get(key, key) if i else key: value for key, value in plain[1].items()}
        (tmp_path / f"{i}").write_text(f"\ufeff{json.dumps(entity)}\n\n{json.dumps(relation)}", encoding="utf-8")
        results.append(bring(tmp_path / f"{i}").memory.cells)
    (tmp_path / "graph").write_text(json.dumps({"entities": plain[:1], "relations": plain[1:]}), encoding="utf-8")
    results.append(bring(tmp_path / "graph").memory.cells)
    assert all(cells.equals(results[0]) for cells in results)
    assert results[0]["title"].to_list() == ["é", "r b"]
