"""The laws there are: those of the folder `malsim.laws`, and those of the entry points `malsim.laws`."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from malsim.errors import LawError
from malsim.laws.engine.definition import Law, load_law
from malsim.laws.engine.plant import ItemPlant
from malsim.parameters import checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.port import Plant

__all__ = ["find_law", "plant_of", "shipped_laws"]

FOLDER = "malsim.laws"


@cache
def shipped_laws() -> dict[str, Law]:
    """Every law by its name."""
    folder = importlib.import_module(FOLDER)
    modules = {
        part.name: importlib.import_module(f"{FOLDER}.{part.name}")
        for part in pkgutil.iter_modules(folder.__path__)
        if not part.ispkg
    }
    modules |= {point.name: point.load() for point in entry_points(group=FOLDER)}
    return {name: load_law(name, module) for name, module in sorted(modules.items())}


def find_law(name: str, *, where: str = "law") -> Law:
    """The law of a name or an alias; raises `LawError` with the nearest names."""
    laws = shipped_laws()
    known = laws | {alias: law for law in laws.values() for alias in law.aliases}
    if name not in known:
        near = get_close_matches(name, known, n=3) or list(laws)
        raise LawError("unknown law", where=where, given=name, hint=f"try {', '.join(near)}; `malsim laws` lists them all")
    return known[name]


def plant_of(law: Law | str, params: Mapping[str, object] | None = None, *, where: str = "law") -> Plant[Any]:
    """A memory that a law runs; raises `ScenarioError` for a parameter that is unknown or out of bounds."""
    law = find_law(law, where=where) if isinstance(law, str) else law
    given = checked(params or {}, law.params, where=where)
    if law.factory:
        return law.factory(**given)
    return ItemPlant(law, given)
