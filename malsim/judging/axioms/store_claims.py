"""Claims from a store, and streams drawn from them to test axioms on a user's own claims."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.events import MINUTE, UNSTATED, VALUES, WRITERS, YEARS, Event, Pick
from malsim.scenario.file.initial_store import initial_memory_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from malsim.judging.axioms.engine.subject import Subject


def histories(path: str | Path) -> dict[str, list[Event]]:
    """Read a store, or a file that `malsim import` accepts, and return each object's claims in order of time.

    A claim without an object is about itself, a claim without a value has its title as the value, and undated claims
    are a day apart. Raises `UsageError` if there are no claims.
    """
    memory = initial_memory_from(path).memory
    cells = memory.cells if memory is not None else pl.DataFrame()
    rows = (
        cells.filter((pl.col("kind") != "prg") & (pl.col("rep") == pl.col("rep").min()))
        .with_columns(about=pl.coalesce("object", "key", "handle"))
        .with_columns(claimed=pl.coalesce(pl.col("value").cast(pl.String), "title", "body"))
        .filter(pl.col("claimed").is_not_null())
        .with_row_index("number")
        .with_columns(day=pl.coalesce("created", pl.col("number").cast(pl.Float64)))  # undated claims are a day apart
        .sort("day", maintain_order=True)
        .select("day", "about", "claimed", "writer", pl.col("stated").fill_nan(None).fill_null(UNSTATED))
    )
    if not rows.height:
        raise UsageError(
            "the store contains no claims", where="--on", given=str(path), hint="inspect the store with `malsim look`"
        )
    claims: dict[str, list[Event]] = {}
    for day, about, value, writer, stated in rows.rows():
        claims.setdefault(str(about), []).append(Event(float(day), "write", str(about), value, writer, float(stated)))
    return claims


CASES = 40  # number of streams for an item-based law, because stored claims vary more than drawn ones
MOST = 6  # maximum number of claims per stream


class OwnPick(Pick):
    """Variant of `Pick` that draws claims from one object's history in a store, and times from the gaps between claims.

    The first three values drawn become A, B, C, the first three writers ann, bob, cid; other claims are left out.
    """

    def __init__(self, objects: Mapping[str, Sequence[Event]], seed: int, axiom: str, case: int) -> None:
        super().__init__(seed, axiom, case)
        self._objects = list(objects.values())
        self._gaps = [b.t - a.t for claims in self._objects for a, b in pairwise(claims) if b.t > a.t]

    def time(self, low: float = MINUTE, high: float = YEARS) -> float:
        """Draw a gap between stored claims that is within the bounds. If there is none, draw a time as `Pick` does."""
        fitting = [gap for gap in self._gaps if low <= gap <= high]
        return float(f"{self.one(fitting):.3g}") if fitting else super().time(low, high)

    def claims(self, count: int, *, values: Sequence[str] = VALUES, start: float = 0.0) -> list[Event]:
        """Draw consecutive stored claims about one object, and rename the object to x."""
        history = self.one(self._objects)
        first = self.count(0, len(history) - 1)
        section = history[first : first + self.count(1, MOST)]
        value_of = dict(zip(dict.fromkeys(claim.value for claim in section), values, strict=False))
        writer_of = dict(zip(dict.fromkeys(claim.writer for claim in section), WRITERS[:3], strict=False))
        return [
            Event(
                round(start + claim.t - section[0].t, 6), "write", value=value_of[claim.value],
                writer=writer_of[claim.writer], stated=claim.stated,
                words=f"{claim.writer} on {claim.object}: {claim.value}",
            )
            for claim in section if claim.value in value_of and claim.writer in writer_of
        ]  # fmt: skip

    def story(self) -> list[Event]:
        """Draw consecutive stored claims, followed by a tick."""
        claims = self.claims(MOST)
        return [*claims, Event(claims[-1].t, "tick")]


def on_claims(subjects: Sequence[Subject], path: str | Path) -> list[Subject]:
    """Return copies of the subjects that draw streams from a store's claims. Raise `UsageError` if it has no claims."""
    pick = partial(OwnPick, histories(path))
    return [replace(item, pick=pick, cases=max(item.cases, CASES if item.cases > 10 else 10)) for item in subjects]  # noqa: PLR2004
