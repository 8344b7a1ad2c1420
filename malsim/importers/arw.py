"""Importer of ARW records, from ARW's database (including its write-ahead log) or from items exported as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from malsim.importers.reading.records import (
    Collector,
    Options,
    Records,
    day_of,
    dicts,
    first_text,
    from_json,
    relation_of,
    share_of,
    text_of,
    texts_of,
    to_json,
)
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:arw"
_KINDS = {"fact": "obs", "obs": "obs", "result": "ver", "pref": "bel", "plan": "tsk", "summary": "ref"}
_STABILITY = {"long": "stable", "short": "volatile", "ephemeral": "ephemeral"}
# durability by lane; other lanes are long-lived
_LANES = {"ephemeral": "ephemeral", "short_term": "short", "episodic": "short"}
_EXTRAS = ("lane", "score", "prob", "privacy", "project_id", "source", "extra", "hash", "ttl_s")
_SECONDS = 86_400.0


def recognises(source: Source) -> bool:
    if source.is_database:
        return source.tables.get("memory_records", frozenset()) >= {"id", "kind"}
    return {"id", "agent_id", "text", "durability"} <= (source.first or next(iter(dicts(source.list)), {})).keys()


def read(source: Source, options: Options) -> Records:
    """Import each record as a claim whose confidence is ARW's trust."""
    cells, children = Collector(), list[tuple[str, str, str, float]]()
    unreadable = renamed = rated = 0
    for record in _records(source):
        key, title = str(record.get("id") or ""), _title(record)
        if not key or not title:
            unreadable += 1
            continue
        cells.add(key, title=title, **_cell(record))
        cells.add_extras(key, record, _EXTRAS)
        rated += cells[key]["stated"] is not None
        links = from_json(record.get("links"))
        if isinstance(links, dict):
            cells.edges += [(key, "derived_from", parent, 0.0) for parent in texts_of(links.get("parents"))]
            children += [(child, "derived_from", key, 0.0) for child in texts_of(links.get("children"))]
    cells.edges += children
    has_links = source.tables.get("memory_links", frozenset()) >= {"src_id", "dst_id", "rel", "weight"}
    query = "SELECT src_id, dst_id, rel, weight FROM memory_links ORDER BY rowid"
    for src, dst, rel, weight in source.rows(query) if has_links else ():
        name, default = relation_of(rel)
        strength = share_of(weight)
        cells.edges.append((str(src), name, str(dst), default if strength is None else default * strength))
        if name == "concerns" and rel != "concerns":
            cells.extras.append((str(src), f"link {dst}", to_json(rel)))
            renamed += 1
        if name == "supersedes" and dst in cells:
            cells[dst]["status"] = "superseded"
    counts = {
        "confidences taken from ARW's trust": rated,
        "links with an unknown relation, imported as concerns": renamed,
        "left out: truncated last lines": source.cut,
        "left out: records without an id or text": unreadable + source.bad,
    }
    return cells.records("ARW's records", counts)


def _records(source: Source) -> Iterable[dict[str, Any]]:
    if not source.is_database:
        return source.records() if source.document is None else dicts(source.list) or [source.first]
    names = sorted(source.tables["memory_records"] - {"embed", "embed_blob", "embed_hint"})
    columns = ", ".join(f'"{name}"' for name in names if '"' not in name)
    rows = source.rows(f"SELECT {columns} FROM memory_records ORDER BY rowid")  # noqa: S608  # quoted names
    return (dict(zip(names, row, strict=True)) for row in rows)


def _title(record: dict[str, Any]) -> str | None:
    if text := text_of(record.get("text")):
        return text
    value = from_json(record.get("value"))
    if isinstance(value, dict):
        return first_text(value, "text", "content", "value") or to_json(value)
    return text_of(value if isinstance(value, str) else record.get("value"))


def _cell(record: dict[str, Any]) -> dict[str, Any]:
    entities = texts_of(record.get("entities"))
    created = day_of(_number(record.get("ts")))
    created = day_of(_number(record.get("created"))) if created is None else created
    ttl, prob = record.get("ttl_s"), share_of(record.get("prob"))
    durability = record.get("durability") or _LANES.get(str(record.get("lane")), "long")
    kind = str(record.get("kind") or "")
    return {
        "object": first_text(record, "key") or next(iter(entities), None),
        "writer": first_text(record, "agent_id", "persona_id") or UNKNOWN,
        "stated": share_of(record.get("trust")),
        "uncertainty": None if prob is None else 1.0 - prob,
        "created": created,
        "touched": day_of(_number(record.get("updated"))),
        "expires": created + ttl / _SECONDS if created is not None and isinstance(ttl, (int, float)) else None,
        "kind": _KINDS.get(kind, "obs"),
        "stability": _STABILITY.get(str(durability), "stable"),
        "topics": [*([kind] if kind else []), *texts_of(record.get("tags")), *texts_of(record.get("keywords"))],
        "entities": entities,
    }


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) and value.isdecimal() else value
