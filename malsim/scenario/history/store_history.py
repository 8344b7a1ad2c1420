"""History of a store. Since stores retain replaced values, every cell can be read as it was after any write."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import StoreError
from malsim.base.limits import Limits
from malsim.memory import Memory, schema
from malsim.memory.gate.verdicts import FullVerdicts
from malsim.memory.law_steps import present
from malsim.memory.tables import history, read
from malsim.memory.tables.connect import connect, is_made, is_store, refusing, sound
from malsim.memory.tables.layout import MOVING, RECORD, SCORES
from malsim.sim.record.recorder import EVENTS, SIGNALS, WRITERS
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from malsim.memory import Rules
    from malsim.sim.settings.scenario import Scenario

SEEN = ["effective", "support_mass", "challenge_mass", "calibration"]
BATCH = 200_000  # maximum number of rows (cells × instants) read at once
STATE = 200  # measured memory use per cell and instant while a history is read, in bytes
SAYS = pl.coalesce(pl.col("value").cast(pl.String), "title")


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """Frames of a recorded history, whose ticks are the times at which something was written.

    `scenario` has the checks and the netlist, `snapshots` the day and memory at each instant that the netlist scans.
    """

    scenario: Scenario
    cells: pl.DataFrame
    events: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EVENTS))
    writers: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=WRITERS))
    signals: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SIGNALS))
    memory: Memory | None = None
    snapshots: tuple[tuple[float, Memory], ...] = ()

    @property
    def day(self) -> float | None:
        instants = [frame["t"].max() for frame in (self.cells, self.signals, self.events) if frame.height]
        return max(instants, default=None)  # type: ignore[type-var, return-value]  # columns of floats


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a read-only snapshot of a store, to which other processes may continue to write.

    If a write-ahead log exists, the file is opened in a mode in which closing it does not apply the log.
    """
    if path.exists() and not is_store(path):
        raise StoreError("not a malsim store", where=str(path), hint="create one: malsim import FILE -o memory.sqlite")
    log = Path(f"{path}-wal")
    connection = None
    with refusing(path):
        if log.exists() and log.stat().st_size:
            import sqlite3

            uri = f"{path.resolve().as_uri()}?mode=ro"
            connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5.0)
    connection = connection or connect(path)
    try:
        with refusing(path), sound(path):
            connection.execute("BEGIN")
            if not is_made(connection):
                raise StoreError("the store is empty", where=str(path))
            yield connection
            connection.execute("ROLLBACK")
    finally:
        connection.close()


def store_history(
    path: Path, scenario: Scenario, *, cells: frozenset[str] | None = None, snapshots: bool = False, objects: bool = False
) -> History:
    """Read the state of a store after each of its writes, without changing the file.

    `scenario` has the checks and the netlist. `cells` limits the history to these handles. With `snapshots`, the history
    has the complete memory at each instant that a netlist scans: each tick of the store, or each write if there are no
    ticks. With `objects`, the history has the signals `belief(OBJECT)` and `rivals(OBJECT)`. Raises `StoreError` if the
    file is not a store, damaged or busy, and `ScenarioError` if instants × cells exceeds the limits.
    """
    with reading(path) as file:
        now, deeds = read.present(file), read.ticks(file)
        instants = _instants(now, deeds)
        rows = _rows(now)
        if cells is not None and not (snapshots or objects):
            rows = rows.filter(pl.col("handle").is_in(list(cells)))
        states = instants.height * rows.height
        Limits.current().check({"cells": states, "memory": states * STATE}, where=str(path))
        grid = _before_supersession(_grid(file, rows, instants), now)
        readings = _as_seen(grid, _moved(file, now, instants, deeds, scenario.rules))
        writers = _writers(file, now, instants)
        verdicts, updates = read.verdicts(file), read.updates(file)
    frame = readings.with_columns(
        pl.col("handle").alias("cell"), now.cells["handle"].gather(readings["successor"]).alias("successor"),
        SAYS.alias("says"),
        pl.col("effective").alias("score"),
    ).drop("row", "deed", "handle", "key", "content")  # fmt: skip
    reps = sorted(now.cells["rep"].unique().to_list()) or [0]
    return History(
        scenario=scenario.replace(first=reps[0], replications=reps[-1] - reps[0] + 1), cells=frame, writers=writers,
        events=_events(now, verdicts, updates, _first_day(instants)), memory=now,
        signals=about_objects(frame if objects else frame.clear()),
        snapshots=tuple(_snapshots(now, grid, instants, deeds)) if snapshots else (),
    )  # fmt: skip


def _instants(now: Memory, deeds: pl.DataFrame) -> pl.DataFrame:
    """Return one row per millisecond with a write: row number and day of the last write, and the memory's size after it.

    If cells existed before the first write, as in an imported memory, the times of their creation are instants too.
    """
    instants = deeds.select("t", pl.col("row").alias("deed"), "cells", "edges", "scanned")
    if deeds.height:
        first = deeds.row(0, named=True)
        created = now.cells["created"].head(first["cells"])
        days = created.filter(created < first["t"]).drop_nulls().unique().sort()
        earlier = pl.DataFrame({"t": days}).with_columns(
            deed=pl.lit(first["row"]), cells=pl.lit(first["cells"]), edges=pl.lit(first["edges"]), scanned=pl.lit(0)
        )
        instants = pl.concat([as_columns(earlier, instants.schema), instants])
    at = (pl.col("t") * DAY).round().cast(pl.Int64).alias("at")
    return instants.with_columns(at).group_by("at", maintain_order=True).last().drop("at").sort("deed", "t")


def _rows(now: Memory) -> pl.DataFrame:
    return now.cells.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))


def _grid(file: sqlite3.Connection, rows: pl.DataFrame, instants: pl.DataFrame) -> pl.DataFrame:
    grid = instants.select("t", "deed", "cells").join(rows, how="cross")
    first = instants["deed"].min() if instants.height else 0
    created = pl.col("created").fill_null(_first_day(instants))
    exists = (pl.col("row") < pl.col("cells")) & ((pl.col("deed") > first) | (created <= pl.col("t")))
    grid = grid.filter(exists).drop("cells").sort("deed", "t", "row")
    grid = _as_of(grid, history.past_cells(file), (*MOVING, *SCORES))
    for name, old in history.past_fields(file).items():
        grid = _as_of(grid, old, (name,))
    return grid


def _first_day(instants: pl.DataFrame) -> float:
    """Return the day of the first write. An imported memory may have older cells."""
    return float(instants.filter(pl.col("deed") == pl.col("deed").min())["t"].max() or 0.0)  # type: ignore[arg-type]  # days


def _as_of(grid: pl.DataFrame, old: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    if old.is_empty():
        return grid
    until = old.with_columns((pl.col("until") - 1).alias("deed"), replaced=pl.lit(value=True)).drop("until")
    earliest = grid.select("deed", "row").join_asof(
        until.sort("deed", maintain_order=True), on="deed", by="row", strategy="forward", check_sortedness=False
    )
    replaced = earliest["replaced"].fill_null(value=False)
    return grid.with_columns(earliest[name].zip_with(replaced, grid[name]).alias(name) for name in names)


def _before_supersession(grid: pl.DataFrame, now: Memory) -> pl.DataFrame:
    superseded_on = now.cells["created"].gather(grid["successor"])
    early = pl.Series((grid["status"] == "superseded") & (superseded_on > grid["t"])).fill_null(value=False)
    if not early.any():
        return grid
    active = pl.Series("status", ["active"], dtype=schema.CELLS["status"]).new_from_index(0, grid.height)
    return grid.with_columns(
        active.zip_with(early, grid["status"]).alias("status"), grid["successor"].set(early, None).alias("successor")
    )


def _moved(
    file: sqlite3.Connection, now: Memory, instants: pl.DataFrame, deeds: pl.DataFrame, rules: Rules
) -> Iterator[pl.DataFrame]:
    ticks = deeds.filter(pl.col("deed") == "tick")["row"].implode()
    writes = instants.filter(~pl.col("deed").is_in(ticks))
    for part in writes.iter_slices(max(1, BATCH // max(1, now.height))):
        grid = _before_supersession(_grid(file, _rows(now), part), now)
        for at in part.rows(named=True):
            cells = grid.filter((pl.col("t") == at["t"]) & (pl.col("deed") == at["deed"]))
            if cells.height != at["cells"]:
                continue  # an imported memory has days before its first write on which some of its cells did not exist
            view = present(_memory_of(cells, now, at), rules)
            readings = view.memory.cells.select(SEEN)[view.moved]
            yield readings.with_columns(cells.select("t", "deed", "row")[view.moved])


def _as_seen(grid: pl.DataFrame, moved: Iterator[pl.DataFrame]) -> pl.DataFrame:
    """Return `grid` with scores replaced by those in `moved`: the scores that readers saw after writes between two ticks."""
    frames, keys = list(moved), ["t", "deed", "row"]
    if not frames:
        return grid
    readings = pl.concat(frames).with_columns(read=pl.lit(value=True))
    joined = grid.select(keys).join(readings, on=keys, how="left", maintain_order="left")
    read_ = joined["read"].fill_null(value=False)
    return grid.with_columns(joined[name].zip_with(read_, grid[name]).alias(name) for name in SEEN)


def _memory_of(cells: pl.DataFrame, now: Memory, at: Mapping[str, Any]) -> Memory:
    authors = int(cells["author"].max() or 0) + 1 if cells.height else 0  # type: ignore[arg-type]
    cells = read.with_content(cells.select(list(schema.CELLS)))
    return Memory(cells, now.edges.head(at["edges"]), now.writers.head(authors), at["scanned"])


def _writers(file: sqlite3.Connection, now: Memory, instants: pl.DataFrame) -> pl.DataFrame:
    author = now.cells["author"].to_numpy()
    first = np.full(now.writers.height, np.iinfo(np.int64).max)
    np.minimum.at(first, author, np.arange(len(author)))
    writers = now.writers.with_columns(row=pl.Series(np.arange(now.writers.height)), first=pl.Series(first))
    grid = instants.select("t", "deed", "cells").join(writers, how="cross").filter(pl.col("first") < pl.col("cells"))
    return as_columns(_as_of(grid.sort("deed", "t", "row"), history.past_records(file), RECORD), WRITERS)


def _events(now: Memory, verdicts: pl.DataFrame, updates: pl.DataFrame, first_day: float) -> pl.DataFrame:
    created = pl.col("created").fill_null(first_day)
    cells = _rows(now)
    silent = cells.join(verdicts.select(row="cell").drop_nulls(), on="row", how="anti", maintain_order="left")
    by = pl.format("by {}", "writer").alias("detail")
    successors = now.cells.select(created.alias("t"), pl.col("handle").alias("cause"), by)
    superseded = cells.filter(pl.col("successor").is_not_null())
    fields = updates.group_by("t", "row", "writer", maintain_order=True).agg(pl.col("field").str.join(", ").alias("detail"))
    updated = fields.select(
        "t", now.cells["rep"].gather(fields["row"]), pl.lit("updated").alias("kind"),
        now.cells["handle"].gather(fields["row"]).alias("subject"), "detail", pl.col("writer").alias("cause"),
    )  # fmt: skip
    frames = [
        *map(pl.DataFrame, FullVerdicts.read(verdicts).events()),
        updated,
        silent.select("t" if "t" in silent.columns else created.alias("t"), "rep",
                      pl.lit("admitted").alias("kind"), pl.col("handle").alias("subject"), by,
                      pl.lit("imported without a verdict").alias("cause")),
        pl.concat([superseded.select("rep", pl.lit("superseded").alias("kind"), pl.col("handle").alias("subject")),
                   successors[superseded["successor"]]], how="horizontal"),
    ]  # fmt: skip
    return pl.concat([as_columns(frame, EVENTS) for frame in frames]).sort("t", maintain_order=True)


def _snapshots(
    now: Memory, grid: pl.DataFrame, instants: pl.DataFrame, deeds: pl.DataFrame
) -> Iterator[tuple[float, Memory]]:
    ticks = set(deeds.filter(deeds["deed"] == "tick")["t"].to_list())
    for at in instants.rows(named=True):
        if not ticks or at["t"] in ticks:
            cells = grid.filter((pl.col("t") == at["t"]) & (pl.col("deed") == at["deed"]))
            if cells.height == at["cells"]:
                yield at["t"], _memory_of(cells, now, at)


def as_columns(frame: pl.DataFrame, kinds: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.DataFrame:
    return frame.select(list(kinds)).cast(pl.Schema(kinds))


def about_objects(cells: pl.DataFrame) -> pl.DataFrame:
    """Return two signals per object: `belief`, the highest score, and `rivals`, the number of items with another value.

    Only active items count. `cells` has the columns t, rep, object, says, score and status.
    """
    active = cells.filter(
        pl.col("status").cast(pl.String) == "active", pl.col("object").is_not_null(), pl.col("score").is_not_null()
    )
    best = active.sort("score", descending=True, maintain_order=True).group_by("t", "rep", "object", maintain_order=True)
    beliefs = best.agg(
        pl.col("score").first().alias("belief"),
        (pl.col("says") != pl.col("says").first()).sum().cast(pl.Float64).alias("rivals"),
    )
    long = beliefs.unpivot(["belief", "rivals"], index=["t", "rep", "object"], variable_name="signal", value_name="value")
    return as_columns(long.rename({"object": "row"}), SIGNALS)
