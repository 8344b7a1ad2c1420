"""Conversion of Recall's stored cells to memory rows, with keys, handles, scores, statuses and lineage unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from malsim.base.finite import is_number
from malsim.importers.reading.dates import days
from malsim.importers.reading.put import ROW
from malsim.importers.reading.records import share_of
from malsim.memory import schema

_SCORES = {
    "stated": ("conf", 0.5), "uncertainty": ("uncertainty", 0.35), "concern": ("concern", 0.15),
    "source_quality": ("sourceQuality", 0.66), "calibration": ("actorCalibration", 1.0), "c0": ("currencyC0", 1.0),
    "currency": ("currency", 1.0), "salience_seed": ("salienceSeed", 0.5), "salience": ("salience", 0.5),
}  # fmt: skip
FLAGS = {
    "annexed": "annexed", "locked": "locked", "pinned": "pinned", "requires_review": "requiresReview",
    "allow_background_use": "allowBackgroundUse",
}  # fmt: skip
"""Recall's names of flags, keyed by malsim's names."""

# names of extras: other fields of a cell, and the hyperedges of an archive, which belong to no cell
OTHER_FIELDS, HYPEREDGES = "recall", "recall hyperedges"
_WHOLE = ("scope", "lineage", "programs", "props", "createdAt", "updatedAt", "lastSalientAt")
_PARTS = {
    "provenance": ("producedBy", "signatureStatus"),
    "tags": ("lifecycle", "quality", "subject"),
    "policy": ("expiresAt", "reverifyAfter"),
}


def rows_of(cells: Sequence[Mapping[str, Any]], *, start: float = 0.0) -> pl.DataFrame:
    """Return one row per stored cell. A missing or mistyped value becomes the default of the reference implementation.

    Dates become days after `start` (in days since 1970). A cell's object is its first subject.
    """
    return pl.DataFrame([_row(cell, start) for cell in cells], schema=ROW)


def extras_of(cells: Iterable[Mapping[str, Any]], hyperedges: list[Any]) -> list[tuple[str, str, str]]:
    """Return the fields for which malsim has no column as extras (cell, name, value), so that an export can restore them."""
    extras = [(cell["key"].encode("utf-8", "replace").decode(), OTHER_FIELDS, json.dumps(_fields(cell))) for cell in cells]
    return [*extras, *([("", HYPEREDGES, json.dumps(hyperedges))] if hyperedges else [])]


def _fields(cell: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: cell[name] for name in _WHOLE if name in cell}
    for name, parts in _PARTS.items():
        table = cell.get(name)
        if isinstance(table, dict):
            fields[name] = {part: table[part] for part in parts if part in table}
    return fields


def _row(cell: Mapping[str, Any], start: float) -> dict[str, Any]:
    names = ("scores", "flags", "provenance", "tags", "policy")
    part = {name: table if isinstance(table := cell.get(name), Mapping) else {} for name in names}
    created = _day(cell.get("createdAt"), start) or 0.0
    scores = {ours: _share(part["scores"].get(theirs), default) for ours, (theirs, default) in _SCORES.items()}
    words = {
        "kind": _word(cell.get("kind"), schema.KINDS, "obs"),
        "stability": _word(cell.get("stability"), schema.STABILITY, "stable"),
        "status": _word(cell.get("status"), schema.STATUS, "active"),
        "verification": _word(part["provenance"].get("verification"), schema.VERIFICATION, "unverified"),
        "origin": _word(part["provenance"].get("origin"), schema.ORIGIN, "llm"),
        "sensitivity": _word(part["policy"].get("sensitivity"), schema.SENSITIVITY, "private"),
    }
    key = _text(cell.get("key")) or ""
    return {
        **scores,
        **words,
        **{ours: part["flags"].get(theirs, ours == "allow_background_use") is True for ours, theirs in FLAGS.items()},
        "rep": 0,
        "key": key,
        "handle": _text(cell.get("handle")) or key,
        "writer": _text(cell.get("owner")) or _text(part["provenance"].get("producedBy")) or "unknown",
        "title": _text(cell.get("title")) or "",
        "body": _text(cell.get("body")) or "",
        "summary": _text(cell.get("summary")),
        "value": float(value) if is_number(value := cell.get("value")) else None,
        "effective": _share(part["scores"].get("effective"), scores["stated"]),
        "created": created,
        "touched": _day(cell.get("updatedAt"), start) or created,
        "read": _day(cell.get("lastSalientAt"), start),
        "object": next(iter(_texts(part["tags"].get("subject"))), None),
        "topics": _texts(part["tags"].get("topics")),
        "entities": _texts(part["tags"].get("entities")),
        "source_refs": _texts(cell.get("sourceRefs")),
        "expires": _day(part["policy"].get("expiresAt"), start),
        "reverify": _day(part["policy"].get("reverifyAfter"), start),
        "lineage": _texts(cell.get("lineage")),
    }


def _text(value: object) -> str | None:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _texts(value: object) -> list[str]:
    return [text for item in value if (text := _text(item)) is not None] if isinstance(value, list) else []


def _share(value: object, default: float) -> float:
    share = share_of(value)
    return default if share is None else share


def _word(value: object, words: Sequence[str], default: str) -> str:
    return value if isinstance(value, str) and value in words else default


def _day(value: object, start: float) -> float | None:
    return days(value, start) if isinstance(value, str) else None
