"""Number of independent voices: copies of one origin are one claim, echoes weigh less, abandoned values are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.laws.truth.evidence import latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints

WITNESSES = 2  # one may err


def copies(writer: Ints, object_: Ints, value: Ints, time: Array, origins: Sequence[Ints]) -> Bools:
    """Mark claims that repeat another writer's earlier claim of the same value, object and origin.

    `origins` are kinds of origin, one place a claim each (-1 for none): claims that share one of them are one claim, the
    earliest's. A writer's repetition of its own claim is not a copy.

    >>> one = np.zeros(3, dtype=int)
    >>> copies(np.array([0, 1, 0]), one, one, np.arange(3.0), [np.array([7, 7, 7])]).tolist()
    [False, True, False]
    """
    copy = np.zeros(len(writer), dtype=bool)
    for origin in origins:
        rows = np.flatnonzero(origin >= 0)
        first = _first(np.stack([object_[rows], value[rows], origin[rows]]), time[rows])
        copy[rows] |= writer[rows][first] != writer[rows]
    return copy


def echoes(writer: Ints, object_: Ints, value: Ints, time: Array) -> Bools:
    """Mark claims that repeat a value whose first claimant, another writer, has since claimed another value.

    >>> echoes(np.array([0, 0, 1]), np.zeros(3, dtype=int), np.array([0, 1, 0]), np.arange(3.0)).tolist()
    [False, False, True]
    """
    if not len(writer):
        return np.zeros(0, dtype=bool)
    index = np.empty(len(writer), dtype=np.int64)  # in order of time
    index[np.argsort(time, kind="stable")] = np.arange(len(writer))
    by = writer[_first(np.stack([object_, value]), time)]
    objects, size = int(object_.max()) + 1, len(writer)
    key = (writer.astype(np.int64) * objects + object_) * size + index
    order = np.argsort(key)
    last_key = (by.astype(np.int64) * objects + object_) * size + index
    before = order[np.searchsorted(key[order], last_key, side="left") - 1]  # what the first claimant said last before
    echo: Bools = (by != writer) & (value[before] != value)
    return echo


def one_voice(writer: Ints, object_: Ints, value: Ints, time: Array) -> Bools:
    """Mark claims of a value whose first claimant has since claimed another value: together they count as one.

    >>> one_voice(np.array([0, 1, 2, 0]), np.zeros(4, dtype=int), np.array([7, 7, 8, 8]), np.arange(4.0)).tolist()
    [True, True, False, False]
    """
    if not len(writer):
        return np.zeros(0, dtype=bool)
    last, objects = latest(writer, object_, time), int(object_.max()) + 1
    key = writer.astype(np.int64) * objects + object_
    last = last[np.argsort(key[last])]
    first = writer[_first(np.stack([object_, value]), time)]
    word = value[last[np.searchsorted(key[last], first * objects + object_)]]
    left: Bools = word != value
    return left


def repeats(one: Bools, object_: Ints, value: Ints) -> Bools:
    """Mark the marked claims that come after another marked claim of the same object and value.

    >>> repeats(np.array([True, True, False, True]), np.zeros(4, dtype=int), np.array([7, 7, 7, 8])).tolist()
    [False, True, False, False]
    """
    rows = np.flatnonzero(one)
    first = np.unique(np.stack([object_, value])[:, rows], axis=1, return_index=True)[1]
    later = one.copy()
    later[rows[first]] = False
    return later


def over(writer: Ints, object_: Ints, value: Ints, time: Array, within: float) -> Bools:
    """Mark writers' latest claims whose value two of its witnesses have since left for one other value.

    Witnesses of a writer's word are others who began to say the value at most `within` days before or after he did. Nobody
    a later writer of the value becomes a witness; a claim made after they changed their value counts.

    >>> said = np.array([0, 1, 2, 0, 1]), np.zeros(5, dtype=int), np.array([7, 7, 7, 8, 8])
    >>> over(*said, np.array([0.0, 0.1, 0.2, 9.0, 9.1]), 1.0).tolist()
    [False, False, True, False, False]
    >>> over(*said, np.array([0.0, 0.1, 5.0, 9.0, 9.1]), 1.0).tolist()
    [False, False, False, False, False]
    """
    claims = pl.DataFrame({"writer": writer, "object": object_, "value": value, "t": time}).with_row_index("claim")
    own = ["object", "writer"]
    runs = (
        claims.sort(*own, "t", "claim")
        .with_columns(run=pl.col("value").rle_id().over(own))
        .group_by(*own, "run", maintain_order=True)
        .agg(pl.col("value").first(), pl.col("t").first().alias("begin"), pl.col("t", "claim").last())
        .with_columns(
            now=pl.col("value").last().over(own), left=pl.col("begin").last().over(own), last=pl.col("run").max().over(own)
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
    """Return, for each claim, the row of the earliest claim with the same keys; the first row wins a tie in time."""
    order = np.lexsort((np.arange(len(time)), time, *keys))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    earliest = np.empty(len(order), dtype=np.int64)
    earliest[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    return earliest
