"""Claims of a store, and streams drawn from them to test axioms on a user's own claims."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.events import MINUTE, UNSTATED, VALUES, WRITERS, YEARS, Event, Pick
from malsim.scenario.file.initial_store import initial_memory_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from malsim.judging.axioms.engine.subject import Subject


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
    """Return the claims by object in a store, or in a file that `malsim import` reads.

    A claim without an object is about itself, a claim without a value has its title as the value, and undated claims are a
    day apart. Raises `UsageError` if there is no claim.
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
        .with_columns(day=pl.coalesce("created", pl.col("place").cast(pl.Float64)))  # an undated store has an order only
        .sort("day", maintain_order=True)
        .select("about", "day", "writer", "says", pl.col("stated").fill_nan(None).fill_null(UNSTATED))
    )
    if not rows.height:
        raise UsageError("contains no claims", where="--on", given=str(path), hint="see malsim look")
    return [
        ObjectClaims(
            str(name), tuple(OwnClaim(float(t), writer, value, float(stated)) for _, t, writer, value, stated in own.rows())
        )
        for (name,), own in rows.group_by("about", maintain_order=True)
    ]


CASES = 40  # streams for a law of items; claims of a store vary more than drawn streams
MOST = 6  # claims per stream


class OwnPick(Pick):
    """Draws like those of `Pick`, but claims are a section of one object's history, and times are gaps of the store.

    The first three values and writers of a section are called A, B, C and ann, bob, cid; claims of others are left out.
    """

    def __init__(self, objects: Sequence[ObjectClaims], seed: int, axiom: str, case: int) -> None:
        super().__init__(seed, axiom, case)
        self._objects, self._gaps = objects, [gap for item in objects for gap in item.gaps]

    def time(self, low: float = MINUTE, high: float = YEARS) -> float:
        """Draw a gap of the store within the bounds; if there is none, draw as without a store."""
        fitting = [gap for gap in self._gaps if low <= gap <= high]
        return float(f"{self.one(fitting):.3g}") if fitting else super().time(low, high)

    def claims(
        self, count: int, *, values: Sequence[str] = VALUES, start: float = 0.0
    ) -> list[Event]:  # the section decides their number
        """Draw a section of the claims about one object, renamed to x."""
        history = self.one(self._objects)
        first = self.count(0, len(history.claims) - 1)
        section = history.claims[first : first + self.count(1, MOST)]
        value_of = dict(zip(dict.fromkeys(claim.value for claim in section), values, strict=False))
        writer_of = dict(zip(dict.fromkeys(claim.writer for claim in section), WRITERS[:3], strict=False))
        return [
            Event(
                round(start + claim.t - section[0].t, 6), "write", value=value_of[claim.value],
                writer=writer_of[claim.writer], stated=claim.stated,
                words=f"{claim.writer} on {history.object}: {claim.value}",
            )
            for claim in section if claim.value in value_of and claim.writer in writer_of
        ]  # fmt: skip

    def story(self) -> list[Event]:
        """Draw a section of claims, with a tick at its end."""
        claims = self.claims(MOST)
        return [*claims, Event(claims[-1].t, "tick")]


def on_claims(subjects: Sequence[Subject], path: str | Path) -> list[Subject]:
    """Return the memories under test with claims and gaps of a store; raise `UsageError` if the store has no claims."""
    objects = histories(path)
    pick = partial(OwnPick, objects)
    return [replace(item, pick=pick, cases=max(item.cases, CASES if item.cases > 10 else 10)) for item in subjects]  # noqa: PLR2004
