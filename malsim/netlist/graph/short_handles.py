"""Handles cut short in an address: `dec_a3` where one cell alone begins so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.schema import KINDS, NONE
from malsim.netlist.language.lexicon import LIMITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory import Memory

__all__ = ["is_short", "rows_named", "starting"]

_SHORT = re.compile(rf"(?:{'|'.join(KINDS)})_(?:[a-z][a-z0-9]*_)*[0-9a-f]{{1,{LIMITS['handle_hex'] - 1}}}")


def is_short(handle: str) -> bool:
    """Whether a handle stops in its tag, so that it is no cell's own.

    >>> is_short("dec_a3"), is_short("dec_auth_a"), is_short("dec_a3ee")
    (True, True, False)
    """
    return _SHORT.fullmatch(handle) is not None


def starting(handle: str, names: pl.Series) -> list[str]:
    """The names that begin with a handle cut short, each once, in their order."""
    return names.filter(names.str.starts_with(handle)).unique(maintain_order=True).to_list()


def rows_named(memory: Memory, reps: Sequence[int], handles: Sequence[str]) -> NDArray[np.int64]:
    """The row of each cell named in a replication, NONE where it has none; one cut short names the first that begins so."""
    found = memory.index.rows(reps, handles, height=memory.cells.height)
    for short in {name for name in handles if is_short(name)}:
        own = memory.cells.select("rep", "handle").with_row_index("row").filter(pl.col("handle").str.starts_with(short))
        first = dict(own.unique("rep", keep="first", maintain_order=True).select("rep", "row").rows())
        named = np.array([name == short for name in handles]) & (found == NONE)
        found[named] = [first.get(rep, NONE) for rep, here in zip(reps, named, strict=True) if here]
    return found
