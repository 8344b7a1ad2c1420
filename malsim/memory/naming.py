"""The keys and handles of new cells: given, made from a given key, or from the cell's place in its replication."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from malsim.memory.columns import places_within
from malsim.memory.handles import keys, tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.memory.cells import Memory
    from malsim.memory.deferred import Deferred

__all__ = ["Names", "named"]

SHORTEST_TAG = 4
LONGEST_TAG = 16


class Names(NamedTuple):
    """The keys and handles of new cells, made when asked for; `own` are those that are not made of a cell's place alone."""

    made: Callable[[], tuple[pl.Series, pl.Series]]
    own: list[str]


def named(memory: Memory, told: Deferred) -> Names:
    """The key and the handle of each new cell.

    A handle that was not given depends on nothing but how many cells its replication holds, so that one replication names
    its cells alike whatever runs beside it.
    """
    ordinal = _ordinals(memory, told.column("rep"))
    given, by_key = told.tells("handle"), told.tells("key")
    if not (given or by_key) and memory.index.leaves_made_names_free:
        return Names(partial(_by_place, told, ordinal), [])
    made = told.frame()
    key, handle = _by_place(told, ordinal)
    if by_key:
        hexed = made["key"].str.to_lowercase().str.replace_all("[^0-9a-f]", "")
        tail = hexed.str.slice(0, SHORTEST_TAG).str.pad_end(SHORTEST_TAG, "0")
        handle, key = (made["kind"] + "_" + tail).fill_null(handle), made["key"].fill_null(key)
    if given:
        handle = made["handle"].fill_null(handle)
    reps, names = made["rep"].to_list(), handle.to_list()
    if not (given or by_key) and memory.index.are_free(reps, names, height=memory.height):
        return Names(lambda: (key, handle), [])
    names = _grown(memory, reps, names, key.to_list(), made["handle"].is_not_null().to_list())
    handle = pl.Series("handle", names, dtype=pl.String)
    return Names(lambda: (key, handle), [*names, *key])


def _by_place(told: Deferred, ordinal: NDArray[np.int64]) -> tuple[pl.Series, pl.Series]:
    """The keys and handles that follow from each cell's place in its replication."""
    tag = tags(ordinal)
    key = pl.Series("key", keys(tag, ordinal).tolist(), dtype=pl.String)
    return key, (told.frame()["kind"] + "_" + pl.Series(tag.tolist(), dtype=pl.String)).alias("handle")


def _ordinals(memory: Memory, reps: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many cells its replication held before each new one."""
    held = memory.held
    before = np.where(reps < len(held), held[np.minimum(reps, len(held) - 1)], 0) if len(held) else np.zeros_like(reps)
    ordinal: NDArray[np.int64] = before + places_within(reps)
    return ordinal


def _grown(memory: Memory, reps: list[int], names: list[str], keys_: list[str], given: list[bool]) -> list[str]:
    """Lengthen each made handle that another cell bears by digits of its own key, until none does."""
    seen = {(rep, name) for rep, name, is_given in zip(reps, names, given, strict=True) if is_given}
    grown = []
    for rep, short, key, is_given in zip(reps, names, keys_, given, strict=True):
        if is_given:
            grown.append(short)
            continue
        digits = "".join(digit for digit in key.lower() if digit in "0123456789abcdef").ljust(LONGEST_TAG, "0")
        name = short
        for extra in range(SHORTEST_TAG, LONGEST_TAG):
            if not ((rep, name) in seen or memory.index.bears(rep, name, height=memory.height)):
                break
            name += digits[extra]
        seen.add((rep, name))
        grown.append(name)
    return grown
