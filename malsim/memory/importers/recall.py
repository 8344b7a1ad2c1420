"""A user's own Recall store as a memory, with a report of what came and what did not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema, screen
from malsim.memory.cells import Memory
from malsim.memory.importers.recall_cells import put, rows_of
from malsim.memory.importers.recall_files import read
from malsim.memory.rules import Rules
from malsim.memory.wording import worded

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.memory.importers.recall_files import Archive

__all__ = ["Imported", "first_day", "import_recall"]

_EPOCH = date(1970, 1, 1)
WITHHELD = "(withheld: {})"


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A memory, the date of its day 0 as `start`, and what came and what did not as `report` (item, count)."""

    memory: Memory
    start: str
    report: pl.DataFrame

    def __str__(self) -> str:
        """The report, a line an item."""
        return "\n".join(f"  {item:<44} {count}".rstrip() for item, count in self.report.rows())


def import_recall(path: str | Path, *, rules: Rules | None = None) -> Imported:
    """Read a Recall database or JSON archive into a memory: keys, handles, scores, statuses and lineage as they are.

    The file is opened for reading only. Day 0 is the day of its oldest cell; of a cell's subjects the first is its object.
    Where a text holds what the screen takes for a credential it is withheld, as is the text of cells that are marked secret;
    the table of secrets is never read. Edges that name their target by handle, which have no effect there, are resolved
    unless the rules leave them inert. Raises `StoreError` for a file that is none of Recall's.
    """
    rules = rules or Rules()
    archive = read(path)
    start = first_day(archive)
    rows, withheld = _screened(rows_of(archive.cells, start=start), rules)
    edges, by_handle = _by_key(archive, rows, rules)
    placed = put(Memory.empty(), rows, edges)
    memory = _measured(placed.memory)
    status = memory.cells["status"].cast(pl.String)
    report = {
        f"cells, from a {archive.form}": memory.cells.height,
        **{f"  {word}": int((status == word).sum()) for word in schema.STATUS if (status == word).any()},
        "edges": memory.edges.height,
        "  whose target was named by its handle": by_handle,
        "writers": memory.writers.height,
        "cells with a text withheld": withheld,
        "edges left out: an end names no cell": placed.loose.height,
        "cells left out: not readable": archive.unreadable,
        **{f"left out: {name}": count for name, count in archive.left.items() if count},
        **{f"absent: {name}": "" for name in archive.absent},
    }
    told = pl.DataFrame({"item": list(report), "count": [str(count) for count in report.values()]})
    return Imported(memory=memory, start=(_EPOCH + timedelta(days=start)).isoformat(), report=told)


def first_day(archive: Archive) -> float:
    """The whole day, counted from 1970, on which the oldest cell was created."""
    return float(math.floor(rows_of(archive.cells)["created"].min() or 0.0))  # type: ignore[arg-type]  # a column of numbers


def _screened(rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Rows without secrets, and how many cells had any."""
    claims = rows.with_row_index("claim")
    found = screen.secrets(claims, pl.DataFrame(schema={"claim": pl.UInt32, "target": pl.String}), rules)
    marked = pl.Series(range(rows.height), dtype=pl.UInt32).filter(rows["sensitivity"] == "secret")
    for name in ("title", "body", "summary", "writer", "object", "handle", "key"):
        here = found.filter(pl.col("path") == name)
        said = here.select("claim", worded(WITHHELD, "finding").alias("said"))
        rows = rows.with_row_index("claim").join(said, on="claim", how="left", maintain_order="left")
        rows = rows.with_columns(pl.coalesce("said", name).alias(name)).drop("said", "claim")
    numbered = pl.int_range(pl.len(), dtype=pl.UInt32)
    lists = found.filter(pl.col("path").str.ends_with("]"))["claim"]
    rows = rows.with_columns(
        pl.when(numbered.is_in(pl.concat([lists, marked]).implode())).then(pl.lit([])).otherwise(name).alias(name)
        for name in ("topics", "entities", "source_refs")
    )
    secret = pl.when(numbered.is_in(marked.implode())).then(pl.lit(WITHHELD.format("secret")))
    rows = rows.with_columns(secret.otherwise(name).alias(name) for name in ("title", "body", "summary"))
    rows = rows.with_columns(pl.when(~numbered.is_in(marked.implode())).then("object").alias("object"))
    return rows, pl.concat([found["claim"], marked]).n_unique()


def _by_key(archive: Archive, rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Edges with the key where the target was named by its handle, and how many were."""
    names = rows.select("handle", named="key").unique("handle", keep="first", maintain_order=True)
    edges = archive.edges.join(names, left_on="target", right_on="handle", how="left", maintain_order="left")
    by_handle = ~edges["target"].is_in(rows["key"].implode()) & edges["named"].is_not_null()
    if rules.handle_evidence == "inert":
        return archive.edges.filter(~by_handle), int(by_handle.sum())
    target = pl.when(by_handle).then("named").otherwise("target").alias("target")
    return edges.with_columns(target).drop("named"), int(by_handle.sum())


def _measured(memory: Memory) -> Memory:
    """The memory with masses as of the recorded scores, and its writers' records."""
    cells = memory.cells
    support, challenge = memory.wiring.masses(cells["effective"].to_numpy())
    author, count = cells["author"].to_numpy(), memory.writers.height
    wrong = memory.contradicted("any")
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
