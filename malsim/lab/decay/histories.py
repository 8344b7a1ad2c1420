"""Stretches of time during which the claims about an object agree, and the changes that end them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from malsim.base.errors import DataError, UsageError
from malsim.memory.push.ten_cells import WRITER
from malsim.memory.store import Store

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Ints

ENDINGS = ("anyone", "other_writer", "verified", "either", "superseded", "contradicted")
ALONE = "\0"  # prefix of generated object names for claims without an object; no real name begins with it
_DROPPED = -1
_ROW = pl.col("row")
_OBJECT = ["rep", "object"]


def histories(source: Any, *, ended_by: str = "anyone", until: float | None = None) -> pl.DataFrame:
    """Return a log for `fit_decay` with one row per stretch: a period during which the claims about an object agree.

    A stretch ends with the next claim of another value about the object; restatements of the same value do not end it.
    Columns: rep, object, cell (of the first claim), stability, topics, value (as claimed), start (day of the first claim),
    after (days from start to the last claim), before (days from start to the claim that ended the stretch; null: still true
    when last seen), entered (age at the first sighting: 0, or null for an object's first stretch, whose age is unknown),
    restated (days between claims), until (day on which the log was closed), ended_by. The truth changed between `after` and
    `before`. Changes that nobody reported are not in the log.

    Parameters
    ----------
    source
        A run, a replay, a store or its path, or a memory. Runs and stores also record the claims that the gate
        deduplicated; a memory alone does not.
    ended_by
        Claims that can end a stretch. anyone: all claims; other_writer: claims by a writer other than the one who started
        the stretch; verified: claims that are not `unverified`; superseded, contradicted, either: claims that superseded an
        earlier claim, or contradict another writer's claim. Other claims of a different value are left out.
    until
        Day on which the log is closed; if None, the last day of the source. Later claims are left out.

    Raises
    ------
    UsageError
        For an unknown `ended_by`, a source without claims, or an `until` before the first claim.
    """
    if ended_by not in ENDINGS:
        raise UsageError("no such ending", where="histories: ended_by", given=ended_by, allowed=", ".join(ENDINGS))
    claims = _sightings(source)
    if claims["t"].is_nan().any():
        raise DataError("not a number of days", where="histories: t", given="NaN")
    end = _last_day(source, claims) if until is None else until
    first_day = claims["t"].to_numpy().min()
    if first_day > end:
        allowed = f"{first_day:g} or later"
        raise UsageError("this day is before the first claim", where="histories: until", given=until, allowed=allowed)
    claims = claims.filter(pl.col("t") <= end)
    claims = claims.with_columns(pl.Series("stretch", _stretches(claims, ended_by))).filter(pl.col("stretch") != _DROPPED)
    first, t = pl.col("stretch") == 0, pl.col("t")
    log = claims.group_by(*_OBJECT, "stretch", maintain_order=True).agg(
        pl.col("cell").first(), pl.col("stability", "topics").first(), pl.col("said").first().alias("value"),
        start=t.first(), after=t.last() - t.first(), restated=t.diff().drop_nulls(),
    )  # fmt: skip
    return log.select(
        *_OBJECT, "cell", "stability", "topics", "value", "start", "after",
        before=pl.col("start").shift(-1).over(_OBJECT) - pl.col("start"),
        entered=pl.when(first).then(None).otherwise(0.0),
        restated="restated",
        until=pl.lit(float(end)),
        ended_by=pl.lit(ended_by),
    ).with_columns(pl.col("object").str.strip_prefix(ALONE))  # fmt: skip


def restatements(log: pl.DataFrame) -> pl.DataFrame:
    """Return one row per restatement of a value: rep, object, value, interval (days since the previous claim)."""
    return log.select("rep", "object", "value", interval="restated").explode("interval").drop_nulls("interval")


def _stretches(claims: pl.DataFrame, ended_by: str) -> Ints:
    """Return the index of each claim's stretch within its object, counted from 0; −1 for claims that are left out.

    Round k handles the k-th claim of every object at once.
    """
    if ended_by == "either":
        can_end = pl.col("superseded") | pl.col("contradicted")
    else:
        can_end = pl.lit(value=True) if ended_by in ("anyone", "other_writer") else pl.col(ended_by)
    columns = claims.select(
        key=pl.struct("rep", "object").rank("dense").cast(pl.Int64) - 1,
        value=pl.col("said").rank("dense").cast(pl.Int64),
        writer=pl.col("writer").fill_null("").rank("dense").cast(pl.Int64),
        can_end=can_end,
    )
    key, value, writer, may_end = (columns[name].to_numpy() for name in ("key", "value", "writer", "can_end"))
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    counts = np.diff(begins, append=len(key))
    current, author, stretch = value[begins], writer[begins], np.zeros(len(begins), dtype=np.int64)
    numbers = np.zeros(len(key), dtype=np.int64)
    for turn in range(1, counts.max()):
        objects = np.flatnonzero(counts > turn)
        row = begins[objects] + turn
        differs = value[row] != current[objects]
        ends = differs & may_end[row] & ((writer[row] != author[objects]) | (ended_by != "other_writer"))
        over = objects[ends]
        current[over], author[over] = value[row[ends]], writer[row[ends]]
        stretch[over] += 1
        numbers[row] = np.where(differs & ~ends, _DROPPED, stretch[objects])
    return numbers


def _last_day(source: Any, claims: pl.DataFrame) -> float:
    days = [float(claims["t"].to_numpy().max())]
    if memory := getattr(source, "memory", None):
        times = pl.concat([memory.cells["touched"], memory.edges["t"]]).drop_nulls()
        days += [float(day) for day in times.to_list()]
    if scenario := getattr(source, "scenario", None):
        days.append(float(scenario.days))
    return max(days)


def _sightings(source: Any) -> pl.DataFrame:
    """Return one row per claim, including restatements, sorted by replication, object, time, and row.

    Columns: rep, object, first (row of the cell made or restated), cell, stability, topics, t (days), writer, said (value
    or title), verified, superseded and contradicted (true if the claim replaced an earlier claim, or contradicts a claim of
    another writer). Claims without an object that supersede or contradict each other share a made-up object.
    """
    if isinstance(source, (str, Path)):
        with Store(source, write=False) as store:
            return _sightings(store)
    memory: Memory = getattr(source, "memory", source)
    cells = _cells(memory)
    claims = pl.concat([cells, _restatements(source, cells)])
    # The ten cells with which every memory starts are not claims about the world.
    claims = claims.filter(pl.col("writer").fill_null("") != WRITER)
    if claims.is_empty():
        raise UsageError("the memory has no claims", where="histories", hint="admit claims first")
    return claims.sort("rep", "object", "t", "first", "restated", maintain_order=True).drop("restated")


def _cells(memory: Memory) -> pl.DataFrame:
    cells = memory.cells.with_row_index("row").with_columns(_ROW.cast(pl.Int64))
    edges = memory.edges.filter(pl.col("relation") == "contradicts").select("source", "target")
    has_object = pl.col("object").is_not_null() & (pl.col("object") != "")
    alone = pl.lit(ALONE) + pl.col("handle").first().over(pl.Series("group", _groups(cells, edges)))
    claims = cells.with_columns(
        said=pl.coalesce(pl.col("value").cast(pl.String), pl.col("title").str.to_lowercase().str.strip_chars()),
        object=pl.when(has_object).then("object").otherwise(alone),
    )
    replaced = claims.filter(pl.col("successor") >= 0)
    superseding = replaced.filter(pl.col("said") != claims["said"].gather(replaced["successor"]))["successor"]
    source, target = (claims[edges[end].to_list()] for end in ("source", "target"))
    disputes = (source["created"] > target["created"]) & (source["writer"] != target["writer"])
    return claims.select(
        "rep", "object", pl.col("row").alias("first"), pl.col("handle").alias("cell"), "stability", "topics",
        pl.col("created").alias("t"), "writer", "said",
        verified=pl.col("verification") != "unverified",
        superseded=_ROW.is_in(superseding.implode()),
        contradicted=_ROW.is_in(source.filter(disputes)["row"].implode()),
        restated=pl.lit(value=False),
    )  # fmt: skip


def _groups(cells: pl.DataFrame, edges: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Return a group number for each cell. Cells linked by supersession or contradiction share a group."""
    old = cells.filter(pl.col("successor") >= 0)
    source, target = pl.concat([old["row"], edges["source"]]), pl.concat([old["successor"], edges["target"]])
    ends = source.to_numpy(), target.to_numpy()
    graph = coo_array((np.ones(len(source)), ends), shape=(cells.height, cells.height))
    return np.asarray(connected_components(graph, directed=False)[1])


def _restatements(source: Any, cells: pl.DataFrame) -> pl.DataFrame:
    """Return the claims that the gate deduplicated, taken from a store's verdicts or a run's events."""
    if isinstance(source, Store):
        verdicts = source.verdicts.filter(pl.col("verdict") == "deduplicated").select("rep", "t", "writer", first="cell")
        again = verdicts.join(cells.drop("t", "writer", "rep"), on="first")
    else:
        events: pl.DataFrame = getattr(source, "events", pl.DataFrame())
        if "subject" not in events.columns:
            return cells.clear()
        verdicts = events.filter(pl.col("kind") == "deduplicated").select(
            "rep", "t", writer=pl.col("detail").str.strip_prefix("by "), cell="subject"
        )
        again = verdicts.join(cells.drop("t", "writer"), on=["rep", "cell"])
    return again.with_columns(restated=pl.lit(value=True)).select(cells.columns)
