"""Handles: `dec_a3ee`, a kind and a tag of hex digits; how they are checked and how they are made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.graph.frames import Deferred, framed, rank_within_group
from malsim.memory.schema import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.graph.claim_graph import Memory

__all__ = ["is_handle", "is_immutable", "keys", "kind_of", "named", "scattered", "tags"]

LONGEST = 41
_KIND = f"(?:{'|'.join(KINDS)})"
_PATTERN = rf"^(?:(?i:{_KIND})(?:_[a-z][A-Za-z0-9]*)*_[0-9a-f]{{4,}}|(?:[A-Z][A-Za-z0-9]*)(?:_[A-Za-z0-9]+)+)$"


def is_handle(text: pl.Expr) -> pl.Expr:
    """Whether a text is a handle of at most 41 characters: `kind_facets_hex`, or words with a capital first."""
    return text.str.contains(_PATTERN) & (text.str.len_chars() <= LONGEST)


def is_immutable(text: pl.Expr) -> pl.Expr:
    """Whether a handle marks an immutable cell: it holds a capital."""
    return text.str.contains("[A-Z]")


def kind_of(text: pl.Expr) -> pl.Expr:
    """The kind a handle begins with, in lower case; null when it begins with none."""
    return text.str.extract(rf"^(?i)({_KIND})_", 1).str.to_lowercase()


# arrays without axes: beside an array, numpy takes them in half the time that its own scalars take
_MIXERS = np.array(0xBF58476D1CE4E5B9, dtype=np.uint64), np.array(0x94D049BB133111EB, dtype=np.uint64)
_SHIFTS = np.array(30, dtype=np.uint64), np.array(27, dtype=np.uint64), np.array(31, dtype=np.uint64)


def scattered(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64-bit numbers that scatters neighbours (the finaliser of SplitMix64)."""
    number = number ^ (number >> _SHIFTS[0])
    number *= _MIXERS[0]
    number ^= number >> _SHIFTS[1]
    number *= _MIXERS[1]
    number ^= number >> _SHIFTS[2]
    return number


def tags(ordinals: NDArray[np.int64]) -> NDArray[np.str_]:
    """One tag for the nth cell of a replication: the same for the same n, and never the same for two.

    Each block of 16^d ordinals has d ≥ 4 digits, shuffled by a bijection of that block, so tags grow instead of colliding.

    >>> tags(np.array([0, 1, 70_000])).tolist()
    ['5a27', 'f860', '05c17']
    """
    made = np.full(len(ordinals), "", dtype="U16")
    digits = 4
    while (left := made == "").any():
        here = left & (ordinals < 16**digits)
        made[here] = _hex((ordinals[here] * 0x9E39 + 0x5A27) % 16**digits, digits)
        digits += 1
    return made


def keys(tags_made: NDArray[np.str_], ordinals: NDArray[np.int64]) -> NDArray[np.str_]:
    """Keys that begin with their tag and are unique in a replication.

    >>> keys(np.array(["5a27"]), np.array([0])).tolist()
    ['5a27e220a8397b1dcdaf']
    """
    return np.char.add(tags_made, _hex(scattered(ordinals.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)), 16))


_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


def _hex(numbers: NDArray[np.generic], digits: int) -> NDArray[np.str_]:
    shifts = np.arange(4 * (digits - 1), -1, -4, dtype=np.uint64)
    nibbles = (numbers.astype(np.uint64)[:, None] >> shifts) & np.uint64(15)
    made: NDArray[np.str_] = _DIGITS[nibbles].view(f"S{digits}").reshape(-1).astype("U")
    return made


SHORTEST_TAG = 4
LONGEST_TAG = 16


def named(memory: Memory, told: Deferred) -> tuple[Deferred, list[str]]:
    """The key and the handle of each new cell, and those of them that are not made of a cell's place alone.

    A handle that was not given depends on nothing but how many cells its replication holds, so that one replication names
    its cells alike whatever runs beside it.
    """
    reps = told.column("rep")
    ordinal = rank_within_group(reps) + np.bincount(memory.column("rep"), minlength=int(reps.max(initial=0)) + 1)[reps]
    given, by_key = told.tells("handle"), told.tells("key")
    if not (given or by_key) and memory.index.leaves_made_names_free:
        return Deferred(told.height, partial(_by_place, told, ordinal), {}), []
    made, by_place = told.frame(), _by_place(told, ordinal)
    key, handle = by_place
    if by_key:
        hexed = made["key"].str.to_lowercase().str.replace_all("[^0-9a-f]", "")
        tail = hexed.str.slice(0, SHORTEST_TAG).str.pad_end(SHORTEST_TAG, "0")
        handle, key = (made["kind"] + "_" + tail).fill_null(handle), made["key"].fill_null(key)
    if given:
        handle = made["handle"].fill_null(handle)
    names = handle.to_list()
    if not (given or by_key) and memory.index.are_free(reps.tolist(), names, height=memory.height):
        return Deferred.of(by_place), []
    if made["handle"].null_count():
        names = _grown(memory, reps.tolist(), names, key.to_list(), made["handle"].is_not_null().to_list())
    handle = pl.Series(names, dtype=pl.String)
    return Deferred.of(framed({"key": key, "handle": handle})), [*names, *key]


def _by_place(told: Deferred, ordinal: NDArray[np.int64]) -> pl.DataFrame:
    """The keys and handles that follow from each cell's place in its replication."""
    tag = tags(ordinal)
    key = pl.Series(keys(tag, ordinal).tolist(), dtype=pl.String)
    return framed({"key": key, "handle": told.frame()["kind"] + "_" + pl.Series(tag.tolist(), dtype=pl.String)})


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
