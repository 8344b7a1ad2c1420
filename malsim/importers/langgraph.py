"""LangGraph's store in SQLite: the latest value of each key, and when it was written; nothing of what it replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.errors import UsageError
from malsim.importers.reading.fields import Rows, decoded, encoded, first_text
from malsim.importers.reading.records import Records, day_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

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


def _part(told: Sequence[tuple[Any, ...]], options: Options) -> Records:
    """The claims of some rows."""
    rows, odd = Rows(), 0
    for prefix, key, value, updated, expires in told:
        held = decoded(value)
        title, kind = _said(held)
        if title is None:
            odd += 1
            continue
        whole = encoded(held)
        rows.add(
            f"{prefix}|{key}",
            object=f"{prefix}|{key}",
            title=title,
            body="" if held in ({"content": title}, {"text": title}, title) else whole,
            writer=_writer(str(prefix), options),
            created=day_of(updated),
            expires=day_of(expires),
            topics=[kind] if kind else [],
        )
    return Records.of(
        "a LangGraph store", rows.columns,
        counts={
            "note: a dot inside a segment of a namespace cannot be told from the next segment": -1,
            "left out: values that hold nothing": odd,
        },
    )  # fmt: skip


def _said(held: Any) -> tuple[str | None, str | None]:
    """The text of a value, and the kind that LangMem gives it."""
    kind = text_of(held.get("kind")) if isinstance(held, dict) else None
    if kind and isinstance(held.get("content"), (dict, str)):
        held = held["content"]
    if isinstance(held, dict):
        return (first_text(held, *_TEXTS) or (encoded(held) if held else None)), kind
    return text_of(held) or (None if held in (None, "", []) else encoded(held)), kind


def _writer(prefix: str, options: Options) -> str:
    if options.writer_segment is None:
        return UNKNOWN
    parts = prefix.split(".")
    if not 0 <= options.writer_segment < len(parts):
        raise UsageError(
            "no such segment", where="--writer-segment", given=options.writer_segment,
            allowed=f"0 to {len(parts) - 1} in the namespace {prefix!r}",
        )  # fmt: skip
    return text_of(parts[options.writer_segment]) or UNKNOWN
