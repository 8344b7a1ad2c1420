"""The keys and handles of new cells: given, made from a given key, or from the cell's place in its replication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.handles import keys, tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.cells import Memory

__all__ = ["named"]

LONGEST_TAG = 16


def named(memory: Memory, made: pl.DataFrame) -> list[pl.Series]:
    """The key and the handle (as `name`) of each new cell.

    A handle that was not given depends on nothing but how many cells its replication holds, so that one replication names
    its cells alike whatever runs beside it.
    """
    ordinal = _ordinals(memory, made)
    tag = tags(ordinal)
    hexed = pl.col("key").str.to_lowercase().str.replace_all("[^0-9a-f]", "")
    tail = pl.coalesce(hexed.str.slice(0, 4).str.pad_end(4, "0"), pl.Series(tag, dtype=pl.String))
    key = pl.col("key").fill_null(pl.Series(keys(tag, ordinal), dtype=pl.String))
    frame = made.select(
        "rep",
        "handle",
        key,
        by_key=pl.col("key").is_not_null(),
        name=pl.coalesce("handle", pl.concat_str("kind", pl.lit("_"), tail)),
    )
    return [frame["key"], _grown(memory, frame)["name"]]


def _ordinals(memory: Memory, made: pl.DataFrame) -> NDArray[np.int64]:
    reps = made["rep"].to_numpy()
    before = np.bincount(memory.cells["rep"].to_numpy(), minlength=int(reps.max(initial=0)) + 1)
    place: NDArray[np.int64] = made.select(pl.int_range(pl.len()).over("rep")).to_series().to_numpy()
    ordinal: NDArray[np.int64] = before[reps] + place
    return ordinal


def _grown(memory: Memory, frame: pl.DataFrame) -> pl.DataFrame:
    """Lengthen made handles that another cell bears by digits of their own key, until none does."""
    by_key = bool(frame["by_key"].any())
    rivals = memory.cells if by_key else memory.cells.filter("given")  # tags made from ordinals never meet each other
    others = pl.concat(
        [rivals.select("rep", name="handle"), frame.filter(pl.col("handle").is_not_null()).select("rep", "name")]
    )
    if others.is_empty():
        return frame
    for place in range(4, LONGEST_TAG):
        met = frame.with_row_index("place").join(others, on=["rep", "name"], how="semi")["place"]
        again = ~pl.struct("rep", "name").is_first_distinct()
        clash = pl.col("handle").is_null() & (pl.int_range(pl.len()).is_in(met.implode()) | again)
        if not frame.select(clash.any()).item():
            break
        digit = (
            pl.col("key")
            .str.to_lowercase()
            .str.replace_all("[^0-9a-f]", "")
            .str.pad_end(LONGEST_TAG, "0")
            .str.slice(place, 1)
        )
        frame = frame.with_columns(pl.when(clash).then(pl.concat_str("name", digit)).otherwise("name").alias("name"))
    return frame
