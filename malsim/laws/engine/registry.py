"""Registry of laws: the modules in the package `malsim.laws`, and the `malsim.laws` entry points of other packages.

A law from another package is loaded on first use and cannot have a shipped law's name; if it fails, other laws still work.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, cast

from malsim.adapters.calls import Calls, text_of
from malsim.adapters.foreign_code import before_loading
from malsim.base.errors import LawError, nearest
from malsim.base.parameters import checked
from malsim.laws.engine.definition import Law, load_law
from malsim.laws.engine.guard import WatchedPlant
from malsim.laws.engine.plant import ItemPlant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.port import Plant

FOLDER = "malsim.laws"


@cache
def _in_folder() -> dict[str, Law]:
    folder = importlib.import_module(FOLDER)
    names = sorted(part.name for part in pkgutil.iter_modules(folder.__path__) if not part.ispkg)
    return {name: load_law(name, importlib.import_module(f"{FOLDER}.{name}")) for name in names}


@cache
def _points() -> dict[str, list[EntryPoint]]:
    points: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=FOLDER):
        points.setdefault(point.name, []).append(point)
    return points


@cache
def _foreign(name: str) -> Law | LawError:
    first, *more = _points()[name]
    where = f"{name} ({first.value})"
    if name in _in_folder():
        return LawError("this name is already used by a law of malsim", where=where, hint="ask its author to rename it")
    if more:
        return LawError("two packages define this law", where=name, given=[point.value for point in (first, *more)])
    before_loading(where)
    calls = Calls(name=f"law {where}")
    try:
        law: Law = calls.make(lambda: load_law(name, first.load()))
    except Exception as error:  # noqa: BLE001  # third-party code can raise anything
        problem = text_of(error).removeprefix("raised ")
        return LawError("cannot be loaded", where=where, given=problem, hint="report it to its author")
    return replace(law, calls=calls)


def registry_reset() -> None:
    _points.cache_clear()
    _foreign.cache_clear()


def shipped_laws() -> dict[str, Law]:
    """Return all laws keyed by name. Third-party laws that fail to load are left out (see `faulty_laws`)."""
    theirs = {name: law for name in _points() if isinstance(law := _foreign(name), Law)}
    return dict(sorted((theirs | _in_folder()).items()))


def unproven_laws() -> list[str]:
    """Return the names of laws that model other projects but have not been shown to equal their source."""
    return [name for name, law in shipped_laws().items() if law.proven and not law.equal]


def faulty_laws() -> dict[str, LawError]:
    """Return the error of each third-party law that fails to load, keyed by name."""
    return {name: law for name in _points() if isinstance(law := _foreign(name), LawError)}


def find_law(name: str, *, where: str = "law") -> Law:
    """Return the law with this name or alias, searching malsim's own laws first.

    Raise `LawError` with similar names if there is no such law.
    """
    if shipped := _by_name(name, _in_folder()):
        return shipped
    if name in _points():
        theirs = _foreign(name)
        if isinstance(theirs, LawError):
            raise theirs
        return theirs
    laws = shipped_laws()
    if law := _by_name(name, laws):
        return law
    names = [*laws, *(alias for law in laws.values() for alias in law.aliases)]
    raise LawError("no such law", where=where, given=name, hint=nearest(name, names, "run `malsim laws` to list them"))


def _by_name(name: str, laws: Mapping[str, Law]) -> Law | None:
    return laws.get(name) or next((law for law in laws.values() if name in law.aliases), None)


def plant_of(law: Law | str, params: Mapping[str, object] | None = None, *, where: str = "law") -> Plant[Any]:
    """Return a memory run by a law. Raise `ScenarioError` if a parameter is unknown or out of bounds."""
    law = find_law(law, where=where) if isinstance(law, str) else law
    values = checked(params or {}, law.params, where=where)
    if not law.factory:
        return ItemPlant(law, values)
    make = partial(law.factory, **values)
    return make() if law.calls is None else cast("Plant[Any]", WatchedPlant(law, make))
