"""Claude Code's memory folder: one Markdown file a fact beside the index MEMORY.md; from git, who changed each and when."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from malsim.importers.reading.history import Chronicle, observations
from malsim.importers.reading.notes import Note, NoteObservation, note_of
from malsim.importers.reading.records import Options, Records
from malsim.importers.reading.source import Source

WRITER = "claude"
INDEX = "MEMORY.md"
_KINDS = {"feedback": "bel", "user": "bel", "project": "obs", "reference": "ref"}
_ITEM = re.compile(r"^\s*[-*]\s+(?P<text>.+?)\s*$")
_POINTER = re.compile(r"\]\([^)]*\.md\)|\[\[")


def recognises(source: Source) -> bool:
    """A folder that holds MEMORY.md."""
    return (source.path / INDEX).is_file()


def read(source: Source, options: Options) -> Records:
    """A claim a file, dated by when it was last written; a line of the index is one only where it points to no file."""
    chronicle = Chronicle(source.path, _read, _cell)
    for path, note in chronicle.notes.items():
        before = [place for place in chronicle.standing if place[0] == note.title]
        chronicle.change(before, observations([note]), writer=WRITER, created=path.stat().st_mtime / 86_400.0)
    titles = {note.title for note in chronicle.notes.values()}
    absent = [place for place in chronicle.standing if place[0] not in titles]
    chronicle.change(absent, {}, writer=WRITER, created=None)
    dangling = _link(chronicle)
    counts = {
        "commits read": chronicle.commits,
        "note: no git history, so one version of each fact": -(not chronicle.in_git),
        "facts that another replaced": chronicle.replacements,
        "facts taken back: annexed": chronicle.withdrawals,
        "links dropped: no file of that name": dangling,
    }
    return chronicle.records("Claude Code's memory folder", counts)


def _read(text: str, path: str) -> Note:
    """A fact's file as a note of one observation; the index as a note of those lines that point nowhere."""
    note = note_of(text, PurePosixPath(path).stem)
    if PurePosixPath(path).name == INDEX:
        items = [match["text"] for line in note.body.splitlines() if (match := _ITEM.match(line))]
        observations = tuple(NoteObservation("index", text) for text in dict.fromkeys(items) if not _POINTER.search(text))
        return Note("MEMORY", {}, observations, (), note.body)
    title = note.text("description") or note.text("name") or note.name
    kind = note.text("metadata.type") or note.text("type")
    fact = NoteObservation("", f"{title}\n{note.body}", (kind,) if kind else ())
    return Note(note.name, {"title": note.text("name") or note.name, "says": title}, (fact,), note.relations, note.body)


def _cell(note: Note, one: NoteObservation) -> dict[str, Any]:
    if one.category:
        return {"object": note.title, "title": one.text}
    kind = next(iter(one.tags), "")
    return {
        "object": note.title, "title": note.text("says"), "body": note.body, "kind": _KINDS.get(kind, "obs"),
        "topics": list(one.tags),
    }  # fmt: skip


def _link(chronicle: Chronicle) -> int:
    """Let each fact concern those that it links to; how many links led nowhere."""
    notes = chronicle.notes.values()
    keys = {title.lower(): key for (title, one), key in chronicle.standing.items() if not one.category}
    keys |= {note.name.lower(): keys[note.title.lower()] for note in notes if note.title.lower() in keys}
    dangling = 0
    for note in notes:
        own = keys.get(note.title.lower())
        for _, target in note.relations if own else ():
            other = keys.get(target.lower().removesuffix(".md"))
            if other is None or other == own:
                dangling += 1
            else:
                chronicle.edges.append((str(own), "concerns", other, -0.5))
    return dangling
