"""Folder of Markdown notes as cells: one cell per observation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from malsim.importers.reading.collector import Collector
from malsim.importers.reading.notes import Note, NoteObservation, files
from malsim.importers.reading.records import key_of

Cell: TypeAlias = Callable[[Path, Note, NoteObservation], dict[str, Any]]


class NoteFolder(Collector):
    """Cells of a folder's notes.

    `read` makes a note of a text and its path within the folder; `cell` gives the columns of an observation's cell.
    `notes` has every note by path, `keys` the key of each observation by its note's title and itself.
    """

    def __init__(self, folder: Path, read: Callable[[str, str], Note], cell: Cell) -> None:
        super().__init__()
        self.notes = {
            path: read(path.read_text(encoding="utf-8", errors="replace"), path.relative_to(folder).as_posix())
            for path in files(folder)
        }
        observed = {(note.title, one): (path, note) for path, note in self.notes.items() for one in note.observations}
        self.keys = {(title, one): key_of(title, one.category, one.text) for title, one in observed}
        for (place, key), (path, note) in zip(self.keys.items(), observed.values(), strict=True):
            self.add(key, **cell(path, note, place[1]))
