"""Importer of the MCP reference memory: entities with observations and relations, but no times, writers or confidences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from malsim.importers.reading.records import EXTRAS, RELATION, Options, Records, first_text, key_of, lists, text_of
from malsim.importers.reading.source import Source

WRITER = "unknown:mcp"
_RELATED = "relations, imported as claims about their sources"
_SILENT = "left out: entities without observations"
_ODD = "left out: neither entities, relations nor texts"
_COUNTED = (_RELATED, _SILENT, "left out: truncated last lines", "left out: unreadable lines", _ODD)
_NAMES = ("name", "entityName", "entity_name", "id")  # names that different servers use for an entity's name
_TYPES = ("entityType", "entity_type")
_CONTENTS = ("content", "text", "observation", "value", "contents")
_FROM, _TO, _RELATIONS = ("from", "from_id"), ("to", "to_id"), ("relationType", "relation_type")


def recognises(source: Source) -> bool:
    first = source.first
    if first.get("type") == "entity":
        return first_text(first, *_NAMES) is not None
    if first.get("type") == "relation":
        return first_text(first, *_FROM) is not None and first_text(first, *_TO) is not None
    if source.list:
        return any(isinstance(item, dict) and item.get("type") in ("entity", "relation") for item in source.list)
    return isinstance(source.object.get("entities"), list) and isinstance(source.object.get("relations"), list)


def read(source: Source, options: Options) -> Records:
    """Import each observation and each relation as a claim, in file order. The format does not record contradictions."""
    counts = Counter[str]()
    cells, extras = _claims(_items(source), counts)
    counts |= {"left out: truncated last lines": source.cut, "left out: unreadable lines": source.bad}
    counts_in_order = {name: counts[name] for name in _COUNTED}
    return Records(form="an MCP memory file", cells=cells, extras=extras, counts=counts_in_order)


def _claims(records: Iterable[dict[str, Any]], counts: Counter[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    objects, titles, types = list[str](), list[str](), list[str | None]()
    relations = dict[int, tuple[str, str, str]]()
    for record in records:
        if record.get("type") == "entity" and (name := first_text(record, *_NAMES)) is not None:
            observations = record.get("observations")
            observations = [observations] if isinstance(observations, str | dict) else observations
            texts = _texts(observations) if isinstance(observations, list) else []
            counts[_SILENT] += not texts
            counts[_ODD] += len(observations) - len(texts) if isinstance(observations, list) else 0
            titles += texts
            objects += [name] * len(texts)
            types += [first_text(record, *_TYPES)] * len(texts)
            continue
        source, relation, target = (first_text(record, *names) for names in (_FROM, _RELATIONS, _TO))
        if record.get("type") == "relation" and source and relation and target:
            relations[len(titles)] = source, relation, target
            titles.append(f"{relation} {target}")
            objects.append(source)
            types.append(None)
        else:
            counts[_ODD] += 1
    counts[_RELATED] += len(relations)
    keys = [key_of(object_, title) for object_, title in zip(objects, titles, strict=True)]
    for row, ends in relations.items():
        keys[row] = key_of(*ends)
    texts = [json.dumps(dict(zip(("from", "relationType", "to"), ends, strict=True))) for ends in relations.values()]
    values = pl.Series(texts, dtype=pl.String)
    extras = pl.DataFrame({"cell": [keys[row] for row in relations], "name": RELATION, "value": values}, EXTRAS)
    columns = {"key": keys, "object": objects, "title": titles}
    cells = pl.DataFrame(columns, dict.fromkeys(columns, pl.String)).with_columns(
        lists("topics", ([kind] if kind else [] for kind in types)), writer=pl.lit(WRITER)
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
    items = [first_text(item, *_CONTENTS) if isinstance(item, dict) else item for item in observations]
    return [text for item in items if (text := text_of(item))]
