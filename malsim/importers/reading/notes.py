"""Parser of Markdown notes: front matter, `- [category] text #tag (context)`, `- relation [[Target]] (context)`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from malsim.base.files.text_files import IS_UTF16, is_utf16
from malsim.importers.reading.records import Collector, key_of

MOST_BYTES = 16 << 20  # maximum size of a note in bytes
_OBSERVATION = re.compile(r"^\s*[-*]\s+\[(?P<category>[^\[\]()\n]+)\](?!\()\s+(?P<text>.+?)\s*$")
_TARGET = r"\[\[(?P<target>[^\[\]|]+)(?:\|[^\]]*)?\]\]"
_RELATION = re.compile(rf'^\s*[-*]\s+(?:"(?P<quoted>[^"]+)"\s+|(?P<word>[^\[\]"]*?)\s*){_TARGET}')
_TAGGED = re.compile(r"^\s*[-*]\s+(?P<text>(?:#[\w/-]+\s*)+)$")
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\]]*)?\]\]")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_CONTEXT = re.compile(r"\s*\(([^()]*)\)$")
_CHECKBOXES = {" ", "x", "X", "-"}
_FENCE = re.compile(r"^\s*(```|~~~)")


@dataclass(frozen=True)
class NoteObservation:
    """Observation in a note. Two observations are equal if their `category` and `text` are equal."""

    category: str
    text: str
    tags: tuple[str, ...] = field(default=(), compare=False, repr=False)
    context: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Note:
    """Parsed note: front matter (`header`), observations, relations (word, target), and the text after the front matter."""

    name: str
    header: dict[str, str | list[str]]
    observations: tuple[NoteObservation, ...]
    relations: tuple[tuple[str, str], ...]
    body: str

    @property
    def title(self) -> str:
        return self.text("title") or self.name

    def text(self, name: str) -> str:
        value = self.header.get(name, "")
        return value if isinstance(value, str) else ", ".join(value)

    def list(self, name: str) -> list[str]:
        value = self.header.get(name, [])
        return value if isinstance(value, list) else [part.strip() for part in value.split(",") if part.strip()]


def files(folder: Path) -> Iterator[Path]:
    """Yield the Markdown files in a folder in name order. Links are not followed and hidden folders are skipped."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root) / name
            plain = path.is_file() and not path.is_symlink()  # excludes pipes, because reading one would block
            if name.lower().endswith(".md") and plain and path.stat().st_size <= MOST_BYTES:
                yield path


def note_of(text: str, name: str) -> Note:
    """Parse the text of a note whose file is called `name` (without the suffix)."""
    header, body = _header(text)
    if header and body.lstrip().startswith("---"):  # some editors add a second front matter
        second, rest = _header(body.lstrip())
        header, body = (header | second, rest) if second else (header, body)
    observations, relations, fenced = list[NoteObservation](), list[tuple[str, str]](), False
    for line in body.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            if observation := _observation(line):
                observations.append(observation)
            elif relation := _RELATION.match(line):
                relations.append((relation["quoted"] or relation["word"] or "links_to", relation["target"].strip()))
            else:
                relations += [("links_to", target.strip()) for target in _LINK.findall(line)]
    return Note(name, header, tuple(dict.fromkeys(observations)), tuple(dict.fromkeys(relations)), body.strip())


def _observation(line: str) -> NoteObservation | None:
    match = _OBSERVATION.match(line)
    if match and (match["category"] in _CHECKBOXES or match["text"].startswith("[[")):
        return None
    if match is None:
        tag_line = _TAGGED.match(line)
        return NoteObservation("Note", tag_line["text"].strip(), tuple(_TAG.findall(tag_line["text"]))) if tag_line else None
    text = match["text"]
    context = _CONTEXT.search(text)
    text = _CONTEXT.sub("", text) if context else text
    tags = tuple(_TAG.findall(text))
    plain = re.sub(r"\s+", " ", _TAG.sub("", text)).strip() or text
    return NoteObservation(match["category"].strip(), plain, tags, context[1] if context else "")


def _header(text: str) -> tuple[dict[str, str | list[str]], str]:
    """Parse front matter (`name: value`, lists, one level of nesting) and return it with the text after it."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---" or "---" not in (rest := [line.rstrip() for line in lines[1:]]):
        return {}, text
    end = rest.index("---")
    header: dict[str, str | list[str]] = {}
    name = ""
    for line in rest[:end]:
        key, colon, value = (part.strip() for part in line.partition(":"))
        if line[:1] in (" ", "\t", "-") and name:
            items = header.get(name)
            if line.strip().startswith("-"):
                header[name] = [*(items if isinstance(items, list) else []), _bare(line.strip()[1:])]
            elif colon:
                header[f"{name}.{key}"] = _bare(value)
        elif colon:
            name = key
            is_list = value.startswith("[") and value.endswith("]")
            header[name] = [_bare(part) for part in value[1:-1].split(",") if part.strip()] if is_list else _bare(value)
    return header, "\n".join(lines[end + 2 :])


def _bare(value: str) -> str:
    return value.strip().strip("'\"")


Cell: TypeAlias = Callable[[Path, Note, NoteObservation], dict[str, Any]]


class NoteFolder(Collector):
    """Collector of cells and edges from the notes in a folder.

    `read` parses a text, given its path in the folder; `cell` returns the columns of an observation's cell. `notes`
    maps paths to notes, `keys` maps (note title, observation) to the key of the cell, `left_out` has a report line for
    each file in UTF-16.
    """

    def __init__(self, folder: Path, read: Callable[[str, str], Note], cell: Cell) -> None:
        super().__init__()
        self.notes = dict[Path, Note]()
        self.left_out = dict[str, int]()
        for path in files(folder):
            name, data = path.relative_to(folder).as_posix(), path.read_bytes()
            if is_utf16(data):
                self.left_out[f"left out: {name}: {IS_UTF16}"] = 1
            else:
                self.notes[path] = read(data.decode("utf-8-sig", "replace"), name)
        owners = {(note.title, item): (path, note) for path, note in self.notes.items() for item in note.observations}
        self.keys = {(title, item): key_of(title, item.category, item.text) for title, item in owners}
        for (title, item), (path, note) in owners.items():
            self.add(self.keys[title, item], **cell(path, note, item))
