"""What Recall keeps of a cell and malsim has no column for: kept beside the memory, so that it goes back as it came."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["BESIDE", "HYPEREDGES", "beside"]

BESIDE, HYPEREDGES = "recall", "recall hyperedges"  # the latter of no cell
_WHOLE = ("scope", "lineage", "programs", "props", "createdAt", "updatedAt", "lastSalientAt")
_PARTS = {
    "provenance": ("producedBy", "signatureStatus"),
    "tags": ("lifecycle", "quality", "subject"),
    "policy": ("expiresAt", "reverifyAfter"),
}


def beside(cells: Iterable[Mapping[str, Any]], hyperedges: list[Any]) -> list[tuple[str, str, str]]:
    """Extras (cell, name, value) of cells and hyperedges as JSON objects."""
    extras = [(cell["key"].encode("utf-8", "replace").decode(), BESIDE, json.dumps(_fields(cell))) for cell in cells]
    return [*extras, *([("", HYPEREDGES, json.dumps(hyperedges))] if hyperedges else [])]


def _fields(cell: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: cell[name] for name in _WHOLE if name in cell}
    for name, parts in _PARTS.items():
        table = cell.get(name)
        if isinstance(table, dict):
            fields[name] = {part: table[part] for part in parts if part in table}
    return fields
