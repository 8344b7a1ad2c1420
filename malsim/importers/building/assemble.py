"""Assembly of imported records into a memory, with a report of what was imported, what was left out and why."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from malsim.base.errors import DataError
from malsim.importers.reading.put import ROW, put
from malsim.importers.reading.records import Options, Records
from malsim.memory import schema
from malsim.memory.gate import screen
from malsim.memory.gate.append import source_quality
from malsim.memory.gate.checks import idle_programs
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import format_expr
from malsim.memory.outcomes import contradicted
from malsim.memory.rules import Rules
from malsim.memory.tables.stored_wires import Standing

_EPOCH = date(1970, 1, 1)
WITHHELD = "(withheld: {})"
ASSUMED = "assumed confidence"  # topic given to each cell whose confidence the user supplied
SHORT = 8  # number of hex digits in a handle unless another cell has the same digits
_LENGTHS = (SHORT, 12, 32)
_DAYS = ("created", "touched", "read", "valid_from", "valid_to", "expires", "reverify")
_DEFAULTS: dict[str, object] = {
    "rep": 0, "kind": "obs", "title": "", "body": "", "calibration": 1.0, "c0": 1.0, "salience_seed": 0.5, "salience": 0.5,
    "stability": "stable", **dict.fromkeys(schema.FLAGS, False), "allow_background_use": True, "status": "active",
    "topics": [], "entities": [], "source_refs": [], "verification": "unverified", "origin": "connector",
    "sensitivity": "private", "lineage": [],
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ImportedMemory:
    """Imported memory. `start` is the date of its day 0, or None if no cell is dated.

    `report` (item, count) counts what was imported and left out. `extras` (cell, name, value as JSON) holds values that
    have no column in a memory, and `wiring` is the source's netlist.
    """

    memory: Memory
    start: str | None
    report: pl.DataFrame
    extras: pl.DataFrame
    wiring: Standing | None = None

    def __str__(self) -> str:
        """Return the numbers of cells, edges and writers, the date of day 0, and the report, one item per line."""
        cells, edges, writers = (self.memory.table(name).height for name in ("cells", "edges", "writers"))
        day = f"day 0 is {self.start}" if self.start else "nothing is dated"
        if not cells:
            return f"nothing was imported: the source contains no claims\n{report_text(self.report)}"
        return f"{cells} cells, {edges} edges, {writers} writers, {day}\n{report_text(self.report)}"


def assemble(records: Records, *, options: Options | None = None) -> ImportedMemory:
    """Assemble a memory from records. Day 0 is the day of the oldest record.

    Values that the source lacks stay null (stated, effective, created, touched), and rows without a time keep the order
    of the file. A cell without a confidence gets `options.confidence`, and a topic that marks it.
    """
    options, rules = options or Options(), Rules()
    rows = completed(records.cells, options)
    start, date_0 = _day_0(rows["created"].min())
    rows, secret = withheld(rows.with_columns(pl.col(name) - (start or 0.0) for name in _DAYS), rules)
    rows = with_handles(rows)
    idle = idle_programs(rows.filter(~pl.col("key").is_in(records.programs)), rules)
    rows = rows.filter(~pl.col("key").is_in([key for key, _ in idle.values()]))
    extras, withheld_extras = safe_extras(records.extras, rows, rules)
    placement = put(Memory.empty(), rows, records.edges)
    memory = _with_masses(placement.memory)
    rest = {
        "left out: edges with an unknown cell or relation": placement.loose.height,
        "cells with withheld texts": secret,
        "withheld extra values of cells": withheld_extras,
        "left out: cells with the key of another cell": rows.height - memory.height,
    }
    rest |= {f"left out: {handle}: {problem}": 1 for handle, (_, problem) in idle.items()}
    report = report_of(records.form, memory, options, rest | records.counts)
    return ImportedMemory(memory=memory, start=date_0, report=report, extras=extras, wiring=records.wiring)


def completed(cells: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return the rows with all columns of `put.ROW`.

    A missing value is derived from another column, becomes the column's default, or stays null.
    """
    present = cells.columns
    rows = cells.select(
        (pl.col(name) if name in present else pl.lit(_DEFAULTS.get(name), kind)).cast(kind).alias(name)
        for name, kind in ROW.items()
    )
    rows = rows.with_columns(
        pl.col(name).fill_null(pl.lit(value, ROW[name])) for name, value in _DEFAULTS.items() if name in present
    )
    if options.scopes is not None:
        numbers = options.scopes
        for name in rows["scope"].drop_nulls().unique(maintain_order=True):
            numbers.setdefault(name, max(numbers.values(), default=0) + 1)
        rows = rows.with_columns(rep=rows["scope"].replace_strict(numbers, default=0, return_dtype=ROW["rep"]))
    if options.confidence is not None:
        assumed = pl.col("stated").is_null()
        topics = pl.when(assumed).then(pl.concat_list("topics", pl.lit(ASSUMED))).otherwise("topics")
        rows = rows.with_columns(topics.alias("topics"), pl.col("stated").fill_null(options.confidence))
    rows = rows.with_columns(pl.col("effective").fill_null(pl.col("stated")), pl.col("touched").fill_null(pl.col("created")))
    quality = pl.Series("quality", source_quality(rows["stated"].to_numpy()))
    stated = pl.col("stated").is_not_null()
    return rows.with_columns(
        pl.col("uncertainty").fill_null((1.0 - pl.col("stated")) * 0.7),
        pl.col("concern").fill_null((1.0 - pl.col("stated")) * 0.3),
        pl.coalesce("source_quality", pl.when(stated).then(quality)).alias("source_quality"),
        pl.coalesce("currency", pl.when(pl.col("touched").is_not_null()).then("c0")).alias("currency"),
    )


def with_handles(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill in missing handles with hashes of the keys, so that handles do not change when the source grows.

    A handle is longer if two cells would otherwise have the same handle.
    """
    digests = [hashlib.blake2b(key, digest_size=16).digest() for key in rows["key"].cast(pl.Binary).to_list()]
    digits = pl.Series(digests, dtype=pl.Binary).bin.encode("hex").str.head(SHORT)
    short = rows.with_columns(pl.coalesce("handle", pl.concat_str("kind", pl.lit("_"), digits)).alias("handle"))
    collisions = (rows["handle"].is_null() & short["handle"].is_duplicated()).arg_true().to_list()
    if not collisions:
        return short
    handles, kinds, used = short["handle"].to_list(), rows["kind"].to_list(), set(rows["handle"].drop_nulls())
    for row in collisions:
        handles[row] = _free_handle(kinds[row], digests[row], used)
    return rows.with_columns(pl.Series("handle", handles, pl.String))


def _free_handle(kind: str, digest: bytes, used: set[str]) -> str:
    """Return the shortest unused handle made from the digest, and add it to `used`."""
    digits = digest.hex()
    names = (f"{kind}_{digits[:length]}" for length in _LENGTHS)
    handle = next((name for name in names if name not in used), f"{kind}_{digits}")
    used.add(handle)
    return handle


def _day_0(oldest: object) -> tuple[float | None, str | None]:
    """Return the day of the oldest cell, as a number of days since 1970 and as a date.

    Both are None if no cell is dated.
    """
    if not isinstance(oldest, float):
        return None, None
    try:
        start = float(math.floor(oldest))
        return start, (_EPOCH + timedelta(days=start)).isoformat()
    except (OverflowError, ValueError) as problem:
        raise DataError("the date is out of bounds", given=oldest, allowed="the years 1 to 9999") from problem


def _with_masses(memory: Memory) -> Memory:
    """Return the memory with support and challenge masses computed from the recorded scores, and writers' track records."""
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
    """Return the import report (item, count): cells by status, edges by relation, writers, then the counts in `rest`.

    Zero counts are left out.
    """
    cells, writers, assumes = memory.cells, memory.writers["writer"], options.confidence is not None
    status, relations = cells["status"].cast(pl.String), memory.edges["relation"].cast(pl.String)
    silent = int((cells["topics"].list.contains(ASSUMED) if assumes else cells["stated"].is_null()).sum())
    undated, unknown = cells["created"].null_count(), int(cells["writer"].str.starts_with("unknown").sum())
    lines = {
        f"cells, from {form}": cells.height,
        **{f"  {word}": int((status == word).sum()) for word in schema.STATUS},
        "  undated, in file order": undated,
        "  without a known writer": unknown,
        f"  {'with an assumed confidence' if assumes else 'without a confidence'}": silent,
        "edges": memory.edges.height,
        **{f"  {word}": int((relations == word).sum()) for word in schema.RELATIONS},
        "writers": len(writers),
    }
    if undated:
        lines["note: laws that use age refuse undated cells"] = -1
    if len(writers) == 1:
        lines[f"note: {writers[0]} is the only writer, so calibration is meaningless"] = -1
    elif unknown:
        lines["note: calibration is meaningless for an unknown writer"] = -1
    if not assumes and silent:
        lines["note: for laws that need confidences, add --confidence NUMBER"] = -1
    texts = {item: "" if count < 0 else str(count) for item, count in {**lines, **rest}.items() if count}
    return pl.DataFrame({"item": list(texts), "count": list(texts.values())}, schema_overrides={"item": pl.String})


def report_text(report: pl.DataFrame) -> str:
    return "\n".join(f"  {item:<60} {count}".rstrip() for item, count in report.rows())


_TEXTS = ("title", "body", "summary", "writer", "object", "handle", "key")
_LISTS = ("topics", "entities", "source_refs")


def withheld(rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Return the rows (columns of `put.ROW`) with secrets withheld, and the number of rows that contained a secret."""
    nothing = pl.DataFrame(schema={"claim": pl.UInt32, "target": pl.String})
    # imported rows have no text values, but the screen needs the column
    claims = rows.with_row_index("claim").with_columns(value_text=pl.lit(None, pl.String))
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
    """Return the extras without credentials and without values of secret cells, and the number of extras left out."""
    if extras.is_empty():
        return extras, 0
    secret = rows.filter(pl.col("sensitivity") == "secret")["key"]
    texts = extras.select(pl.int_range(pl.len()).cast(pl.String).alias("path"), pl.col("value").alias("text"))
    findings = screen.in_texts(texts, rules)["path"]
    bad = texts["path"].is_in(findings.implode()) | extras["cell"].is_in(secret.implode())
    return extras.filter(~bad), int(bad.sum())
