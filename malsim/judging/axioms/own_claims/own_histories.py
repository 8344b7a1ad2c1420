"""Claims of a store about each object over time, for the stream of an axiom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.events import UNSTATED
from malsim.scenario.file.initial_store import initial_memory_from

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class OwnClaim:
    """Claim of a store: the day, the writer, the value and the stated confidence."""

    t: float
    writer: str
    value: str
    stated: float


@dataclass(frozen=True)
class ObjectClaims:
    """Claims about one object, in order of time."""

    object: str
    claims: tuple[OwnClaim, ...]

    @property
    def gaps(self) -> list[float]:
        """Positive gaps in days from each claim to the next."""
        return [b.t - a.t for a, b in zip(self.claims, self.claims[1:], strict=False) if b.t > a.t]


def histories(path: str | Path) -> list[ObjectClaims]:
    """Return the histories in a store, or in a file that `malsim import` reads.

    A claim without an object is about itself, one without a value says its title, and one without a
    date stands a day after the one before.

    Raises `UsageError` where it holds no claim.
    """
    memory = initial_memory_from(path).memory
    cells = memory.cells if memory is not None else pl.DataFrame()
    rows = (
        cells.filter((pl.col("kind") != "prg") & (pl.col("rep") == pl.col("rep").min()))
        .with_columns(
            about=pl.coalesce("object", "key", "handle"), says=pl.coalesce(pl.col("value").cast(pl.String), "title", "body")
        )
        .filter(pl.col("says").is_not_null())
        .with_row_index("place")
        .with_columns(day=pl.coalesce("created", pl.col("place").cast(pl.Float64)))  # an undated store tells the order only
        .sort("day", maintain_order=True)
        .select("about", "day", "writer", "says", pl.col("stated").fill_nan(None).fill_null(UNSTATED))
    )
    if not rows.height:
        raise UsageError("holds no claim", where="--on", given=str(path), hint="see malsim look")
    return [
        ObjectClaims(
            str(name), tuple(OwnClaim(float(t), writer, value, float(stated)) for _, t, writer, value, stated in own.rows())
        )
        for (name,), own in rows.group_by("about", maintain_order=True)
    ]
