"""Events behind the calls of a memory's tools: what was written, read or deleted, about which object.

Tools of the Model Context Protocol's reference memory are read as what they are; of any other the first verb in its name
says what a call does, and the names of its arguments say what about.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

VERBS = {
    "delete": ("delete", "remove", "forget", "clear", "drop"),
    "write": ("create", "add", "write", "store", "save", "remember", "set", "update", "insert", "put", "upsert", "append",
              "claim", "correct", "edit", "record", "wire", "note"),
    "read": ("search", "read", "open", "get", "recall", "query", "list", "retrieve", "find", "push", "expand", "why", "ask",
             "fetch", "view", "lookup"),
}  # fmt: skip
NAMES = (
    "object",
    "entityName",
    "entity",
    "key",
    "subject",
    "name",
    "title",
    "path",
    "cell",
    "id",
    "memory_id",
    "identifier",
)
TEXTS = ("value", "content", "text", "observation", "memory", "body", "fact", "data", "title", "message")
QUERIES = ("query", "objective", "question", "names", "name", "key", "cell", "topic", "text", "path", "id")
CONFIDENCES = ("confidence", "certainty", "score", "importance")


@dataclass(frozen=True)
class CallEvent:
    """Event of a call: `kind` is write, read, delete or another word; `query` is what a read asked for."""

    kind: str
    object: str | None = None
    value: str | None = None
    belief: float | None = None
    query: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def events_of(tool: str, arguments: Mapping[str, Any], answer: str, objects: Iterable[str] = ()) -> list[CallEvent]:
    """Return the events of a call and its answer. `objects` are those written so far; a read is matched against them.

    >>> events_of("create_entities", {"entities": [{"name": "pump", "observations": ["runs"]}]}, "")
    [CallEvent(kind='write', object='pump', value='runs', belief=None, query=None, extra={})]
    >>> [(one.kind, one.object) for one in events_of("search_nodes", {"query": "is the pump on"}, "{}", ["pump", "fan"])]
    [('read', 'pump')]
    """
    readers = {
        "create_entities": _entities, "add_observations": _observations, "create_relations": _relations,
        "delete_entities": _gone_entities, "delete_observations": _gone_observations, "delete_relations": _gone_relations,
    }  # fmt: skip
    if tool in readers:
        return list(readers[tool](arguments))
    kind = _kind(tool)
    if kind == "read" or (kind is None and _first(arguments, QUERIES)):
        return _reads(arguments, answer, objects)
    if kind is None:
        return [CallEvent(tool)]
    about, text = _first(arguments, NAMES), _first(arguments, TEXTS)
    belief = next((value for name in CONFIDENCES if (value := _share(arguments.get(name))) is not None), None)
    return [CallEvent(kind, about or text, text if kind == "write" else None, belief if kind == "write" else None)]


def item_name(about: str | None, value: str | None) -> str:
    """Return a name for a written item, the same for the same object and text.

    >>> item_name("Pump 3", "runs")
    'm_pump_3_7529dd4a'
    """
    whole = f"{about}\0{value or ''}".encode()
    slug = re.sub(r"\W+", "_", (about or "").lower()).strip("_")[:24]
    return f"m_{slug}_{hashlib.sha256(whole).hexdigest()[:8]}"


def _kind(tool: str) -> str | None:
    """Return the kind of event of the first verb in a tool's name: `memory_store`, `addNote`, `search-nodes`."""
    words = re.findall(r"[A-Z]?[a-z]+", tool)
    return next((kind for word in words for kind, verbs in VERBS.items() if word.lower() in verbs), None)


def _reads(arguments: Mapping[str, Any], answer: str, objects: Iterable[str]) -> list[CallEvent]:
    query = _first(arguments, QUERIES) or ""
    text = f"{query}\n{answer}".lower()
    about = [entry for entry in objects if re.search(rf"(?<!\w){re.escape(entry.lower())}(?!\w)", text)]
    return [CallEvent("read", entry, query=query) for entry in about] or [CallEvent("read", query=query)]


def _entities(arguments: Mapping[str, Any]) -> Iterator[CallEvent]:
    for entity in _dicts(arguments, "entities"):
        for text in _list(entity, "observations"):
            yield CallEvent("write", str(entity.get("name")), str(text))


def _observations(arguments: Mapping[str, Any]) -> Iterator[CallEvent]:
    for entry in _dicts(arguments, "observations"):
        for text in _list(entry, "contents"):
            yield CallEvent("write", str(entry.get("entityName")), str(text))


def _relations(arguments: Mapping[str, Any], kind: str = "write") -> Iterator[CallEvent]:
    for entry in _dicts(arguments, "relations"):
        yield CallEvent(kind, str(entry.get("from")), f"{entry.get('relationType')} {entry.get('to')}")


def _gone_relations(arguments: Mapping[str, Any]) -> Iterator[CallEvent]:
    return _relations(arguments, "delete")


def _gone_entities(arguments: Mapping[str, Any]) -> Iterator[CallEvent]:
    for name in _list(arguments, "entityNames"):
        yield CallEvent("delete", str(name))


def _gone_observations(arguments: Mapping[str, Any]) -> Iterator[CallEvent]:
    for entry in _dicts(arguments, "deletions"):
        for text in _list(entry, "observations"):
            yield CallEvent("delete", str(entry.get("entityName")), str(text))


def _first(arguments: Mapping[str, Any], names: Iterable[str]) -> str | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
            return " ".join(value)
        if isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


def _share(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1 else None


def _list(table: Mapping[str, Any], name: str) -> list[Any]:
    value = table.get(name)
    return value if isinstance(value, list) else []


def _dicts(table: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return [entry for entry in _list(table, name) if isinstance(entry, dict)]
