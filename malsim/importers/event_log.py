"""Importer of event logs in JSON lines, as recorded by `malsim agent record`: writes with writer and time, and deletions."""

from __future__ import annotations

import math
from typing import Any

from malsim.base.finite import is_number
from malsim.importers.reading.records import Collector, Options, Records, day_of, share_of, text_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:log"


def recognises(source: Source) -> bool:
    return text_of(source.first.get("event")) is not None and isinstance(source.first.get("t"), int | float)


def read(source: Source, options: Options) -> Records:
    """Import each write as a claim. A changed text supersedes the item's previous claim; a deletion makes it `annexed`."""
    cells, versions = Collector(), dict[str, list[str]]()
    deletions = others = unnamed = 0
    for number, line in enumerate(source.records()):
        item, text = text_of(line.get("item")), text_of(line.get("value"))
        if line.get("event") == "delete" and item in versions:
            deletions += 1
            cells.annex(versions[item][-1])
        elif line.get("event") == "delete" and item is None:
            writer = text_of(line.get("writer")) or UNKNOWN
            latest = [keys[-1] for keys in versions.values() if cells[keys[-1]]["writer"] == writer]
            active = [key for key in latest if cells[key].get("status") != "annexed"]
            deletions, unnamed = deletions + len(active), unnamed + (not active)
            for key in active:
                cells.annex(key)
        elif line.get("event") == "write" and text:
            name = item or f"line {number}"
            _add(cells, versions.setdefault(name, []), name, line, text)
        else:
            others += 1
    counts = {
        "claims annexed because their item was deleted": deletions,
        "deletions without an item that annexed nothing": unnamed,
        "left out: events that are not claims": others,
    }
    return cells.records("a log of events", counts)


def _add(cells: Collector, versions: list[str], item: str, line: dict[str, Any], text: str) -> None:
    key = f"{item}#{len(versions)}" if versions else item
    date, tick = day_of(line.get("at")), line.get("t")
    day = float(tick) if is_number(tick) or tick == math.inf else None  # an infinite day is passed on and refused later
    cells.add(
        key, title=text, object=text_of(line.get("object")), writer=text_of(line.get("writer")) or UNKNOWN,
        stated=share_of(line.get("belief")), created=day if date is None else date, kind="obs",
    )  # fmt: skip
    if versions and cells[versions[-1]].get("status") != "annexed":
        cells.supersede(versions[-1], key)
    versions.append(key)
