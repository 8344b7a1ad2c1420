"""Importer of LangGraph's SQLite files: latest value per key of a store, or messages and channel values of checkpoints."""

from __future__ import annotations

import struct
from typing import Any

from malsim.base.errors import UsageError
from malsim.importers.reading.records import Collector, Options, Records, day_of, first_text, from_json, text_of, to_json
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:langgraph"
_COLUMNS = ("prefix", "key", "value", "updated_at", "expires_at")
_TEXTS = ("content", "text", "memory", "data", "value")


def recognises(source: Source) -> bool:
    tables = source.tables
    return tables.get("store", frozenset()) >= {"prefix", "key", "value"} or _has_checkpoints(source)


def _has_checkpoints(source: Source) -> bool:
    return source.tables.get("checkpoints", frozenset()) >= {"thread_id", "checkpoint_id", "checkpoint"}


def read(source: Source, options: Options) -> Records:
    """Import one claim per key of a store (dated by its latest update), or per message and channel value of checkpoints."""
    if _has_checkpoints(source):
        return _threads(source)
    cells, empty = Collector(), 0
    names = [name if name in source.tables["store"] else "NULL" for name in _COLUMNS]
    for prefix, key, text, update, expires in source.rows(f"SELECT {', '.join(names)} FROM store ORDER BY rowid"):  # noqa: S608  # our own names
        value = from_json(text)
        title, kind = _text_and_kind(value)
        if title is None:
            empty += 1
            continue
        cells.add(
            f"{prefix}|{key}",
            object=f"{prefix}|{key}",
            title=title,
            body="" if value in ({"content": title}, {"text": title}, title) else to_json(value),
            writer=_writer(str(prefix), options),
            scope=text_of(prefix),
            created=day_of(update),
            expires=day_of(expires),
            topics=[kind] if kind else [],
        )
    counts = {
        "note: a dot inside a segment of a namespace cannot be told from the next segment": -1,
        "left out: empty values": empty,
    }
    return cells.records("a LangGraph store", counts)


def _text_and_kind(value: Any) -> tuple[str | None, str | None]:
    kind = text_of(value.get("kind")) if isinstance(value, dict) else None
    if kind and isinstance(value.get("content"), (dict, str)):
        value = value["content"]
    if isinstance(value, dict):
        return (first_text(value, *_TEXTS) or (to_json(value) if value else None)), kind
    return text_of(value) or (None if value in (None, "", []) else to_json(value)), kind


def _writer(prefix: str, options: Options) -> str:
    if options.writer_segment is None:
        return UNKNOWN
    parts = prefix.split(".")
    if not 0 <= options.writer_segment < len(parts):
        allowed = f"0 to {len(parts) - 1} in the namespace {prefix!r}"
        raise UsageError("no such segment", where="--writer-segment", given=options.writer_segment, allowed=allowed)
    return text_of(parts[options.writer_segment]) or UNKNOWN


def _threads(source: Source) -> Records:
    """Import each message once, dated by the first checkpoint that contains it.

    A channel's new value supersedes its previous value.
    """
    cells, internal, unreadable = Collector(), 0, 0
    latest: dict[str, tuple[str, str]] = {}
    query = "SELECT thread_id, checkpoint_ns, checkpoint FROM checkpoints ORDER BY thread_id, checkpoint_ns, checkpoint_id"
    for thread, namespace, blob in source.rows(query):
        try:
            checkpoint = unpacked(bytes(blob))
            channels, day = checkpoint["channel_values"].items(), day_of(checkpoint.get("ts"))
        except (ValueError, TypeError, KeyError, AttributeError):
            unreadable += 1
            continue
        for name, value in channels:
            origin = "|".join(part for part in (str(thread), str(namespace), str(name)) if part)
            messages = [item for item in value if isinstance(item, _Message)] if isinstance(value, list) else []
            for number, message in enumerate(messages):
                key = f"{origin}|{message.id or number}"
                if key not in cells and message.text:
                    cells.add(key, title=message.text, writer=message.writer, created=day, scope=str(thread))
            title = None if messages else _text_and_kind(value)[0]
            if title is None or str(name).startswith(("__", "branch:")):
                internal += title is not None
            elif latest.get(origin, ("", ""))[1] != title:
                key = f"{origin}|{len(cells)}"
                cells.add(key, object=origin, title=title, writer=UNKNOWN, created=day, scope=str(thread))
                if origin in latest:
                    cells.supersede(latest[origin][0], key)
                latest[origin] = key, title
    left_out = {
        "left out: values of internal channels": internal,
        "left out: checkpoints that are not MessagePack": unreadable,
    }
    return cells.records("LangGraph's checkpoints", left_out)


class _Message:
    def __init__(self, kind: str, fields: dict[str, Any]) -> None:
        content = fields.get("content")
        parts = content if isinstance(content, list) else [content]
        texts = (text_of(part.get("text") if isinstance(part, dict) else part) for part in parts)
        self.text = "\n".join(filter(None, texts))
        self.writer = first_text(fields, "name", "type") or kind
        self.id = text_of(fields.get("id"))


def unpacked(data: bytes) -> Any:
    """Unpack MessagePack written by LangGraph: messages become `_Message`, other objects become their fields.

    Raises `ValueError` for bytes that are not MessagePack.

    >>> unpacked(bytes([0x82, 0xA1, 0x61, 0x01, 0xA1, 0x62, 0x92, 0xC0, 0xC3]))
    {'a': 1, 'b': [None, True]}
    """
    value, end = _unpack(data, 0, 0)
    if end != len(data):
        raise ValueError("the data contain more than one value")
    return value


_FIXED = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_SIZED = {  # head byte: (kind of value, number of bytes in its length field)
    0xC4: ("bytes", 1), 0xC5: ("bytes", 2), 0xC6: ("bytes", 4), 0xC7: ("object", 1), 0xC8: ("object", 2),
    0xC9: ("object", 4), 0xD9: ("text", 1), 0xDA: ("text", 2), 0xDB: ("text", 4), 0xDC: ("list", 2), 0xDD: ("list", 4),
    0xDE: ("map", 2), 0xDF: ("map", 4),
}  # fmt: skip
# last head bytes of small numbers, maps and lists, and the first head byte of negative numbers
SMALL, MAPS, LISTS, NEGATIVE = 0x7F, 0x8F, 0x9F, 0xE0
OBJECTS = range(0xD4, 0xD9)  # head bytes of extension values of 1, 2, 4, 8 and 16 bytes
_DEEPEST = 200  # maximum depth of nesting


def _unpack(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """Unpack the value that starts at byte `at` and return it with the index of the byte after it."""
    if at >= len(data) or depth > _DEEPEST:
        raise ValueError("the data are truncated or nested too deeply")
    head, at = data[at], at + 1
    if head <= SMALL or head >= NEGATIVE:
        return head - 256 * (head >= NEGATIVE), at
    if head in _FIXED:
        return _FIXED[head], at
    if head in _NUMBERS:
        size = struct.calcsize(_NUMBERS[head])
        return struct.unpack(_NUMBERS[head], _cut(data, at, size))[0], at + size
    if head in OBJECTS:
        return _object(data, at, 1 << OBJECTS.index(head), depth)
    if head in _SIZED:
        kind, wide = _SIZED[head]
        count, at = int.from_bytes(_cut(data, at, wide), "big"), at + wide
    else:
        kind = "map" if head <= MAPS else "list" if head <= LISTS else "text"
        count = head & (0x1F if kind == "text" else 0x0F)
    return _several(data, at, kind, count, depth)


def _several(data: bytes, at: int, kind: str, count: int, depth: int) -> tuple[Any, int]:
    if kind == "object":
        return _object(data, at, count, depth)
    if kind in ("text", "bytes"):
        part = _cut(data, at, count)
        return (part.decode("utf-8", "replace") if kind == "text" else part), at + count
    values = []
    for _ in range(count * (1 + (kind == "map"))):
        value, at = _unpack(data, at, depth + 1)
        values.append(value)
    if kind == "list":
        return values, at
    return {str(key): value for key, value in zip(values[::2], values[1::2], strict=True)}, at


def _object(data: bytes, at: int, size: int, depth: int) -> tuple[Any, int]:
    """Unpack an extension value: a byte for the packing method, then the module, class and fields."""
    inner = _cut(data, at + 1, size)
    try:
        parts, _ = _unpack(inner, 0, depth + 1)
    except ValueError:
        return inner, at + 1 + size
    if isinstance(parts, list) and len(parts) > 2:  # noqa: PLR2004  # module, class and fields
        module, kind, fields = parts[:3]
        message = str(module).startswith("langchain_core.messages") and isinstance(fields, dict)
        return (_Message(str(kind), fields) if message else fields), at + 1 + size
    return parts, at + 1 + size


def _cut(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise ValueError("the data are truncated")
    return data[at : at + size]
