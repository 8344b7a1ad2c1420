"""The report of an import: lines of what came, what did not and why, with their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import polars as pl

from malsim.importers.building.completed_rows import ASSUMED
from malsim.importers.reading.records import Options
from malsim.memory import schema

_CELLS, _UNDATED, _UNKNOWN, _SILENT = "cells", "undated", "unknown", "silent"


def tally(cells: pl.DataFrame, options: Options) -> Counter[str]:
    """What the report must know of some cells; those of others are added."""
    status = cells["status"].cast(pl.String)
    silent = cells["topics"].list.contains(ASSUMED) if options.confidence is not None else cells["stated"].is_null()
    return Counter(
        {
            _CELLS: cells.height,
            **{word: int((status == word).sum()) for word in schema.STATUS},
            _UNDATED: cells["created"].null_count(),
            _UNKNOWN: int(cells["writer"].str.starts_with("unknown").sum()),
            _SILENT: int(silent.sum()),
        }
    )


def report_of(
    form: str, cells: Mapping[str, int], edges: pl.DataFrame, writers: pl.Series, options: Options, rest: Mapping[str, int]
) -> pl.DataFrame:
    """The report (item, count): the `tally` of cells, edges by relation, writers, the `rest`; no line of zero."""
    assumes = options.confidence is not None
    relations = edges["relation"].cast(pl.String)
    lines = {
        f"cells, from {form}": cells[_CELLS],
        **{f"  {word}": cells[word] for word in schema.STATUS},
        "  undated: in the order of the file": cells[_UNDATED],
        "  without a writer on record": cells[_UNKNOWN],
        f"  {'with a confidence that you assumed' if assumes else 'without a confidence'}": cells[_SILENT],
        "edges": edges.height,
        **{f"  {word}": int((relations == word).sum()) for word in schema.RELATIONS},
        "writers": len(writers),
    }
    if cells[_UNDATED]:
        lines["note: laws of age refuse undated cells"] = -1
    if len(writers) == 1:
        lines[f"note: {writers[0]} is the only writer: calibration means nothing here"] = -1
    elif cells[_UNKNOWN]:
        lines["note: calibration means nothing for an unknown writer"] = -1
    if not assumes and cells[_SILENT]:
        lines["note: laws that need a confidence need --confidence NUMBER"] = -1
    texts = {item: "" if count < 0 else str(count) for item, count in {**lines, **rest}.items() if count}
    return pl.DataFrame({"item": list(texts), "count": list(texts.values())}, schema_overrides={"item": pl.String})


def report_text(report: pl.DataFrame) -> str:
    """The report, a line an item."""
    return "\n".join(f"  {item:<60} {count}".rstrip() for item, count in report.rows())
