"""Folders of Markdown notes, such as basic-memory's: one claim per observation, dated by its front matter."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from malsim.importers.reading.notes import Note, NoteFolder, NoteObservation, files, note_of
from malsim.importers.reading.records import Options, Records, day_of, relation_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:markdown"


def recognises(source: Source) -> bool:
    folder = source.path
    return folder.is_dir() and not (folder / "MEMORY.md").is_file() and next(files(folder), None) is not None


def read(source: Source, options: Options) -> Records:
    """Return a claim per observation, and an edge per relation between notes."""
    folder = NoteFolder(source.path, _read, _cell)
    dangling, count = _relate(folder)
    counts = {"relations between notes": count, "relations dropped: no note of that name": dangling}
    return folder.records("a folder of Markdown notes", counts | folder.left_out)


def _read(text: str, path: str) -> Note:
    """Read a note; a note without observations becomes one observation with its text."""
    note = note_of(text, PurePosixPath(path).stem)
    if note.observations or not note.body:
        return note
    return Note(note.name, note.header, (NoteObservation("", _first_line(note)),), note.relations, note.body)


def _first_line(note: Note) -> str:
    lines = [line.strip("# \t") for line in note.body.splitlines()]
    return next((line for line in lines if line), note.title)


def _cell(_: Path, note: Note, one: NoteObservation) -> dict[str, Any]:
    created = day_of(note.text("created") or note.text("date"), local=True)
    modified = day_of(note.text("modified"), local=True)
    values: dict[str, Any] = {
        "writer": UNKNOWN,
        "object": note.title,
        "title": one.text,
        "body": one.context if one.category else note.body,
        "kind": "obs" if one.category else "ref",
        "topics": [*([one.category] if one.category else []), *one.tags, *note.list("tags")],
    }
    return values | ({"created": created, "touched": modified} if created is not None else {})


def _relate(folder: NoteFolder) -> tuple[int, int]:
    notes = folder.notes.values()
    by_title: dict[str, list[tuple[NoteObservation, str]]] = {}
    for (title, item), key in folder.keys.items():
        by_title.setdefault(title.lower(), []).append((item, key))
    aliases = {name.lower(): note.title.lower() for note in notes for name in (note.name, note.text("permalink")) if name}
    dangling = count = 0
    for note in notes:
        own = by_title.get(note.title.lower(), [])
        for word, target in note.relations:
            name = target.lower()
            theirs = by_title.get(name) or by_title.get(aliases.get(name, ""), [])
            if not own or not theirs or theirs == own:
                dangling += 1
                continue
            count += 1
            relation, weight = relation_of(word)
            for item, key in theirs[:1] if relation == "concerns" else theirs:
                equal = next((mine for other, mine in own if other.category == item.category), own[0][1])
                folder.edges.append((equal, relation, key, weight))
                if relation == "supersedes":
                    folder[key]["status"] = "superseded"
    return dangling, count
