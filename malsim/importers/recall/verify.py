"""Recorded scores computed anew under the preset, and where a Recall file's record says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.importers.reading.put import put
from malsim.importers.recall.cells import is_recorded, rows_of
from malsim.importers.recall.files import read
from malsim.importers.recall.importer import first_day
from malsim.importers.recall.orders import unexplained
from malsim.importers.recall.replay import replayed_memory
from malsim.memory import schema
from malsim.memory.gate.append import source_quality
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.law import salience as decayed_salience
from malsim.memory.law import tick
from malsim.memory.rules import Rules

TOLERANCE = 1e-9
MOST_TICKS = 8  # tried at the last instant where no tick is on record
_COMPARED = ("effective", "currency", "salience", "source_quality", "status")


@dataclass(frozen=True, kw_only=True)
class Verification:
    """How many `cells` and `ticks` were replayed, and the scores that differ: handle, score, recorded, recomputed.

    `without` counts the cells that come without an effective; what is not recorded is not compared.
    """

    cells: int
    ticks: int
    without: int
    differing: pl.DataFrame

    def __str__(self) -> str:
        """The verdict, and each score that differs."""
        bare = f" ({self.without} without a recorded effective)" if self.without else ""
        head = f"{self.cells} cells, {self.ticks} ticks{bare}"
        if self.differing.is_empty():
            return f"{head}: every recorded score is what the preset computes"
        rows = (
            f"  {cell:<20} {score:<14} recorded {old}, recomputed {new}" for cell, score, old, new in self.differing.rows()
        )
        return "\n".join([f"{head}: {self.differing['handle'].n_unique()} cells differ", *rows])


def verify(path: str | Path, *, rules: Rules | None = None) -> Verification:
    """Compute a Recall file's recorded scores anew under the preset (`Rules.recall_v5()`).

    Its history is replayed (`replay.replayed_memory`); where no tick is on record, with as many at the last instant as fit
    best. A score agrees within 1e-9 with that, or with one tick from the recorded state. The order in which a claim's edges
    were written is not on record: where it matters, some order must come to the value (`orders.unexplained`).
    """
    rules = rules or Rules.recall_v5()
    archive = read(path)
    start = first_day(archive)
    rows = rows_of(archive.cells, start=start).unique("key", keep="last", maintain_order=True)
    recorded = put(Memory.empty(), rows, archive.edges).memory
    ticks = [day - start for day in archive.ticks]
    last = ticks[-1] if ticks else _last_instant(recorded.cells, rules)
    step = _as_recorded(recorded, last, rules)
    bare = _not_recorded(archive.cells)
    attempts = []
    for schedule in [ticks] if ticks else [[last] * count for count in range(MOST_TICKS + 1)]:
        cells = replayed_memory(rows, archive.edges, schedule, rules).cells
        attempts.append(
            (_differing(rows, cells, step).join(bare, on=["key", "score"], how="anti", maintain_order="left"), schedule)
        )
        if attempts[-1][0].is_empty():
            break
    differing, schedule = min(attempts, key=lambda one: one[0].height)
    if (differing["score"] == "effective").any():
        names = rows.filter(pl.Series(unexplained(rows, archive.edges, schedule, rules, tolerance=TOLERANCE)))["handle"]
        differing = differing.filter((pl.col("score") != "effective") | pl.col("handle").is_in(names.implode()))
    without = bare.filter(pl.col("score") == "effective").height
    return Verification(cells=rows.height, ticks=len(schedule), without=without, differing=differing.drop("key"))


def _not_recorded(cells: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Key and score of what the file says nothing of: an archive written by hand may have confidences alone."""
    last = {str(cell.get("key") or ""): cell for cell in cells}
    scores = [name for name in _COMPARED if name != "status"]
    bare = [(key, name) for key, cell in last.items() for name in scores if not is_recorded(cell, name)]
    return pl.DataFrame(bare, {"key": pl.String, "score": pl.String}, orient="row")


def _last_instant(cells: pl.DataFrame, rules: Rules) -> float:
    """The day on which most currencies were what they are recorded as."""
    aged = (cells["status"] == "active") & ~cells["pinned"] & (cells["currency"] < cells["c0"])
    instants = _instants(cells, rules)[aged.to_numpy()]
    return float(np.median(instants)) if instants.size else 0.0


def _instants(cells: pl.DataFrame, rules: Rules) -> NDArray[np.float64]:
    """The day on which each cell's currency was what it is recorded as."""
    share = (cells["currency"].to_numpy() - rules.currency_floor) / (cells["c0"].to_numpy() - rules.currency_floor)
    tau = rules.tau[cells["stability"].to_physical().to_numpy()]
    with np.errstate(divide="ignore", invalid="ignore"):
        days: NDArray[np.float64] = cells["touched"].to_numpy() - tau * np.log(share)
    return days


def _as_recorded(memory: Memory, last: float, rules: Rules) -> pl.DataFrame:
    """What one tick from the recorded state comes to at the last instant; replaced cells faded until some day before."""
    cells, instants = memory.cells, _instants(memory.cells, rules)
    awake = memory.with_cells(cells.with_columns(status=pl.lit("active", schema.CELLS["status"])))
    step = tick(awake, last, rules).cells.select("effective", "currency", "salience")
    since = instants - cells["read"].fill_null(cells["touched"]).to_numpy()
    salience = decayed_salience(cells["salience_seed"].to_numpy(), since, floor=rules.salience_floor, tau=rules.salience_tau)
    alike = np.abs(salience - cells["salience"].to_numpy()) <= TOLERANCE
    asleep = (cells["status"] != "active") & pl.Series(alike & (instants <= last + TOLERANCE))
    targets = memory.edges.filter((pl.col("relation") == "supersedes") & (pl.col("source") != pl.col("target")))["target"]
    is_replaced = pl.int_range(pl.len()).is_in(targets.implode()) & (cells["status"] == "superseded")
    return step.with_columns(
        *(pl.when(asleep).then(cells[name]).otherwise(name).alias(name) for name in ("currency", "salience")),
        pl.Series("source_quality", source_quality(cells["stated"].to_numpy())),
        pl.when(is_replaced).then(pl.lit("superseded")).otherwise(pl.lit("active")).alias("status"),
    )


def _differing(rows: pl.DataFrame, again: pl.DataFrame, step: pl.DataFrame) -> pl.DataFrame:
    """The recorded scores that neither way of computing comes to."""
    replayed = rows.select("key").join(again, on="key", how="left", maintain_order="left")
    frames = []
    for name in _COMPARED:
        old, new, still = rows[name], replayed[name], step[name]
        if name == "status":
            differs = old.ne_missing(new.cast(pl.String)) & old.ne_missing(still)
        else:
            differs = ~((old - new).abs() <= TOLERANCE).fill_null(value=False) & ~((old - still).abs() <= TOLERANCE)
        recomputed = new.cast(pl.String).fill_null(still.cast(pl.String))
        columns = (pl.lit(name).alias("score"), old.cast(pl.String).alias("recorded"), recomputed.alias("recomputed"))
        frames.append(rows.select("key", "handle", *columns).filter(differs))
    return pl.concat(frames).sort("handle", maintain_order=True)
