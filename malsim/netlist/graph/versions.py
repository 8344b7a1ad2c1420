"""`@vN`: which cell is the Nth version of the chain that a cell stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.errors import AddressError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["at_version"]


def at_version(handle: str, version: int, cells: pl.DataFrame, edges: pl.DataFrame) -> dict[int, str]:
    """The handle of the Nth version in each replication, counted from the chain's first.

    What replaced what is read from the `supersedes` edges and, where the cells have it, the column `successor`. Of a
    fork the branch of `handle` counts, and beyond it the newest.
    """
    found = {}
    pairs = _replacements(cells, edges)
    for (rep,), here in cells.filter(pl.col("cell") == handle).group_by("rep", maintain_order=True):
        del here
        mine = pairs.filter(pl.col("rep") == rep) if "rep" in pairs.columns else pairs
        chain = _chain(handle, dict(mine.select("new", "old").rows()), dict(mine.select("old", "new").rows()))
        if version <= len(chain):
            found[rep] = chain[version - 1]
    if not found:
        raise AddressError("no such version", given=f"{handle}@v{version}", hint="count from the chain's first, @v1")
    return found


def _replacements(cells: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    replicated = [pl.col("rep")] if "rep" in edges.columns else []
    named = edges.filter(pl.col("relation").cast(pl.String) == "supersedes")
    pairs = named.select(pl.col("target").alias("old"), pl.col("source").alias("new"), *replicated)
    if "successor" not in cells.columns:
        return pairs
    kept = cells.filter(pl.col("successor").is_not_null())
    late = kept.select(pl.col("cell").alias("old"), pl.col("successor").alias("new"), *replicated)
    return pl.concat([pairs, late], how="vertical_relaxed").unique(maintain_order=True)


def _chain(handle: str, older: Mapping[str, str], newer: Mapping[str, str]) -> list[str]:
    chain = [handle]
    seen = {handle}
    while (before := older.get(chain[0])) and before not in seen:
        chain.insert(0, before)
        seen.add(before)
    while (after := newer.get(chain[-1])) and after not in seen:
        chain.append(after)
        seen.add(after)
    return chain
