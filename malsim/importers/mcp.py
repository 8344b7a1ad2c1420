"""The MCP reference memory: JSON lines of entities with observations, and of relations; no time, writer or confidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from malsim.importers.reading.records import RELATION, Records, key_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

WRITER = "unknown:mcp"
_NAMES = ("name", "entityName", "entity_name", "id")  # the dialects of the servers that write such files
_TYPES = ("entityType", "entity_type")
_FROM, _TO, _RELATIONS = ("from", "from_id"), ("to", "to_id"), ("relationType", "relation_type")


def recognises(source: Source) -> bool:
    """Lines of type entity or relation, or one object with lists of both."""
    first = source.first
    if first.get("type") == "entity":
        return _first(first, _NAMES) is not None
    if first.get("type") == "relation":
        return _first(first, _FROM) is not None and _first(first, _TO) is not None
    return isinstance(source.object.get("entities"), list) and isinstance(source.object.get("relations"), list)


def read(source: Source, options: Options) -> Records:  # noqa: ARG001  # an MCP file needs no option
    """A claim an observation, and one a relation, in the order of the file; nothing there says that two contradict."""
    keys, objects, titles, topics = list[str](), list[str](), list[str](), list[list[str]]()
    extras = list[tuple[str, str, str]]()
    odd, silent, relations = 0, 0, 0
    for record in _records(source):
        if record.get("type") == "entity" and (name := _first(record, _NAMES)) is not None:
            own = [kind] if (kind := _first(record, _TYPES)) else []
            said = record.get("observations")
            texts = [text for item in said if (text := text_of(item))] if isinstance(said, list) else []
            silent += not texts
            odd += len(said) - len(texts) if isinstance(said, list) else 0
            keys += [key_of(name, text) for text in texts]
            titles += texts
            objects += [name] * len(texts)
            topics += [own] * len(texts)
        elif record.get("type") == "relation" and (ends := _ends(record)):
            keys.append(key_of(*ends))
            extras.append((keys[-1], RELATION, json.dumps(dict(zip(("from", "relationType", "to"), ends, strict=True)))))
            objects.append(ends[0])
            titles.append(f"{ends[1]} {ends[2]}")
            topics.append([])
            relations += 1
        else:
            odd += 1
    return Records.of(
        "an MCP memory file",
        {"key": keys, "object": objects, "title": titles, "topics": topics, "writer": [WRITER] * len(keys)},
        extras=extras,
        counts={
            "relations, each a claim about its source": relations,
            "entities without an observation: no claim": silent,
            "truncated: a last line cut short": source.cut,
            "lines left out: not readable": source.bad,
            "left out: no entity, relation or text": odd,
        },
    )


def _records(source: Source) -> Iterator[dict[str, Any]]:
    if source.first.get("type") in ("entity", "relation"):
        yield from source.records()
        return
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        yield from ({**record, "type": kind} for record in source.object[name] if isinstance(record, dict))


def _first(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of some fields that holds a text."""
    for name in names:
        if text := text_of(record.get(name)):
            return text
    return None


def _ends(record: dict[str, Any]) -> tuple[str, str, str] | None:
    """Source, relation and target."""
    found = (_first(record, _FROM), _first(record, _RELATIONS), _first(record, _TO))
    return None if None in found else found  # type: ignore[return-value]  # none is None
