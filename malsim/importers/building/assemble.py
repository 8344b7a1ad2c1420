"""Records as a memory, with a report of what came, what did not and why."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.importers.building.withhold import withheld
from malsim.importers.reading.put import ROW, put
from malsim.importers.reading.records import Options
from malsim.memory import schema
from malsim.memory.gate.screen import in_texts
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.rules import Rules
from malsim.memory.scores import source_quality
from malsim.memory.scoring.outcomes import contradicted

if TYPE_CHECKING:
    from malsim.importers.reading.records import Records

__all__ = ["ASSUMED", "Imported", "built"]

ASSUMED = "assumed confidence"  # the topic of a cell whose confidence the user made up
_EPOCH = date(1970, 1, 1)
_DAYS = ("created", "touched", "read", "expires", "reverify")
_DEFAULTS: dict[str, object] = {
    "rep": 0, "kind": "obs", "title": "", "body": "", "calibration": 1.0, "c0": 1.0, "salience_seed": 0.5, "salience": 0.5,
    "stability": "stable", **dict.fromkeys(schema.FLAGS, False), "allow_background_use": True, "status": "active",
    "topics": [], "entities": [], "source_refs": [], "verification": "unverified", "origin": "connector",
    "sensitivity": "private", "lineage": [],
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A memory, the date of its day 0 as `start`, and what came and what did not as `report` (item, count).

    `start` is None where nothing is dated. `extras` (cell, name, value as JSON) has no column in a memory.
    """

    memory: Memory
    start: str | None
    report: pl.DataFrame
    extras: pl.DataFrame

    def __str__(self) -> str:
        """The report, a line an item."""
        return "\n".join(f"  {item:<60} {count}".rstrip() for item, count in self.report.rows())


def built(records: Records, *, options: Options | None = None, rules: Rules | None = None) -> Imported:
    """The memory that records come to; day 0 is the day of the oldest.

    What a source does not say stays absent: stated, effective, created and touched may be null, and rows without a time
    keep the order of the file. `options.confidence` is stated in every cell without one, and marks it with a topic.
    """
    options, rules = options or Options(), rules or Rules()
    rows = _completed(records.cells, options)
    oldest = rows["created"].min()
    start = float(math.floor(oldest)) if isinstance(oldest, float) else None
    rows = rows.with_columns(pl.col(name) - (start or 0.0) for name in _DAYS)
    double = rows.height - rows["key"].n_unique()
    rows, secret = withheld(rows, rules)
    kept, untold = _safe(records.extras, rows, rules)
    placed = put(Memory.empty(), rows, records.edges)
    memory = _measured(placed.memory)
    report = _report(records, memory, options) | {
        "edges left out: an end names no cell": placed.loose.height,
        "cells with a text withheld": secret,
        "values beside a cell withheld": untold,
        "cells left out: another bears the same key": double,
        **records.counts,
    }
    shown = {item: "" if count < 0 else str(count) for item, count in report.items() if count}
    return Imported(
        memory=memory,
        start=None if start is None else (_EPOCH + timedelta(days=start)).isoformat(),
        report=pl.DataFrame({"item": list(shown), "count": list(shown.values())}, schema_overrides={"item": pl.String}),
        extras=kept,
    )


def _safe(extras: pl.DataFrame, rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Extras without those that hold a credential or belong to a secret cell, and how many were left out."""
    secret = rows.filter(pl.col("sensitivity") == "secret")["key"]
    texts = extras.select(pl.int_range(pl.len()).cast(pl.String).alias("path"), pl.col("value").alias("text"))
    found = in_texts(texts, rules)["path"]
    bad = texts["path"].is_in(found.implode()) | extras["cell"].is_in(secret.implode())
    return extras.filter(~bad), int(bad.sum())


def _completed(cells: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Every column of `put.ROW`: what is left out takes a default where a memory needs one, and is absent elsewhere."""
    given = cells.columns
    rows = cells.select(
        (pl.col(name) if name in given else pl.lit(_DEFAULTS.get(name), kind)).cast(kind).alias(name)
        for name, kind in ROW.items()
    )
    rows = rows.with_columns(
        pl.col(name).fill_null(pl.lit(value, ROW[name])) for name, value in _DEFAULTS.items() if name in given
    )
    if options.confidence is not None:
        assumed = pl.col("stated").is_null()
        topics = pl.when(assumed).then(pl.concat_list("topics", pl.lit(ASSUMED))).otherwise("topics")
        rows = rows.with_columns(topics.alias("topics"), pl.col("stated").fill_null(options.confidence))
    rows = rows.with_columns(
        pl.col("effective").fill_null(pl.col("stated")),
        pl.col("touched").fill_null(pl.col("created")),
    )
    quality = pl.Series("quality", source_quality(rows["stated"].to_numpy()))
    stated = pl.col("stated").is_not_null()
    return rows.with_columns(
        pl.col("uncertainty").fill_null((1.0 - pl.col("stated")) * 0.7),
        pl.col("concern").fill_null((1.0 - pl.col("stated")) * 0.3),
        pl.coalesce("source_quality", pl.when(stated).then(quality)).alias("source_quality"),
        pl.coalesce("currency", pl.when(pl.col("touched").is_not_null()).then("c0")).alias("currency"),
        _handles(rows),
    )


def _handles(rows: pl.DataFrame) -> pl.Series:
    """Handles made of a hash of the key, so that they stay when the source grows; longer where two would meet."""
    keys, hashed = rows["key"].cast(pl.Binary).to_list(), hashlib.blake2b
    digests = pl.Series("digest", [hashed(key, digest_size=16).hexdigest() for key in keys], pl.String)
    made = rows.select("handle", "kind", digests).with_columns(
        pl.coalesce("handle", pl.concat_str("kind", pl.lit("_"), pl.col("digest").str.head(8))).alias("short")
    )
    taken = set(rows["handle"].drop_nulls())
    meet = made.with_row_index("row").filter(pl.col("handle").is_null() & pl.col("short").is_duplicated())
    handles = made["short"].to_list() if meet.height else []
    for row, kind, digest in meet.select("row", "kind", "digest").rows():
        length = next((length for length in (8, 12, 32) if f"{kind}_{digest[:length]}" not in taken), 32)
        taken.add(handle := f"{kind}_{digest[:length]}")
        handles[row] = handle
    return pl.Series("handle", handles or made["short"], pl.String)


def _report(records: Records, memory: Memory, options: Options) -> dict[str, int]:
    """Lines of the report with their counts; −1 for a line without one."""
    cells = memory.cells
    status = cells["status"].cast(pl.String)
    unknown = cells["writer"].str.starts_with("unknown")
    silent = cells["topics"].list.contains(ASSUMED) if options.confidence is not None else cells["stated"].is_null()
    said = "with a confidence that you assumed" if options.confidence is not None else "without a confidence"
    relations = memory.edges["relation"].cast(pl.String)
    lines = {
        f"cells, from {records.form}": cells.height,
        **{f"  {word}": int((status == word).sum()) for word in schema.STATUS},
        "  undated: in the order of the file": cells["created"].null_count(),
        "  without a writer on record": int(unknown.sum()),
        f"  {said}": int(silent.sum()),
        "edges": memory.edges.height,
        **{f"  {word}": int((relations == word).sum()) for word in schema.RELATIONS},
        "writers": memory.writers.height,
    }
    if cells["created"].null_count():
        lines["note: laws of age refuse undated cells"] = -1
    if memory.writers.height == 1:
        lines[f"note: {memory.writers['writer'][0]} is the only writer: calibration means nothing here"] = -1
    elif unknown.any():
        lines["note: calibration means nothing for an unknown writer"] = -1
    if options.confidence is None and silent.any():
        lines["note: laws that need a confidence need --confidence NUMBER"] = -1
    return lines


def _measured(memory: Memory) -> Memory:
    """The memory with masses as of the recorded scores, and its writers' records."""
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
