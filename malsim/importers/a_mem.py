"""A-MEM's notes as JSON; the pickles of its experiments are refused, as reading one runs what is in it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from malsim.importers.reading.fields import Rows, dicts, encoded, texts_of
from malsim.importers.reading.records import Records, day_of, edges_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

UNKNOWN = "unknown:a-mem"
_OWN = ("retrieval_count", "evolution_history", "last_accessed", "keywords", "links")
_KEPT = ("context", "category", "retrieval_count", "last_accessed", "evolution_history")


def recognises(source: Source) -> bool:
    """Notes with a content, and at least two of the fields that only A-MEM gives them."""
    note = source.first if source.document is None else next(iter(_notes(source)), {})
    return text_of(note.get("content")) is not None and sum(name in note for name in _OWN) > 1


def read(source: Source, options: Options) -> Records:  # noqa: ARG001  # a note says all that an option could
    """A claim a note; a link counts only where it is the id of another note."""
    rows, links, extras, odd = Rows(), list[tuple[str, str]](), list[tuple[str, str, str]](), 0
    for place, note in enumerate(_notes(source)):
        title = text_of(note.get("content"))
        if title is None:
            odd += 1
            continue
        key = str(note.get("id") or f"note {place}")
        rows.add(
            key,
            title=title,
            object=text_of(note.get("category")),
            writer=UNKNOWN,
            created=_minute(note.get("timestamp")),
            topics=[*texts_of(note.get("keywords")), *texts_of(note.get("tags"))],
        )
        links += [(key, link) for link in texts_of(note.get("links"))]
        extras += [(key, name, encoded(note[name])) for name in _KEPT if note.get(name)]
    good = [(key, "concerns", link, -0.5) for key, link in links if link in rows and link != key]
    return Records.of(
        "A-MEM's notes", rows.columns, edges=edges_of(good), extras=extras,
        counts={
            "links dropped: not the id of a note": len(links) - len(good),
            "truncated: a last line cut short": source.cut,
            "left out: notes without a content": odd + source.bad,
        },
    )  # fmt: skip


def _notes(source: Source) -> Iterable[dict[str, Any]]:
    if source.document is None:
        return source.records()
    held = source.object
    if "content" in held:
        return [held]
    if isinstance(held.get("memories"), (dict, list)):
        held = held["memories"] if isinstance(held["memories"], dict) else {}
    named = ({"id": key, **note} for key, note in held.items() if isinstance(note, dict))
    return [*named] or dicts(source.list or source.object.get("memories"))


def _minute(value: Any) -> float | None:
    """A local minute as YYYYMMDDHHMM, or any other date."""
    try:
        return day_of(
            datetime.strptime(str(value), "%Y%m%d%H%M").astimezone().timestamp()
        )  # a minute of this machine's zone
    except ValueError:
        return day_of(value, local=True)
