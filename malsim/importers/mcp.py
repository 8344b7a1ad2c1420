"""The MCP reference memory: JSON lines of entities with observations, and of relations; no time, writer or confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

import polars as pl

from malsim.importers.reading.columns import singles
from malsim.importers.reading.records import EXTRAS, RELATION, Options, Records, key_of, keys_of, text_of
from malsim.importers.reading.source import Source

WRITER = "unknown:mcp"
_RELATED = "relations, each a claim about its source"
_SILENT = "entities without an observation: no claim"
_ODD = "left out: no entity, relation or text"
_COUNTED = (_RELATED, _SILENT, "truncated: a last line cut short", "lines left out: not readable", _ODD)
_NAMES = ("name", "entityName", "entity_name", "id")  # the dialects of the servers that write such files
_TYPES = ("entityType", "entity_type")
_CONTENTS = ("content", "text", "observation", "value", "contents")
_RELATION_AS_JSON = '{{"from": {}, "relationType": {}, "to": {}}}'
_FROM, _TO, _RELATIONS = ("from", "from_id"), ("to", "to_id"), ("relationType", "relation_type")


def recognises(source: Source) -> bool:
    first = source.first
    if first.get("type") == "entity":
        return _first(first, _NAMES) is not None
    if first.get("type") == "relation":
        return _first(first, _FROM) is not None and _first(first, _TO) is not None
    if source.list:
        return any(isinstance(item, dict) and item.get("type") in ("entity", "relation") for item in source.list)
    return isinstance(source.object.get("entities"), list) and isinstance(source.object.get("relations"), list)


def read(source: Source, options: Options) -> Records:
    """Read one claim per observation and one per relation, in file order; the format records no contradictions."""
    counts = Counter[str]()
    cells, extras = _claims(_items(source), counts)
    counts |= {"truncated: a last line cut short": source.cut, "lines left out: not readable": source.bad}
    counts_in_order = {name: counts[name] for name in _COUNTED}
    return Records(form="an MCP memory file", cells=cells, extras=extras, counts=counts_in_order)


def _claims(records: Iterable[dict[str, Any]], counts: Counter[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    objects, titles, types = list[str](), list[str](), list[str | None]()
    relations = dict[int, tuple[str, str, str]]()
    for record in records:
        if record.get("type") == "entity" and (name := _first(record, _NAMES)) is not None:
            observations = record.get("observations")
            observations = [observations] if isinstance(observations, str | dict) else observations
            texts = _texts(observations) if isinstance(observations, list) else []
            counts[_SILENT] += not texts
            counts[_ODD] += len(observations) - len(texts) if isinstance(observations, list) else 0
            titles += texts
            objects += [name] * len(texts)
            types += [_first(record, _TYPES)] * len(texts)
        elif record.get("type") == "relation" and (ends := _ends(record)):
            relations[len(titles)] = ends
            titles.append(f"{ends[1]} {ends[2]}")
            objects.append(ends[0])
            types.append(None)
        else:
            counts[_ODD] += 1
    counts[_RELATED] += len(relations)
    keys = keys_of(objects, titles)
    for row, ends in relations.items():
        keys[row] = key_of(*ends)
    values = pl.Series([_RELATION_AS_JSON.format(*map(quoted, ends)) for ends in relations.values()], dtype=pl.String)
    extras = pl.DataFrame({"cell": [keys[row] for row in relations], "name": RELATION, "value": values}, EXTRAS)
    columns = {"key": keys, "object": objects, "title": titles}
    cells = pl.DataFrame(columns, dict.fromkeys(columns, pl.String)).with_columns(
        singles("topics", types), writer=pl.lit(WRITER)
    )
    return cells, extras


def _items(source: Source) -> Iterator[dict[str, Any]]:
    if source.first.get("type") in ("entity", "relation"):
        yield from source.records()
        return
    yield from (record for record in source.list if isinstance(record, dict))
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        yield from ({**record, "type": kind} for record in source.object.get(name, ()) if isinstance(record, dict))


def _texts(observations: list[Any]) -> list[str]:
    texts = [text for text in observations if type(text) is str and text.strip()]
    if len(texts) < len(observations):  # some servers write objects with a text and a time
        items = [_first(item, _CONTENTS) if isinstance(item, dict) else item for item in observations]
        return [text for item in items if (text := text_of(item))]
    return texts if all(map(str.isascii, texts)) else [text for item in texts if (text := text_of(item))]


def _first(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the same as `fields.first_text` for a tuple. Unpacking the tuple would add a tenth to the time of a file."""
    for name in names:
        if text := text_of(record.get(name)):
            return text
    return None


def _ends(record: dict[str, Any]) -> tuple[str, str, str] | None:
    source, relation, target = _first(record, _FROM), _first(record, _RELATIONS), _first(record, _TO)
    return (source, relation, target) if source and relation and target else None
