"""Independence of claims: copies from one origin count once, echoes weigh less, and abandoned values are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.laws.truth.evidence import latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints

WITNESSES = 2  # minimum number of witnesses, because a single witness may err


def copies(writer: Ints, object_: Ints, value: Ints, time: Array, origins: Sequence[Ints]) -> Bools:
    """Mark claims that repeat another writer's earlier claim with the same value, object and origin.

    Each array in `origins` holds the index of an origin per claim, or -1; an origin's earliest claim is the original. A
    writer's repetition of its own claim is not a copy.

    >>> same = np.zeros(3, dtype=int)
    >>> copies(np.array([0, 1, 0]), same, same, np.arange(3.0), [np.array([7, 7, 7])]).tolist()
    [False, True, False]
    """
    copy = np.zeros(len(writer), dtype=bool)
    for origin in origins:
        rows = np.flatnonzero(origin >= 0)
        first = _first(np.stack([object_[rows], value[rows], origin[rows]]), time[rows])
        copy[rows] |= writer[rows][first] != writer[rows]
    return copy


def echoes(writer: Ints, object_: Ints, value: Ints, time: Array) -> Bools:
    """Mark claims that repeat a value after a different writer, who claimed it first, has switched to another value.

    >>> echoes(np.array([0, 0, 1]), np.zeros(3, dtype=int), np.array([0, 1, 0]), np.arange(3.0)).tolist()
    [False, False, True]
    """
    if not len(writer):
        return np.zeros(0, dtype=bool)
    index = np.empty(len(writer), dtype=np.int64)  # position of each claim in order of time
    index[np.argsort(time, kind="stable")] = np.arange(len(writer))
    by = writer[_first(np.stack([object_, value]), time)]
    objects, size = int(object_.max()) + 1, len(writer)
    key = (writer.astype(np.int64) * objects + object_) * size + index
    order = np.argsort(key)
    last_key = (by.astype(np.int64) * objects + object_) * size + index
    # For each claim, the latest earlier claim by the first claimant of its value.
    before = order[np.searchsorted(key[order], last_key, side="left") - 1]
    echo: Bools = (by != writer) & (value[before] != value)
    return echo


def disowned(writer: Ints, object_: Ints, value: Ints, time: Array) -> Bools:
    """Mark claims of a value whose first claimant has since claimed another. All marked claims of a value count as one.

    >>> disowned(np.array([0, 1, 2, 0]), np.zeros(4, dtype=int), np.array([7, 7, 8, 8]), np.arange(4.0)).tolist()
    [True, True, False, False]
    """
    if not len(writer):
        return np.zeros(0, dtype=bool)
    last, objects = latest(writer, object_, time), int(object_.max()) + 1
    key = writer.astype(np.int64) * objects + object_
    last = last[np.argsort(key[last])]
    first = writer[_first(np.stack([object_, value]), time)]
    word = value[last[np.searchsorted(key[last], first * objects + object_)]]
    differs: Bools = word != value
    return differs


def repeats(marks: Bools, object_: Ints, value: Ints) -> Bools:
    """Return `marks` without the first marked claim of each object and value.

    >>> repeats(np.array([True, True, False, True]), np.zeros(4, dtype=int), np.array([7, 7, 7, 8])).tolist()
    [False, True, False, False]
    """
    rows = np.flatnonzero(marks)
    first = np.unique(np.stack([object_, value])[:, rows], axis=1, return_index=True)[1]
    later = marks.copy()
    later[rows[first]] = False
    return later


def abandoned(writer: Ints, object_: Ints, value: Ints, time: Array, within: float) -> Bools:
    """Mark each writer's latest claim if at least two witnesses of its value have since switched to the same other value.

    A claim's witnesses are other writers who first claimed the value at most `within` days before or after the claim's
    writer. A claim made after its witnesses changed their value is not marked.

    >>> claims = np.array([0, 1, 2, 0, 1]), np.zeros(5, dtype=int), np.array([7, 7, 7, 8, 8])
    >>> abandoned(*claims, np.array([0.0, 0.1, 0.2, 9.0, 9.1]), 1.0).tolist()
    [False, False, True, False, False]
    >>> abandoned(*claims, np.array([0.0, 0.1, 5.0, 9.0, 9.1]), 1.0).tolist()
    [False, False, False, False, False]
    """
    claims = pl.DataFrame({"writer": writer, "object": object_, "value": value, "t": time}).with_row_index("claim")
    keys = ["object", "writer"]
    runs = (
        claims.sort(*keys, "t", "claim")
        .with_columns(run=pl.col("value").rle_id().over(keys))
        .group_by(*keys, "run", maintain_order=True)
        .agg(pl.col("value").first(), pl.col("t").first().alias("begin"), pl.col("t", "claim").last())
        .with_columns(
            now=pl.col("value").last().over(keys),
            left=pl.col("begin").last().over(keys),
            last=pl.col("run").max().over(keys),
        )
    )
    words = runs.filter(pl.col("run") == pl.col("last")).select("object", "value", "begin", "t", "claim")
    witnesses = runs.filter(pl.col("value") != pl.col("now")).select("object", "value", "begin", "writer", "now", "left")
    enough = (
        words.join(witnesses, on=["object", "value"])
        .filter((pl.col("begin") - pl.col("begin_right")).abs() <= within, pl.col("left") > pl.col("t"))
        .group_by("claim", "now")
        .agg(pl.col("writer").n_unique())
        .filter(pl.col("writer") >= WITNESSES)
    )
    mask = np.zeros(len(writer), dtype=bool)
    mask[enough["claim"].to_numpy()] = True
    return mask


def _first(keys: Ints, time: Array) -> Ints:
    """Return, for each claim, the row of the earliest claim with the same keys. If times are equal, the first row wins."""
    order = np.lexsort((np.arange(len(time)), time, *keys))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    earliest = np.empty(len(order), dtype=np.int64)
    earliest[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    return earliest
