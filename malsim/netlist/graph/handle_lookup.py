"""Lookup of cells by shortened handle (`dec_a3`) or by version (`dec_a3ee@v2`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import AddressError
from malsim.memory.schema import KINDS, NONE
from malsim.netlist.language.lexicon import LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory import Memory

_SHORT = re.compile(rf"(?:{'|'.join(KINDS)})_(?:[a-z][a-z0-9]*_)*[0-9a-f]{{1,{LIMITS['handle_hex'] - 1}}}")


def is_short(handle: str) -> bool:
    """Return True if a handle is shortened, that is, if its hexadecimal tag has fewer digits than a full tag.

    >>> is_short("dec_a3"), is_short("dec_auth_a"), is_short("dec_a3ee")
    (True, True, False)
    """
    return _SHORT.fullmatch(handle) is not None


def starting(handle: str, names: pl.Series) -> list[str]:
    return names.filter(names.str.starts_with(handle)).unique(maintain_order=True).to_list()


def rows_named(memory: Memory, reps: Sequence[int], handles: Sequence[str]) -> NDArray[np.int64]:
    """Return the row of each named cell, or NONE if there is no such cell.

    A shortened handle matches the first cell whose handle starts with it.
    """
    rows = memory.index.rows(reps, handles, height=memory.cells.height)
    for short in {name for name in handles if is_short(name)}:
        cells = memory.cells.select("rep", "handle").with_row_index("row").filter(pl.col("handle").str.starts_with(short))
        first = dict(cells.unique("rep", keep="first", maintain_order=True).select("rep", "row").rows())
        mask = np.array([name == short for name in handles]) & (rows == NONE)
        rows[mask] = [first.get(rep, NONE) for rep, is_missing in zip(reps, mask, strict=True) if is_missing]
    return rows


def at_version(handle: str, version: int, cells: pl.DataFrame, edges: pl.DataFrame) -> dict[int, str]:
    """Map each replication to the handle of the given version in the chain of replacements that contains `handle`.

    Version 1 is the oldest cell of the chain. Replacements are `supersedes` edges and successors. At a fork before
    `handle`, the branch that contains `handle` counts; at a later fork, the newest branch.
    """
    handles = {}
    pairs = _replacements(cells, edges)
    for rep in cells.filter(pl.col("cell") == handle)["rep"].unique(maintain_order=True):
        mine = pairs.filter(pl.col("rep") == rep) if "rep" in pairs.columns else pairs
        chain = _chain(handle, dict(mine.select("new", "old").rows()), dict(mine.select("old", "new").rows()))
        if version <= len(chain):
            handles[rep] = chain[version - 1]
    if not handles:
        raise AddressError("no such version", given=f"{handle}@v{version}", hint="the first version is @v1")
    return handles


def _replacements(cells: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    rep = [pl.col("rep")] if "rep" in edges.columns else []
    supersedes = edges.filter(pl.col("relation").cast(pl.String) == "supersedes")
    pairs = supersedes.select(pl.col("target").alias("old"), pl.col("source").alias("new"), *rep)
    if "successor" not in cells.columns:
        return pairs
    cells = cells.filter(pl.col("successor").is_not_null())
    late = cells.select(pl.col("cell").alias("old"), pl.col("successor").alias("new"), *rep)
    return pl.concat([pairs, late], how="vertical_relaxed").unique(maintain_order=True)


def _chain(handle: str, older: Mapping[str, str], newer: Mapping[str, str]) -> list[str]:
    chain = [handle]
    members = {handle}
    while (before := older.get(chain[0])) and before not in members:
        chain.insert(0, before)
        members.add(before)
    while (after := newer.get(chain[-1])) and after not in members:
        chain.append(after)
        members.add(after)
    return chain
