"""Importer of Claude Code's memory folder: one Markdown file per fact, and the index MEMORY.md."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from malsim.importers.reading.notes import Note, NoteFolder, NoteObservation, note_of
from malsim.importers.reading.records import Options, Records
from malsim.importers.reading.source import Source

WRITER = "claude"
INDEX = "MEMORY.md"
_KINDS = {"feedback": "bel", "user": "bel", "project": "obs", "reference": "ref"}
_ITEM = re.compile(r"^\s*[-*]\s+(?P<text>.+?)\s*$")
_POINTER = re.compile(r"\]\([^)]*\.md\)|\[\[")


def recognises(source: Source) -> bool:
    return (source.path / INDEX).is_file()


def read(source: Source, options: Options) -> Records:
    """Import each file as a claim dated by its last change, and each index line without a link to a file as a claim."""
    folder = NoteFolder(source.path, _read, _cell)
    dangling = _link(folder)
    counts = {"left out: links to missing files or within one file": dangling}
    return folder.records("Claude Code's memory folder", counts | folder.left_out)


def _read(text: str, path: str) -> Note:
    """Parse the file of a fact as a note with one observation, or the index with one per line that links to no file."""
    note = note_of(text, PurePosixPath(path).stem)
    if PurePosixPath(path).name == INDEX:
        items = [match["text"] for line in note.body.splitlines() if (match := _ITEM.match(line))]
        observations = tuple(NoteObservation("index", text) for text in dict.fromkeys(items) if not _POINTER.search(text))
        return Note("MEMORY", {}, observations, (), note.body)
    title = note.text("description") or note.text("name") or note.name
    kind = note.text("metadata.type") or note.text("type")
    fact = NoteObservation("", f"{title}\n{note.body}", (kind,) if kind else ())
    return Note(
        note.name, {"title": note.text("name") or note.name, "description": title}, (fact,), note.relations, note.body
    )


def _cell(path: Path, note: Note, observation: NoteObservation) -> dict[str, Any]:
    day = path.stat().st_mtime / 86_400.0
    common = {"writer": WRITER, "object": note.title, "created": day, "touched": day}
    if observation.category:
        return common | {"title": observation.text}
    kind = next(iter(observation.tags), "")
    fields = {
        "title": note.text("description"),
        "body": note.body,
        "kind": _KINDS.get(kind, "obs"),
        "topics": list(observation.tags),
    }
    return common | fields


def _link(folder: NoteFolder) -> int:
    """Add a `concerns` edge for each link between facts and return the number of dangling links."""
    notes = folder.notes.values()
    keys = {title.lower(): key for (title, observation), key in folder.keys.items() if not observation.category}
    keys |= {note.name.lower(): keys[note.title.lower()] for note in notes if note.title.lower() in keys}
    dangling = 0
    for note in notes:
        key = keys.get(note.title.lower())
        for _, target in note.relations if key else ():
            other = keys.get(target.lower().removesuffix(".md"))
            if other is None or other == key:
                dangling += 1
            else:
                folder.edges.append((str(key), "concerns", other, -0.5))
    return dangling
