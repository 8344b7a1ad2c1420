"""LangGraph's store in SQLite: the latest value of each key, and when it was written; nothing of what it replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from malsim.base.errors import UsageError
from malsim.importers.reading.collector import Collector
from malsim.importers.reading.fields import first_text, from_json, to_json
from malsim.importers.reading.records import Options, Records, day_of, text_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:langgraph"
_COLUMNS = ("prefix", "key", "value", "updated_at", "expires_at")
_TEXTS = ("content", "text", "memory", "data", "value")


def recognises(source: Source) -> bool:
    """A database with the table `store` of namespaces, keys and values."""
    return source.tables.get("store", frozenset()) >= {"prefix", "key", "value"}


def read(source: Source, options: Options) -> Iterator[Records]:
    """A claim a key; an update rewrote the date of creation too, so only the latest date is taken."""
    names = [name if name in source.tables["store"] else "NULL" for name in _COLUMNS]
    yield _part([], options)
    for rows in source.row_batches(f"SELECT {', '.join(names)} FROM store ORDER BY rowid"):  # noqa: S608  # our own names
        yield _part(rows, options)


def _part(rows: Sequence[tuple[Any, ...]], options: Options) -> Records:
    """The claims of some rows."""
    cells, empty = Collector(), 0
    for prefix, key, text, update, expires in rows:
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
        "left out: values that hold nothing": empty,
    }
    return cells.records("a LangGraph store", counts)


def _text_and_kind(value: Any) -> tuple[str | None, str | None]:
    """The text of a value, and the kind that LangMem gives it."""
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
