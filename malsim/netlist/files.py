"""Reader for netlist files, including the files that they source."""

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
    """Parser state for a netlist file and the files it sources.

    Each file may be read only once, and the total size of all files is limited.
    """

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
                self.refuse(
                    name, source, "the files are too large", allowed=f"at most {LIMITS['file_bytes']} bytes together"
                )
            else:
                self.refuse(name, source, "no such file", hint="check the path" + ", relative to this file" * bool(source))
        except OSError as error:
            self.refuse(name, source, f"cannot be read: {error.strerror}")
        return None

    def included(self, source: Source, parent: Path, parent_name: str, depth: int) -> Iterator[Statement]:
        name = str(PurePath(parent_name).parent / source.path)
        try:
            path = (parent.parent / source.path).resolve()
        except (OSError, ValueError):
            self.refuse(name, source, "not a path")
            return
        if not path.is_relative_to(parent.parent):
            problem = "a sourced file must lie in the folder of the file that sources it"
            self.refuse(name, source, problem, hint=f"move it next to {parent_name}")
        elif path in self.names:
            hint = "each file is read once; if two files need it, source it before both"
            self.refuse(name, source, f"already read as {self.names[path]}", hint=hint)
        elif depth > LIMITS["depth"]:
            self.refuse(name, source, "sourced files are nested too deeply", allowed=f"at most {LIMITS['depth']} levels")
        else:
            yield from self.statements(path, name, source, depth)

    def refuse(self, name: str, source: Source | None, problem: str, *, allowed: str = "", hint: str = "") -> None:
        fault = Fault(problem=problem, file=name, allowed=allowed, hint=hint)
        self.faults.append(Fault.at(source, source.path, problem, allowed=allowed, hint=hint) if source else fault)


def read(path: str | Path) -> Document:
    """Read a netlist file and the files it sources. Raise `NetlistError` with the faults of all files if there are any.

    Sourced paths are relative to the file and must lie within its folder.
    """
    document, faults = read_with_faults(path)
    if faults:
        raise NetlistError(faults)
    return document


def read_with_faults(path: str | Path) -> tuple[Document, list[Fault]]:
    """Read a netlist file and the files it sources. Return the statements that could be parsed, and all faults."""
    reader, root = _Reader(), Path(path).resolve()
    statements = tuple(reader.statements(root, str(path), None))
    blocks: dict[str, Document] = {}
    names = added_names(statements)
    for name in names:  # blocks can append names to the list during the loop
        file = (root.parent / f"{name}.malnet").resolve()
        if file.is_file() and file.is_relative_to(root.parent) and file not in reader.names:
            file_name = str(PurePath(path).parent / file.name)
            blocks[name] = Document(tuple(reader.statements(file, file_name, None)), file_name)
            names += added_names(blocks[name].statements)
    return Document(statements, str(path), blocks), [*reader.faults, *undeclared_threads(statements)]
