"""Reading of a netlist file and of the files it sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.lexicon import LIMITS
from malsim.netlist.language.parse import scan, undeclared_threads
from malsim.netlist.language.statements import Document, Source
from malsim.netlist.wiring.blocks import added_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.language.statements import Statement


@dataclass
class _Reader:
    """State of reading a netlist and the files it sources: each file is read once, and their total size is limited."""

    faults: list[Fault] = field(default_factory=list)
    names: dict[Path, str] = field(default_factory=dict)
    size: int = 0

    def statements(self, path: Path, name: str, source: Source | None, depth: int = 0) -> Iterator[Statement]:
        content = self.content(path, name, source)
        if content is None:
            return
        document, faults = scan(content, file=name)
        self.faults += faults
        for statement in document.statements:
            if isinstance(statement, Source):
                yield from self.included(statement, path, name, depth + 1)
            else:
                yield statement

    def content(self, path: Path, name: str, source: Source | None) -> bytes | None:
        self.names[path] = name
        try:
            if path.is_file():
                self.size += path.stat().st_size
                if self.size <= LIMITS["file_bytes"]:
                    return path.read_bytes()
                self.refuse(name, source, "these files hold too much", allowed=f"{LIMITS['file_bytes']} bytes together")
            else:
                self.refuse(name, source, "no such file", hint="check the path; it is relative to the file that sources it")
        except OSError as error:
            self.refuse(name, source, f"this file cannot be read: {error.strerror}")
        return None

    def included(self, source: Source, parent: Path, parent_name: str, depth: int) -> Iterator[Statement]:
        name = str(PurePath(parent_name).parent / source.path)
        try:
            path = (parent.parent / source.path).resolve()
        except (OSError, ValueError):
            self.refuse(name, source, "not a path")
            return
        if not path.is_relative_to(parent.parent):
            self.refuse(name, source, "a source may not leave the folder of its file", hint=f"move it next to {parent_name}")
        elif path in self.names:
            hint = "a file is read once; where two need it, source it before both"
            self.refuse(name, source, f"already read as {self.names[path]}", hint=hint)
        elif depth > LIMITS["depth"]:
            self.refuse(name, source, "files are sourced too deep", allowed=f"{LIMITS['depth']} levels")
        else:
            yield from self.statements(path, name, source, depth)

    def refuse(self, name: str, source: Source | None, problem: str, *, allowed: str = "", hint: str = "") -> None:
        fault = Fault(problem=problem, file=name, allowed=allowed, hint=hint)
        self.faults.append(Fault.at(source, source.path, problem, allowed=allowed, hint=hint) if source else fault)


def read(path: str | Path) -> Document:
    """Read a netlist file and all it sources.

    Parameters
    ----------
    path
        The file, conventionally `.malnet`. What it sources is relative to it and within its folder.

    Raises
    ------
    NetlistError
        With every fault of every file.
    """
    document, faults = read_what_can_be(path)
    if faults:
        raise NetlistError(faults)
    return document


def read_what_can_be(path: str | Path) -> tuple[Document, list[Fault]]:
    """Read a netlist file and all it sources; return the readable part and every fault of the rest."""
    reader, whole = _Reader(), Path(path).resolve()
    statements = tuple(reader.statements(whole, str(path), None))
    blocks = dict(_blocks(reader, statements, whole, str(path)))
    faults = [*reader.faults, *undeclared_threads(statements)]
    return Document(statements, str(path), blocks), faults


def _blocks(reader: _Reader, statements: tuple[Statement, ...], whole: Path, root: str) -> Iterator[tuple[str, Document]]:
    for name in added_names(statements):
        path = (whole.parent / f"{name}.malnet").resolve()
        if path.is_file() and path.is_relative_to(whole.parent) and path not in reader.names:
            file = str(PurePath(root).parent / path.name)
            block = tuple(reader.statements(path, file, None))
            yield name, Document(block, file)
            yield from _blocks(reader, block, whole, root)
