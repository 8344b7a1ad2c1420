"""How long each claim of a memory stood before later evidence took it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.errors import UsageError

if TYPE_CHECKING:
    from malsim.memory import Memory

__all__ = ["ENDINGS", "histories"]

ENDINGS = ("contradicted", "superseded", "either")


def histories(memory: Memory, *, ended_by: str = "either", until: float | None = None) -> pl.DataFrame:
    """A log for `fit_decay`, a row a claim: rep, cell, object, stability, start, duration (days), ended.

    A claim ends when a later cell of another writer contradicts it, or when it is superseded, whichever is first; a rival
    that stood already when it came does not end it. What has not ended is censored at `until`.

    Parameters
    ----------
    memory
        A run's (`run.memory`), a replay's, or a store's (`store.open(path)`).
    ended_by
        contradicted, superseded, or either.
    until
        The day on which the log was closed; the last day that the memory shows, if None. What came later is not seen.
    """
    if ended_by not in ENDINGS:
        raise UsageError("no such ending", where="histories: ended_by", given=ended_by, allowed=", ".join(ENDINGS))
    cells = memory.cells.select("rep", "handle", "object", "stability", "created", "successor", "writer").with_row_index(
        "row"
    )
    if cells.is_empty():
        raise UsageError("a memory without cells has no history", where="histories", hint="admit claims first")
    closed = _last_day(memory) if until is None else until
    kinds = {
        "contradicted": _contradicted(memory, cells),
        "superseded": cells.select("row", ended=pl.col("created").gather(pl.col("successor"))).drop_nulls(),
    }
    chosen = [
        frame.select(pl.col("row").cast(pl.UInt32), "ended") for kind, frame in kinds.items() if ended_by in (kind, "either")
    ]
    ends = pl.concat(chosen).group_by("row").agg(pl.col("ended").min())
    joined = cells.filter(pl.col("created") <= closed).join(ends, on="row", how="left", maintain_order="left")
    over = (pl.col("ended") <= closed).fill_null(value=False)
    return joined.select(
        "rep", pl.col("handle").alias("cell"), "object", "stability", pl.col("created").alias("start"),
        duration=pl.when(over).then("ended").otherwise(pl.lit(closed)) - pl.col("created"),
        ended=over,
    )  # fmt: skip


def _contradicted(memory: Memory, cells: pl.DataFrame) -> pl.DataFrame:
    """When a cell that came later, of another writer, first contradicted each."""
    born, writer = pl.col("created"), pl.col("writer")
    told = memory.edges.filter(pl.col("relation") == "contradicts").select("source", "target", "t")
    ends = told.with_columns(
        later=cells.select(born).to_series().gather(told["source"]) > cells.select(born).to_series().gather(told["target"]),
        other=cells.select(writer).to_series().gather(told["source"])
        != cells.select(writer).to_series().gather(told["target"]),
    )
    found = ends.filter(pl.col("later") & pl.col("other"))
    return found.group_by("target").agg(pl.col("t").min().alias("ended")).rename({"target": "row"})


def _last_day(memory: Memory) -> float:
    days = [memory.cells["created"].max(), memory.cells["touched"].max(), memory.edges["t"].max()]
    return max(float(str(day)) for day in days if day is not None)
