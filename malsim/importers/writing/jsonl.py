"""Export as JSON lines: one cell per line with all columns, its scope, ISO 8601 dates, and edges by key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from malsim.importers.writing.cells import Cells, iso

_DAYS = ("created", "touched", "read", "valid_from", "valid_to", "rejected", "expires", "reverify")
_INTERNAL = ("rep", "author", "content", "successor", "worth")


def write(cells: Cells, path: Path) -> dict[str, int]:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _lines(cells))
    return {
        "lines": cells.memory.cells.height,
        "left out: lines of wiring; --as recall exports them": cells.standing.text.count("\n"),
    }


def _lines(cells: Cells) -> Iterator[str]:
    for row in cells.memory.cells.iter_rows(named=True):
        fields = {name: value for name, value in row.items() if value is not None and name not in _INTERNAL}
        fields |= {name: iso(fields[name], cells.start) for name in _DAYS if name in fields and cells.start}
        fields |= {"scope": cells.scopes[row["rep"]]} if row["rep"] in cells.scopes else {}
        edges = [dict(zip(("relation", "target", "weight"), edge, strict=True)) for edge in cells.edges.get(row["key"], ())]
        yield json.dumps(fields | {"edges": edges}, ensure_ascii=False)
