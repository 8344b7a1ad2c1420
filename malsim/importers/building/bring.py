"""Import of a file or folder of another memory: its format is detected, read and built."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Protocol, cast

from malsim.base.errors import StoreError, UsageError
from malsim.importers.building.assemble import ImportedMemory, assemble
from malsim.importers.reading.records import Options, Records
from malsim.importers.reading.source import Source, open_source
from malsim.memory.rules import Rules

_PALETTE = "malsim.importers"
_TOOLS = ("building", "reading", "writing")


class Importer(Protocol):
    """Interface of an importer: a module with two functions."""

    def recognises(self, source: Source) -> bool:
        """Return whether the content of the source is in this format."""

    def read(self, source: Source, options: Options) -> Records:
        """Return what the source holds."""


def formats() -> dict[str, Importer]:
    """Return all importers by the name that `--as` takes: modules of the palette, and folders with an `importer`."""
    names = {
        module.name: module.ispkg
        for module in pkgutil.iter_modules([str(Path(__file__).parents[1])])
        if module.name not in _TOOLS
    }
    modules = {name: f"{_PALETTE}.{name}{'.importer' if folder else ''}" for name, folder in names.items()}
    return {name.replace("_", "-"): cast("Importer", importlib.import_module(module)) for name, module in modules.items()}


def bring(
    path: str | Path, *, form: str | None = None, options: Options | None = None, rules: Rules | None = None
) -> ImportedMemory:
    """Read another memory's file or folder into a memory; `form` (one of `formats()`) where it is not to be found out.

    The source is only read, and nothing in it is run. Raises `StoreError` for what is no such memory, `UsageError` for an
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
        return assemble(importer.read(source, options), options=options, rules=rules)
