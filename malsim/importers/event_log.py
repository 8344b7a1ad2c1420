"""Log of JSON lines, one per event, as `malsim agent record` writes it: writes with writer and time, and deletions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from malsim.base.finite import is_number
from malsim.importers.reading.records import Collector, Options, Records, day_of, share_of, text_of
from malsim.importers.reading.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "unknown:log"


def recognises(source: Source) -> bool:
    return text_of(source.first.get("event")) is not None and isinstance(source.first.get("t"), int | float)


def read(source: Source, options: Options) -> Records:
    """Read one claim per write; a new text of an item supersedes its old one, and a deleted item is annexed."""
    cells, versions = Collector(), dict[str, list[str]]()
    deletions = others = unnamed = 0
    for number, line in enumerate(source.records()):
        item, says = text_of(line.get("item")), text_of(line.get("value"))
        if line.get("event") == "delete" and item in versions:
            deletions += 1
            cells.annex(versions[item][-1])
        elif line.get("event") == "delete" and item is None:
            active = _active(cells, versions, text_of(line.get("writer")) or UNKNOWN)
            deletions, unnamed = deletions + len(active), unnamed + (not active)
            for key in active:
                cells.annex(key)
        elif line.get("event") == "write" and says:
            _add(cells, versions.setdefault(item or f"line {number}", []), item or f"line {number}", line, says)
        else:
            others += 1
    counts = {
        "deleted since: annexed": deletions,
        "deletions that name no item: nothing annexed": unnamed,
        "other events, which are not claims": others,
    }
    return cells.records("a log of events", counts)


def _active(cells: Collector, versions: dict[str, list[str]], writer: str) -> list[str]:
    """Return the keys of the active cells of a writer, which a deletion without an item takes back."""
    keys = [keys[-1] for keys in versions.values()]
    return [key for key in keys if cells[key]["writer"] == writer and cells[key].get("status") != "annexed"]


def _add(cells: Collector, versions: list[str], item: str, line: dict[str, Any], says: str) -> None:
    key = f"{item}#{len(versions)}" if versions else item
    at = day_of(line.get("at"))
    cells.add(
        key, title=says, object=text_of(line.get("object")), writer=text_of(line.get("writer")) or UNKNOWN,
        stated=share_of(line.get("belief")), created=_day(line) if at is None else at, kind="obs",
    )  # fmt: skip
    if versions and cells[versions[-1]].get("status") != "annexed":
        cells.supersede(versions[-1], key)
    versions.append(key)


def _day(line: Mapping[str, Any]) -> float | None:
    """Return the day of the log's own clock (infinite days have no date), or None for a line without a day."""
    t = line.get("t")
    return float(t) if is_number(t) or t == math.inf else None
