"""What Recall keeps of a cell and malsim has no column for: kept beside the memory, so that it goes back as it came."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    found = [(cell["key"].encode("utf-8", "replace").decode(), BESIDE, json.dumps(_kept(cell))) for cell in cells]
    return [*found, *([("", HYPEREDGES, json.dumps(hyperedges))] if hyperedges else [])]


def _kept(cell: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: cell[name] for name in _WHOLE if name in cell}
    for name, parts in _PARTS.items():
        held = cell.get(name)
        if isinstance(held, dict):
            kept[name] = {part: held[part] for part in parts if part in held}
    return kept
