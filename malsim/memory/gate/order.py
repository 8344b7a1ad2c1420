"""Where a batch and its claims one by one could part; the gate ends a batch there and begins another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.gate.numbering import look_up_keys
from malsim.memory.graph.index import SHORTEST_TAG, name_cells
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.numbering import Batch
    from malsim.memory.gate.resolve import Demotions, Resolution
    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory

_NOTHING = np.zeros(0, dtype=np.int64)
STEM = len("obs_") + SHORTEST_TAG  # what every made handle begins with, however long it had to grow


def first_doubt(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, demotions: Demotions) -> int | None:
    """The first claim that may turn on what became of an earlier one in ways that a whole batch is not resolved by.

    These are a claim compared with a cell that the batch replaced, a name the gate made for the batch itself, and, where
    keys may be used again, a key used again.
    """
    doubts = [_compared_with_replaced(batch, outcome, demotions), _made_names(memory, checked, batch, outcome)]
    if batch.rules.reused_keys != "refused":
        doubts.append(_reused_keys(memory, checked.claims.frame(), batch, outcome))
    places = np.concatenate(doubts)
    return int(places.min()) if places.size else None


def _compared_with_replaced(batch: Batch, outcome: Resolution, demotions: Demotions) -> Ints:
    if not demotions.old.size or bool((outcome.compared == NONE).all()):
        return _NOTHING
    order = np.argsort(demotions.old)
    old, at = demotions.old[order], demotions.at[order]
    place = np.searchsorted(old, outcome.compared).clip(max=len(old) - 1)
    return np.flatnonzero((old[place] == outcome.compared) & (at[place] < np.arange(len(batch.sound))))


def _reused_keys(memory: Memory, claims: pl.DataFrame, batch: Batch, outcome: Resolution) -> Ints:
    """A claim whose key a cell bears already stands alone: it doubts, and so does the next."""
    rows = np.flatnonzero(outcome.created & (batch.key_name != NONE))
    again = np.ones(len(rows), dtype=bool)
    again[np.unique(batch.key_name[rows], return_index=True)[1]] = False
    again |= look_up_keys(memory, claims["rep"][rows], claims["key"][rows]) != NONE
    alone = np.concatenate([rows[again], rows[again] + 1])
    return alone[(alone > 0) & (alone < len(batch.sound))]


def _made_names(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution) -> Ints:
    """Claims that name, or wish to bear, what the gate may have called an earlier cell of the batch."""
    dangling = outcome.refused[0]
    if not (batch.names or dangling.any()) or not outcome.created[:-1].any():
        return _NOTHING
    if not (dangling.any() or checked.claims.tells("key") or checked.claims.frame()["handle"].null_count()):
        return _NOTHING  # all bear handles of their own, and none of these may look like a key that is made
    claims, created = checked.claims.frame(), np.flatnonzero(outcome.created)
    new = claims[created]
    key, handle = name_cells(memory.index, memory.column("rep"), checked.claims.rows(created))[0].frame()
    rep, by = new["rep"], pl.Series("by", created)
    names = pl.concat(
        pl.DataFrame([rep, name.alias("name"), by]).filter(new[column].is_null())
        for column, name in (("handle", handle.str.slice(0, STEM)), ("key", key))
    )
    reps = claims["rep"]
    at = pl.Series("at", batch.claim[dangling])
    target = checked.edges.frame()["target"].filter(pl.Series(dangling))
    every = pl.Series("at", np.arange(len(batch.sound)))
    sought = pl.concat(
        pl.DataFrame([reps.gather(place), name.alias("name"), place]).drop_nulls("name")
        for name, place in (
            (target, at),
            (target.str.slice(0, STEM), at),
            (claims["handle"].str.slice(0, STEM), every),
            (claims["key"], every),
            (claims["key"].str.slice(0, STEM), every),
        )
    )
    doubts = sought.join(names, on=["rep", "name"]).filter(pl.col("by") < pl.col("at"))
    return doubts["at"].to_numpy() if doubts.height else _NOTHING
