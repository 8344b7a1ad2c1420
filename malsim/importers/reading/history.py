"""Notes and their history as claims: who wrote each observation, when, and what it replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from malsim.importers.reading.collector import Collector
from malsim.importers.reading.git import FileChange, changes, repository
from malsim.importers.reading.notes import Note, NoteObservation, files
from malsim.importers.reading.records import key_of

Place: TypeAlias = tuple[str, NoteObservation]  # the title of a note and one of its observations


class Chronicle(Collector):
    """The observations of a folder's commits, oldest first, as they came, changed and went; none where it is not `in_git`.

    One that changes within its note and category supersedes the former. `notes` are the files as they lie there now. `read`
    makes a note of a text and its path in the folder, `cell` the columns of the claim that an observation is.
    """

    def __init__(
        self, folder: Path, read: Callable[[str, str], Note], cell: Callable[[Note, NoteObservation], dict[str, Any]]
    ) -> None:
        super().__init__()
        self.cell = cell
        self.standing: dict[Place, str] = {}  # the key of each that stands
        self.replacements = self.withdrawals = 0
        git = repository(folder)
        commits = changes(folder, git) if git else []
        self.in_git, self.commits = git is not None, len(commits)
        for commit in commits:
            self._take(commit, read)
        self.notes = {
            path: read(path.read_text(encoding="utf-8", errors="replace"), path.relative_to(folder).as_posix())
            for path in files(folder)
        }

    def _take(self, commit: list[FileChange], read: Callable[[str, str], Note]) -> None:
        """One commit: its files' observations before and after it."""
        before = observations(read(change.before, change.path) for change in commit if change.before is not None)
        after = observations(read(change.after, change.path) for change in commit if change.after is not None)
        self.change(before, after, writer=commit[0].author, created=commit[0].day, commit=commit[0].commit)

    def change(
        self,
        before: Iterable[Place],
        after: dict[Place, Note],
        *,
        writer: str,
        created: float | None,
        commit: str = "",
    ) -> None:
        """Let what is new replace, by note and category, what is gone; what nothing replaced is annexed."""
        absent: dict[tuple[str, str], list[str]] = {}
        for place in before:
            if place not in after and (key := self.standing.pop(place, None)):
                absent.setdefault((place[0], place[1].category), []).append(key)
        for place, note in after.items():
            if place in self.standing:
                continue
            key = key_of(place[0], place[1].category, place[1].text, *([commit] if self._knows(place) else []))
            times = {} if created is None else {"created": created, "touched": created}  # git knows better than a header
            self.add(key, writer=writer, **(self.cell(note, place[1]) | times))
            self.standing[place] = key
            if former := absent.get((place[0], place[1].category)):
                self.supersede(former.pop(0), key)
                self.replacements += 1
        for keys in absent.values():
            for key in keys:
                self.annex(key)
                self[key].update({} if created is None else {"touched": created})
                self.withdrawals += 1

    def _knows(self, place: Place) -> bool:
        """Whether the same was written once and withdrawn: it comes again as a claim of its own."""
        return key_of(place[0], place[1].category, place[1].text) in self


def observations(notes: Iterable[Note]) -> dict[Place, Note]:
    """Every observation of some notes, with its note."""
    return {(note.title, one): note for note in notes for one in note.observations}
