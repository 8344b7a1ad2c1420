"""A-MEM's notes as JSON; the pickles of its experiments are refused, as reading one runs what is in it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from malsim.importers.reading.collector import Collector
from malsim.importers.reading.fields import dicts, texts_of, to_json
from malsim.importers.reading.records import Options, Records, day_of, text_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:a-mem"
_OWN = ("retrieval_count", "evolution_history", "last_accessed", "keywords", "links")
_EXTRAS = ("context", "category", "retrieval_count", "last_accessed", "evolution_history")


def recognises(source: Source) -> bool:
    """Notes with a content, and at least two of the fields that only A-MEM gives them."""
    note = source.first if source.document is None else next(iter(_notes(source)), {})
    return text_of(note.get("content")) is not None and sum(name in note for name in _OWN) > 1


def read(source: Source, options: Options) -> Records:
    """A claim a note; a link counts only where it is the id of another note."""
    cells, links, odd = Collector(), list[tuple[str, str]](), 0
    for place, note in enumerate(_notes(source)):
        title = text_of(note.get("content"))
        if title is None:
            odd += 1
            continue
        key = str(note.get("id") or f"note {place}")
        cells.add(
            key,
            title=title,
            object=text_of(note.get("category")),
            writer=UNKNOWN,
            created=_minute(note.get("timestamp")),
            topics=[*texts_of(note.get("keywords")), *texts_of(note.get("tags"))],
        )
        links += [(key, link) for link in texts_of(note.get("links"))]
        cells.extras += [(key, name, to_json(note[name])) for name in _EXTRAS if note.get(name)]
    cells.edges += [(key, "concerns", link, -0.5) for key, link in links if link in cells and link != key]
    counts = {
        "links dropped: not the id of a note": len(links) - len(cells.edges),
        "truncated: a last line cut short": source.cut,
        "left out: notes without a content": odd + source.bad,
    }
    return cells.records("A-MEM's notes", counts)


def _notes(source: Source) -> Iterable[dict[str, Any]]:
    if source.document is None:
        return source.records()
    document = source.object
    if "content" in document:
        return [document]
    if isinstance(document.get("memories"), (dict, list)):
        document = document["memories"] if isinstance(document["memories"], dict) else {}
    notes = [{"id": key, **note} for key, note in document.items() if isinstance(note, dict)]
    return notes or dicts(source.list or source.object.get("memories"))


def _minute(value: Any) -> float | None:
    """A minute of this machine's zone as YYYYMMDDHHMM, or any other date."""
    try:
        return day_of(datetime.strptime(str(value), "%Y%m%d%H%M").astimezone().timestamp())
    except ValueError:
        return day_of(value, local=True)
