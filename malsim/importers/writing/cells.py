"""Input common to all exports: the memory, the date of its day 0, edges by key, and extras."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from malsim.base.errors import DataError
from malsim.importers.building.save import extras
from malsim.memory import Memory
from malsim.memory.store import Store
from malsim.memory.tables.stored_wires import Standing


@dataclass(frozen=True)
class Cells:
    """Memory read from a store and prepared for an export.

    `edges` maps source keys to (relation, target key, weight), `extras` maps keys to {name: value}, `scopes` names the
    replications that are scopes.
    """

    memory: Memory
    start: str | None
    edges: dict[str, list[tuple[str, str, float]]]
    extras: dict[str, dict[str, Any]]
    scopes: dict[int, str]
    standing: Standing


def opened(path: Path) -> Cells:
    with Store(path, write=False) as store:
        memory, start, standing = store.memory, store.start, store.standing
        scopes = {rep: name for name, rep in store.scopes.items()}
    keys, edges = memory.cells["key"].to_list(), dict[str, list[tuple[str, str, float]]]()
    for source, relation, target, weight in memory.edges.select("source", "relation", "target", "weight").rows():
        edges.setdefault(keys[source], []).append((relation, keys[target], weight))
    values = dict[str, dict[str, Any]]()
    for cell, name, value in extras(path).rows():
        values.setdefault(cell, {})[name] = json.loads(value)
    return Cells(memory, start, edges, values, scopes, standing)


def iso(day: float, start: str | None) -> str:
    """Return a day as a UTC date and time in ISO 8601, to the millisecond.

    >>> iso(1.5, "2026-03-01")
    '2026-03-02T12:00:00.000Z'

    Raises `DataError` for a day outside the years 1 to 9999.
    """
    begin = datetime.fromisoformat(start or "1970-01-01")
    try:
        at = begin + timedelta(milliseconds=round(day * 86_400_000))
    except OverflowError as error:
        raise DataError("the date is out of bounds", given=day, allowed="the years 1 to 9999") from error
    return f"{at.isoformat(timespec='milliseconds')}Z"
