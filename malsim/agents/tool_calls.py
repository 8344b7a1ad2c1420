"""Classification of an agent's calls to a memory's tools as writes, reads or deletions of objects.

The tools of MCP's reference memory are built in. For any other tool, the first verb in the tool's name determines the kind
of call, and the argument names determine the object.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

VERBS = {
    "delete": ("delete", "remove", "forget", "clear", "drop"),
    "write": ("create", "add", "write", "store", "save", "remember", "set", "update", "insert", "put", "upsert", "append",
              "claim", "correct", "edit", "record", "wire", "note"),
    "read": ("search", "read", "open", "get", "recall", "query", "list", "retrieve", "find", "push", "expand", "why", "ask",
             "fetch", "view", "lookup"),
}  # fmt: skip
NAMES = ("object", "entityName", "entity", "key", "subject", "name", "title", "path", "cell", "id", "memory_id",
         "identifier")  # fmt: skip
TEXTS = ("value", "content", "text", "observation", "memory", "body", "fact", "data", "title", "message")
QUERIES = ("query", "objective", "question", "names", "name", "key", "cell", "topic", "text", "path", "id")
REFERENCE_TOOLS = ("create_entities", "add_observations", "create_relations", "delete_entities", "delete_observations",
                   "delete_relations")  # fmt: skip
CONFIDENCES = ("confidence", "certainty", "score", "importance")


@dataclass(frozen=True)
class CallEvent:
    """Write, read, deletion or other event in a call to a memory's tool.

    `kind` is write, read, delete or, if unknown, the tool's name. `query` is the query text of a read.
    """

    kind: str
    object: str | None = None
    value: str | None = None
    belief: float | None = None
    query: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def events_of(tool: str, arguments: Mapping[str, Any], answer: str, objects: Iterable[str] = ()) -> list[CallEvent]:
    """Return the events of a call and its answer. A read may mention any of `objects`, the objects written before.

    >>> events_of("create_entities", {"entities": [{"name": "pump", "observations": ["runs"]}]}, "")
    [CallEvent(kind='write', object='pump', value='runs', belief=None, query=None, extra={})]
    >>> events = events_of("search_nodes", {"query": "is the pump on"}, "{}", ["pump", "fan"])
    >>> [(event.kind, event.object) for event in events]
    [('read', 'pump')]
    """
    if tool in REFERENCE_TOOLS:
        return list(_reference_events(tool, arguments))
    words = re.findall(r"[A-Z]?[a-z]+", tool)  # splits names such as memory_store, addNote and search-nodes into words
    kind = next((kind for word in words for kind, verbs in VERBS.items() if word.lower() in verbs), None)
    if kind == "read" or (kind is None and _first(arguments, QUERIES)):
        return _reads(arguments, answer, objects)
    if kind is None:
        return [CallEvent(tool)]
    about, text = _first(arguments, NAMES), _first(arguments, TEXTS)
    belief = next((value for name in CONFIDENCES if (value := _share(arguments.get(name))) is not None), None)
    return [CallEvent(kind, about or text, text if kind == "write" else None, belief if kind == "write" else None)]


def item_name(about: str | None, value: str | None) -> str:
    """Return a name for a written item that depends only on the item's object and text.

    >>> item_name("Pump 3", "runs")
    'm_pump_3_7529dd4a'
    """
    whole = f"{about}\0{value or ''}".encode()
    slug = re.sub(r"\W+", "_", (about or "").lower()).strip("_")[:24]
    return f"m_{slug}_{hashlib.sha256(whole).hexdigest()[:8]}"


def _reads(arguments: Mapping[str, Any], answer: str, objects: Iterable[str]) -> list[CallEvent]:
    query = _first(arguments, QUERIES) or ""
    text = f"{query}\n{answer}".lower()
    about = [name for name in objects if re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text)]
    return [CallEvent("read", name, query=query) for name in about] or [CallEvent("read", query=query)]


def _reference_events(tool: str, arguments: Mapping[str, Any]) -> Iterator[CallEvent]:
    """Yield the events of a call to MCP's reference memory."""
    kind = "delete" if tool.startswith("delete") else "write"
    for name in _list(arguments, "entityNames"):
        yield CallEvent(kind, str(name))
    for list_name, object_name, texts_name in (
        ("entities", "name", "observations"), ("observations", "entityName", "contents"),
        ("deletions", "entityName", "observations"),
    ):  # fmt: skip
        for entry in _dicts(arguments, list_name):
            for text in _list(entry, texts_name):
                yield CallEvent(kind, str(entry.get(object_name)), str(text))
    for entry in _dicts(arguments, "relations"):
        yield CallEvent(kind, str(entry.get("from")), f"{entry.get('relationType')} {entry.get('to')}")


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
