"""Import of a file or folder of another memory, whose format is detected and whose content becomes a malsim memory."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Protocol, cast

from malsim.base.errors import StoreError, UsageError
from malsim.importers.building.assemble import ImportedMemory, assemble
from malsim.importers.reading.records import Options, Records
from malsim.importers.reading.source import Source, open_source

_TOOLS = ("building", "reading", "writing")


class Importer(Protocol):
    """Interface that each importer module implements."""

    def recognises(self, source: Source) -> bool:
        """Return whether the source's content is in this importer's format."""

    def read(self, source: Source, options: Options) -> Records:
        """Return the cells, edges and counts read from the source."""


def formats() -> dict[str, Importer]:
    """Map each format name accepted by `--as` to its importer: a module of this package, or a folder with an `importer`."""
    importers = dict[str, Importer]()
    for module in pkgutil.iter_modules([str(Path(__file__).parents[1])]):
        if module.name not in _TOOLS:
            path = f"malsim.importers.{module.name}{'.importer' if module.ispkg else ''}"
            importers[module.name.replace("_", "-")] = cast("Importer", importlib.import_module(path))
    return importers


def bring(path: str | Path, *, form: str | None = None, options: Options | None = None) -> ImportedMemory:
    """Import a file or folder of another memory. If `form` (a name in `formats()`) is not given, the format is detected.

    The source is only read, and nothing in it is executed. Raises `StoreError` for a file whose format is not
    recognised, `UsageError` for an unknown format name.
    """
    options, importers = options or Options(), formats()
    if form is not None and form not in importers:
        raise UsageError("no such format", where="--as", given=form, allowed=", ".join(importers))
    with open_source(path) as source:
        candidates = importers if form is None else {form: importers[form]}
        importer = next((importer for importer in candidates.values() if importer.recognises(source)), None)
        if importer is None:
            problem = "not a memory in a known format" if form is None else f"not in the format {form}"
            raise StoreError(problem, where=str(path), allowed=", ".join(importers), hint="leave out --as" if form else None)
        return assemble(importer.read(source, options), options=options)
