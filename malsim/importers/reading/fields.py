"""Fields of other people's JSON, taken only where they are what they should be."""

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
    """The relation that a word names, and its weight; any other word only says that one concerns the other.

    >>> relation_of("replaces"), relation_of("relates to")
    (('supersedes', 0.0), ('concerns', -0.5))
    """
    name = word.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(word, str) else ""
    return _RELATIONS.get(name, ("concerns", -0.5))


def share_of(value: object) -> float | None:
    """A number from 0 to 1; None for anything else.

    >>> share_of(1), share_of(1.2), share_of("0.5"), share_of(True)
    (1.0, None, None, None)
    """
    return float(value) if is_number(value) and 0.0 <= value <= 1.0 else None


def texts_of(value: object) -> list[str]:
    """The texts in a list, or in a text that holds a JSON list, or that lists them with commas; objects by their name."""
    value = from_json(value) if isinstance(value, str) and value[:1] == "[" else value
    if isinstance(value, str):
        return [text for part in value.split(",") if (text := text_of(part.strip()))]
    return [text for item in value if (text := text_of(_label(item)))] if isinstance(value, list) else []


def _label(item: object) -> object:
    return next((item[name] for name in ("name", "text", "id") if name in item), None) if isinstance(item, dict) else item


def from_json(value: object) -> Any:
    """A JSON text's value; None where it is no JSON, and what is no text as it is."""
    if isinstance(value, (bytes, str)):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value


def to_json(value: object) -> str:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


def dicts(value: object) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_text(record: Mapping[str, Any], *names: str) -> str | None:
    """The first of some fields that holds a text."""
    return next((text for name in names if (text := text_of(record.get(name)))), None)
