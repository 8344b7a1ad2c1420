"""The MCP reference memory's file: an object an entity, what stands of it an observation; entities first, then relations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from malsim.importers.reading.records import RELATION
from malsim.importers.writing.cells import Cells


def write(cells: Cells, path: Path) -> dict[str, int]:
    """Write the file; counts for the report: that format knows no writer, time, confidence or supersession."""
    entities: dict[str, dict[str, Any]] = {}
    relations, left_out = [], 0
    for row in cells.memory.cells.iter_rows(named=True):
        if row["status"] != "active" or row["sensitivity"] == "secret" or row["rep"] in cells.scopes:
            left_out += 1
            continue
        name = row["object"] or row["handle"]
        kind = next(iter(row["topics"]), row["kind"])
        if relation := cells.extras.get(row["key"], {}).get(RELATION):
            relations.append({"type": "relation", **relation})
            continue
        entity = entities.setdefault(name, {"type": "entity", "name": name, "entityType": kind, "observations": []})
        if row["title"] not in entity["observations"]:
            entity["observations"].append(row["title"])
    records = [*entities.values(), *relations]
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return {
        "entities": len(entities),
        "relations": len(relations),
        "left out: superseded, annexed, secret or of a scope": left_out,
        "edges left out: that format has no evidence": cells.memory.edges.height,
        "lines of wiring left out: --as recall keeps them": cells.standing.text.count("\n"),
    }
