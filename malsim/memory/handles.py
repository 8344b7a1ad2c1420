"""Handles: `dec_a3ee`, a kind and a tag of hex digits; how they are checked and how they are made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import KINDS

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["MADE", "is_handle", "is_immutable", "keys", "kind_of", "scattered", "tags"]

LONGEST = 41
_KIND = f"(?:{'|'.join(KINDS)})"
_PATTERN = rf"^(?:(?i:{_KIND})(?:_[a-z][A-Za-z0-9]*)*_[0-9a-f]{{4,}}|(?:[A-Z][A-Za-z0-9]*)(?:_[A-Za-z0-9]+)+)$"

MADE = re.compile(rf"{_KIND}_[0-9a-f]{{4,}}")  # every handle that is made of a cell's place is of this form


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
