"""Where a batch and its claims one by one could part; the gate ends a batch there and begins another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.gate.numbering import look_up_keys
from malsim.memory.graph.index import SHORTEST_TAG, named
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.numbering import Batch, Ints
    from malsim.memory.gate.resolve import Replaced, Resolution
    from malsim.memory.graph.claim_graph import Memory

__all__ = ["first_doubt"]

_NOTHING = np.zeros(0, dtype=np.int64)
STEM = len("obs_") + SHORTEST_TAG  # what every made handle begins with, however long it had to grow


def first_doubt(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, replaced: Replaced) -> int | None:
    """The first claim that may turn on what became of an earlier one in ways that a whole batch is not resolved by.

    These are a claim compared with a cell that the batch replaced, a name the gate made for the batch itself, and, where
    keys may be used again, a key used again.
    """
    doubts = [_compared_with_replaced(batch, outcome, replaced), _made_names(memory, checked, batch, outcome)]
    if batch.rules.reused_keys != "refused":
        doubts.append(_reused_keys(memory, checked.claims.frame(), batch, outcome))
    found = np.concatenate(doubts)
    return int(found.min()) if found.size else None


def _compared_with_replaced(batch: Batch, outcome: Resolution, replaced: Replaced) -> Ints:
    if not replaced.old.size or bool((outcome.compared == NONE).all()):
        return _NOTHING
    order = np.argsort(replaced.old)
    old, at = replaced.old[order], replaced.at[order]
    place = np.searchsorted(old, outcome.compared).clip(max=len(old) - 1)
    return np.flatnonzero((old[place] == outcome.compared) & (at[place] < np.arange(len(batch.sound))))


def _reused_keys(memory: Memory, claims: pl.DataFrame, batch: Batch, outcome: Resolution) -> Ints:
    """A claim whose key a cell bears already stands alone: it doubts, and so does the next."""
    keyed = np.flatnonzero(outcome.created & (batch.key_name != NONE))
    again = np.ones(len(keyed), dtype=bool)
    again[np.unique(batch.key_name[keyed], return_index=True)[1]] = False
    again |= look_up_keys(memory, claims["rep"][keyed], claims["key"][keyed]) != NONE
    alone = np.concatenate([keyed[again], keyed[again] + 1])
    return alone[(alone > 0) & (alone < len(batch.sound))]


def _made_names(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution) -> Ints:
    """Claims that name, or wish to bear, what the gate may have called an earlier cell of the batch."""
    dangling = outcome.refused[0]
    if not (batch.names or dangling.any()) or not outcome.created[:-1].any():
        return _NOTHING
    if not (dangling.any() or checked.claims.tells("key") or checked.claims.frame()["handle"].null_count()):
        return _NOTHING  # all bear handles of their own, and none of these may look like a key that is made
    claims, created = checked.claims.frame(), np.flatnonzero(outcome.created)
    made = claims[created]
    key, handle = named(memory.index, memory.column("rep"), checked.claims.rows(created))[0].frame()
    rep, by = made["rep"], pl.Series("by", created)
    names = pl.concat(
        pl.DataFrame([rep, name.alias("name"), by]).filter(made[column].is_null())
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
    met = sought.join(names, on=["rep", "name"]).filter(pl.col("by") < pl.col("at"))
    return met["at"].to_numpy() if met.height else _NOTHING
