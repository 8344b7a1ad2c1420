"""Assembly of records into a memory, with a report of what was imported, what was left out and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from malsim.base.errors import DataError
from malsim.importers.building.completed_rows import ASSUMED, completed, dated_from, with_handles
from malsim.importers.reading.put import put
from malsim.importers.reading.records import Options, Records
from malsim.memory import schema
from malsim.memory.gate import screen
from malsim.memory.gate.checks import idle_programs
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import format_expr
from malsim.memory.rules import Rules
from malsim.memory.scoring.outcomes import contradicted
from malsim.memory.tables.standing_parts import Standing

__all__ = ["ASSUMED", "ImportedMemory", "assemble"]

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class ImportedMemory:
    """Memory, the date of its day 0 as `start`, and the counts of what was imported and left out as `report` (item, count).

    `start` is None where nothing is dated. `extras` (cell, name, value as JSON) has no column in a memory, and
    `wiring` is its netlist.
    """

    memory: Memory
    start: str | None
    report: pl.DataFrame
    extras: pl.DataFrame
    wiring: Standing | None = None

    def __str__(self) -> str:
        """Return how much came and from when, and the report with a line per item."""
        cells, edges, writers = (self.memory.table(name).height for name in ("cells", "edges", "writers"))
        day = f"day 0 is {self.start}" if self.start else "nothing is dated"
        if not cells:
            return f"nothing was imported: the source holds no claim\n{report_text(self.report)}"
        return f"{cells} cells, {edges} edges, {writers} writers, {day}\n{report_text(self.report)}"


def assemble(records: Records, *, options: Options | None = None, rules: Rules | None = None) -> ImportedMemory:
    """Assemble a memory from records; day 0 is the day of the oldest record.

    What a source does not say stays absent: stated, effective, created and touched may be null, and rows without a time
    keep the order of the file. `options.confidence` is stated in every cell without one, and marks it with a topic.
    """
    options, rules = options or Options(), rules or Rules()
    rows = completed(records.cells, options)
    start, date_0 = _day_0(rows["created"].min())
    rows, secret = withheld(dated_from(rows, start), rules)
    rows, idle = _without_idle(with_handles(rows), records, rules)
    extras, untold = safe_extras(records.extras, rows, rules)
    placement = put(Memory.empty(), rows, records.edges)
    memory = _with_masses(placement.memory)
    rest = {
        "edges left out: an end names no cell": placement.loose.height,
        "cells with a text withheld": secret,
        "further values of a cell withheld": untold,
        "cells left out: another bears the same key": rows.height - memory.height,
    }
    report = report_of(records.form, memory, options, rest | idle | records.counts)
    return ImportedMemory(memory=memory, start=date_0, report=report, extras=extras, wiring=records.wiring)


def _without_idle(rows: pl.DataFrame, records: Records, rules: Rules) -> tuple[pl.DataFrame, dict[str, int]]:
    """Leave out cells whose program runs nothing; return a line of the report for each, with a sentence that would run."""
    idle = idle_programs(rows.filter(~pl.col("key").is_in(records.programs)), rules)
    lines = {f"left out: {handle}: {problem}": 1 for handle, (_, problem) in idle.items()}
    return rows.filter(~pl.col("key").is_in([key for key, _ in idle.values()])), lines


def _day_0(oldest: object) -> tuple[float | None, str | None]:
    """Return the day on which the oldest cell was created, as a count from 1970 and as a date; None if it has no date."""
    if not isinstance(oldest, float):
        return None, None
    try:
        start = float(math.floor(oldest))
        return start, (_EPOCH + timedelta(days=start)).isoformat()
    except (OverflowError, ValueError) as problem:
        raise DataError("not a day of a calendar", given=oldest, allowed="days from the year 1 to 9999") from problem


def _with_masses(memory: Memory) -> Memory:
    """Return the memory with masses computed from the recorded scores, and with its writers' track records."""
    cells = memory.cells
    support, challenge = memory.wiring.masses(cells["effective"].to_numpy())
    author, count = cells["author"].to_numpy(), memory.writers.height
    wrong = contradicted(memory, "any")
    latest = np.ones(count)
    order = np.argsort(cells["created"].to_numpy(), kind="stable")
    latest[author[order]] = cells["calibration"].to_numpy()[order]
    writers = memory.writers.with_columns(
        pl.Series("claims", np.bincount(author, minlength=count)),
        pl.Series("contradicted", np.bincount(author, weights=wrong, minlength=count).astype(np.int64)),
        pl.Series("calibration", latest),
    )
    masses = (pl.Series("support_mass", support), pl.Series("challenge_mass", challenge))
    return Memory(cells.with_columns(masses), memory.edges, writers, memory.edges.height)


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
    return "\n".join(f"  {item:<60} {count}".rstrip() for item, count in report.rows())


WITHHELD = "(withheld: {})"
_TEXTS = ("title", "body", "summary", "writer", "object", "handle", "key")
_LISTS = ("topics", "entities", "source_refs")


def withheld(rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Return rows of cells (columns of `put.ROW`) without secrets, and the number of rows that had any."""
    nothing = pl.DataFrame(schema={"claim": pl.UInt32, "target": pl.String})
    claims = rows.with_row_index("claim").with_columns(value_text=pl.lit(None, pl.String))  # no importer has any
    findings = screen.secrets(claims, nothing, rules)
    secret_rows = pl.Series(range(rows.height), dtype=pl.UInt32).filter(rows["sensitivity"] == "secret")
    if findings.is_empty() and secret_rows.is_empty():
        return rows, 0
    for name in _TEXTS:
        here = findings.filter(pl.col("path") == name)
        notices = here.select("claim", format_expr(WITHHELD, "finding").alias("notice"))
        rows = rows.with_row_index("claim").join(notices, on="claim", how="left", maintain_order="left")
        rows = rows.with_columns(pl.coalesce("notice", name).alias(name)).drop("notice", "claim")
    row_number = pl.int_range(pl.len(), dtype=pl.UInt32)
    lists = findings.filter(pl.col("path").str.ends_with("]"))["claim"]
    rows = rows.with_columns(
        pl.when(row_number.is_in(pl.concat([lists, secret_rows]).implode())).then(pl.lit([])).otherwise(name).alias(name)
        for name in _LISTS
    )
    secret = pl.when(row_number.is_in(secret_rows.implode())).then(pl.lit(WITHHELD.format("secret")))
    rows = rows.with_columns(secret.otherwise(name).alias(name) for name in ("title", "body", "summary"))
    rows = rows.with_columns(pl.when(~row_number.is_in(secret_rows.implode())).then("object").alias("object"))
    return rows, pl.concat([findings["claim"], secret_rows]).n_unique()


def safe_extras(extras: pl.DataFrame, rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Return extras without credentials and without those of secret cells, and the number left out."""
    if extras.is_empty():
        return extras, 0
    secret = rows.filter(pl.col("sensitivity") == "secret")["key"]
    texts = extras.select(pl.int_range(pl.len()).cast(pl.String).alias("path"), pl.col("value").alias("text"))
    findings = screen.in_texts(texts, rules)["path"]
    bad = texts["path"].is_in(findings.implode()) | extras["cell"].is_in(secret.implode())
    return extras.filter(~bad), int(bad.sum())
