"""A file or folder of another memory, brought in: its format found, read, built."""

from __future__ import annotations

import importlib
import pkgutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from malsim.errors import StoreError, UsageError
from malsim.importers.building.assemble import built
from malsim.importers.reading.records import Options, Records
from malsim.importers.reading.source import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.importers.building.assemble import Imported
    from malsim.importers.reading.source import Source
    from malsim.memory.rules import Rules

__all__ = ["Importer", "bring", "formats", "reading"]


_PALETTE = "malsim.importers"
_TOOLS = ("building", "reading", "writing")


class Importer(Protocol):
    """What each member of the palette is: a module of two functions."""

    def recognises(self, source: Source) -> bool:
        """Whether the source is of this format, by what is in it."""

    def read(self, source: Source, options: Options) -> Records | Iterator[Records]:
        """What it holds: whole, or where the format lets it be, a part after the other."""


def formats() -> dict[str, Importer]:
    """Every format by the name that `--as` takes: a file of the palette, or a folder of it with an `importer`."""
    names = {
        found.name: found.ispkg
        for found in pkgutil.iter_modules([str(Path(__file__).parents[1])])
        if found.name not in _TOOLS
    }
    modules = {name: f"{_PALETTE}.{name}{'.importer' if folder else ''}" for name, folder in names.items()}
    return {name.replace("_", "-"): cast("Importer", importlib.import_module(module)) for name, module in modules.items()}


def bring(
    path: str | Path, *, form: str | None = None, options: Options | None = None, rules: Rules | None = None
) -> Imported:
    """Read another memory's file or folder into a memory; `form` (one of `formats()`) where it is not to be found out.

    The source is only read, and nothing in it is run. Raises `StoreError` for what is no such memory, `UsageError` for an
    unknown format.
    """
    options = options or Options()
    with reading(path, form=form, options=options) as parts:
        return built(Records.joined(parts), options=options, rules=rules)


@contextmanager
def reading(path: str | Path, *, form: str | None, options: Options, part: int | None = None) -> Iterator[Iterator[Records]]:
    """The parts of another memory, of about `part` records where it is not to be held whole; raises as `bring`."""
    known = formats()
    if form is not None and form not in known:
        raise UsageError("unknown format", where="--as", given=form, allowed=", ".join(known))
    with opened(path, part=part) as source:
        tried = known if form is None else {form: known[form]}
        found = next((importer for importer in tried.values() if importer.recognises(source)), None)
        if found is None:
            problem = "no memory that is known here" if form is None else f"not what {form} writes"
            raise StoreError(problem, where=str(path), allowed=", ".join(known))
        held = found.read(source, options)
        yield iter([held]) if isinstance(held, Records) else held
