"""Notes and their history as claims: who wrote each observation, when, and what it replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from malsim.importers.reading.collector import Collector
from malsim.importers.reading.git import FileChange
from malsim.importers.reading.notes import Note, NoteObservation
from malsim.importers.reading.records import key_of

__all__ = ["Chronicle"]

Cell: TypeAlias = Callable[[Note, NoteObservation], dict[str, Any]]


class Chronicle(Collector):
    """Observations as they came, changed and went; one that changes within its note and category supersedes the former."""

    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.cell = cell
        self.standing: dict[tuple[str, NoteObservation], str] = {}  # the key of each that stands, by note and observation
        self.replacements = self.withdrawals = self.commits = 0

    def take(self, changes: list[FileChange], read: Callable[[str, str], Note]) -> None:
        """One commit: its files' observations before and after it."""
        before = self._observations(read(change.before, change.path) for change in changes if change.before is not None)
        after = self._observations(read(change.after, change.path) for change in changes if change.after is not None)
        self.commits += 1
        self.change(before, after, writer=changes[0].author, created=changes[0].day, commit=changes[0].commit)

    @staticmethod
    def _observations(notes: Iterable[Note]) -> dict[tuple[str, NoteObservation], Note]:
        return {(note.title, one): note for note in notes for one in note.observations}

    def change(
        self,
        before: dict[tuple[str, NoteObservation], Note],
        after: dict[tuple[str, NoteObservation], Note],
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

    def _knows(self, place: tuple[str, NoteObservation]) -> bool:
        """Whether the same was written once and withdrawn: it comes again as a claim of its own."""
        return key_of(place[0], place[1].category, place[1].text) in self
