"""Report of an import: counts of what was imported, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from malsim.importers.building.completed_rows import ASSUMED
from malsim.importers.reading.records import Options
from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory


def report_of(form: str, memory: Memory, options: Options, rest: Mapping[str, int]) -> pl.DataFrame:
    """Return the report (item, count): cells by status, edges by relation, writers, the `rest`; zero counts left out."""
    cells, writers, assumes = memory.cells, memory.writers["writer"], options.confidence is not None
    status, relations = cells["status"].cast(pl.String), memory.edges["relation"].cast(pl.String)
    silent = int((cells["topics"].list.contains(ASSUMED) if assumes else cells["stated"].is_null()).sum())
    undated, unknown = cells["created"].null_count(), int(cells["writer"].str.starts_with("unknown").sum())
    lines = {
        f"cells, from {form}": cells.height,
        **{f"  {word}": int((status == word).sum()) for word in schema.STATUS},
        "  undated: in the order of the file": undated,
        "  without a writer on record": unknown,
        f"  {'with a confidence that you assumed' if assumes else 'without a confidence'}": silent,
        "edges": memory.edges.height,
        **{f"  {word}": int((relations == word).sum()) for word in schema.RELATIONS},
        "writers": len(writers),
    }
    if undated:
        lines["note: laws of age refuse undated cells"] = -1
    if len(writers) == 1:
        lines[f"note: {writers[0]} is the only writer: calibration means nothing here"] = -1
    elif unknown:
        lines["note: calibration means nothing for an unknown writer"] = -1
    if not assumes and silent:
        lines["note: laws that need a confidence need --confidence NUMBER"] = -1
    texts = {item: "" if count < 0 else str(count) for item, count in {**lines, **rest}.items() if count}
    return pl.DataFrame({"item": list(texts), "count": list(texts.values())}, schema_overrides={"item": pl.String})


def report_text(report: pl.DataFrame) -> str:
    """Return the report with one line per item."""
    return "\n".join(f"  {item:<60} {count}".rstrip() for item, count in report.rows())
