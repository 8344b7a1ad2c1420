"""Importer of folders of Markdown notes, such as those of basic-memory: one claim per observation, dated by front matter."""

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
    """Import each observation as a claim and each relation between notes as an edge."""
    folder = NoteFolder(source.path, _read, _cell)
    dangling, count = _relate(folder)
    counts = {"relations between notes": count, "left out: relations to missing notes or within one note": dangling}
    return folder.records("a folder of Markdown notes", counts | folder.left_out)


def _read(text: str, path: str) -> Note:
    """Parse a note. The first line of a note without observations becomes its only observation."""
    note = note_of(text, PurePosixPath(path).stem)
    if note.observations or not note.body:
        return note
    lines = [line.strip("# \t") for line in note.body.splitlines()]
    first_line = next((line for line in lines if line), note.title)
    return Note(note.name, note.header, (NoteObservation("", first_line),), note.relations, note.body)


def _cell(_: Path, note: Note, observation: NoteObservation) -> dict[str, Any]:
    created = day_of(note.text("created") or note.text("date"), local=True)
    modified = day_of(note.text("modified"), local=True)
    values: dict[str, Any] = {
        "writer": UNKNOWN,
        "object": note.title,
        "title": observation.text,
        "body": observation.context if observation.category else note.body,
        "kind": "obs" if observation.category else "ref",
        "topics": [*filter(None, [observation.category]), *observation.tags, *note.list("tags")],
    }
    return values | ({"created": created, "touched": modified} if created is not None else {})


def _relate(folder: NoteFolder) -> tuple[int, int]:
    notes = folder.notes.values()
    by_title: dict[str, list[tuple[NoteObservation, str]]] = {}
    for (title, observation), key in folder.keys.items():
        by_title.setdefault(title.lower(), []).append((observation, key))
    aliases = {name.lower(): note.title.lower() for note in notes for name in (note.name, note.text("permalink")) if name}
    dangling = count = 0
    for note in notes:
        ours = by_title.get(note.title.lower(), [])
        for word, target in note.relations:
            name = target.lower()
            theirs = by_title.get(name) or by_title.get(aliases.get(name, ""), [])
            if not ours or not theirs or theirs == ours:
                dangling += 1
                continue
            count += 1
            relation, weight = relation_of(word)
            for target_observation, key in theirs[:1] if relation == "concerns" else theirs:
                category = target_observation.category
                source = next((mine for observation, mine in ours if observation.category == category), ours[0][1])
                folder.edges.append((source, relation, key, weight))
                if relation == "supersedes":
                    folder[key]["status"] = "superseded"
    return dangling, count
