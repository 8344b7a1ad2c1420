"""Fields of foreign JSON, read only if they have the expected type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from malsim.base.finite import is_number
from malsim.importers.reading.records import text_of

_RELATIONS = {
    "supports": ("supports", 1.0), "support": ("supports", 1.0), "confirms": ("supports", 1.0),
    "contradicts": ("contradicts", -1.0), "conflicts_with": ("contradicts", -1.0), "contradict": ("contradicts", -1.0),
    "supersedes": ("supersedes", 0.0), "replaces": ("supersedes", 0.0), "corrects": ("supersedes", 0.0),
    "updates": ("supersedes", 0.0), "derived_from": ("derived_from", 0.0), "depends_on": ("depends_on", 0.0),
    "concerns": ("concerns", -0.5),
}  # fmt: skip


def relation_of(word: object) -> tuple[str, float]:
    """Return the relation that a word names, and its weight; an unknown word gives `concerns`.

    >>> relation_of("replaces"), relation_of("relates to")
    (('supersedes', 0.0), ('concerns', -0.5))
    """
    name = word.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(word, str) else ""
    return _RELATIONS.get(name, ("concerns", -0.5))


def share_of(value: object) -> float | None:
    """Return a number from 0 to 1, or None for anything else.

    >>> share_of(1), share_of(1.2), share_of("0.5"), share_of(True)
    (1.0, None, None, None)
    """
    return float(value) if is_number(value) and 0.0 <= value <= 1.0 else None


def texts_of(value: object) -> list[str]:
    """Return the texts of a list, of a JSON list, or of a comma-separated text; an object gives its name."""
    value = from_json(value) if isinstance(value, str) and value[:1] == "[" else value
    if isinstance(value, str):
        return [text for part in value.split(",") if (text := text_of(part.strip()))]
    return [text for item in value if (text := text_of(_label(item)))] if isinstance(value, list) else []


def _label(item: object) -> object:
    return next((item[name] for name in ("name", "text", "id") if name in item), None) if isinstance(item, dict) else item


def from_json(value: object) -> Any:
    """Return the value of a JSON text, None for invalid JSON, and a value that is not a text unchanged."""
    if isinstance(value, (bytes, str)):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value


def to_json(value: object) -> str:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


def dicts(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none for another value."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_text(record: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of the named fields that holds a text."""
    return next((text for name in names if (text := text_of(record.get(name)))), None)
