"""Import of another memory's file or folder: the format is recognised, and the content becomes a memory."""

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
    """Interface of an importer module."""

    def recognises(self, source: Source) -> bool:
        """Return whether the content of the source is in this format."""

    def read(self, source: Source, options: Options) -> Records:
        """Return the content of the source."""


def formats() -> dict[str, Importer]:
    """Return all importers by the name that `--as` takes: modules of this package, and folders with an `importer`."""
    importers = dict[str, Importer]()
    for module in pkgutil.iter_modules([str(Path(__file__).parents[1])]):
        if module.name not in _TOOLS:
            path = f"malsim.importers.{module.name}{'.importer' if module.ispkg else ''}"
            importers[module.name.replace("_", "-")] = cast("Importer", importlib.import_module(path))
    return importers


def bring(path: str | Path, *, form: str | None = None, options: Options | None = None) -> ImportedMemory:
    """Import another memory's file or folder; without `form` (one of `formats()`), the format is detected.

    The source is only read, and nothing in it is run. Raises `StoreError` for a file in no known format, `UsageError` for an
    unknown format.
    """
    options, importers = options or Options(), formats()
    if form is not None and form not in importers:
        raise UsageError("no such format", where="--as", given=form, allowed=", ".join(importers))
    with open_source(path) as source:
        candidates = importers if form is None else {form: importers[form]}
        importer = next((importer for importer in candidates.values() if importer.recognises(source)), None)
        if importer is None:
            problem = "not a memory in a known format" if form is None else f"not a file of {form}"
            raise StoreError(problem, where=str(path), allowed=", ".join(importers))
        return assemble(importer.read(source, options), options=options)
