"""Why a law of items believes one claim of a stream as it does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import AddressError, UsageError
from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws import plant_of
from malsim.memory.port import Explains, HoldsGraph
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.explain import LawExplanation

__all__ = ["explain_claim"]


def explain_claim(
    claims: pl.DataFrame,
    cell: str,
    *,
    law: str = "records",
    params: Mapping[str, object] | None = None,
    at: float | None = None,
) -> LawExplanation:
    """Explain a claim by its `cell` (or by `object=value`, its latest) under a law, on day `at`, by default the last.

    `claims` are as `importers.building.claim_stream` or `read_claims` gives them. Raises `AddressError` where nothing is so
    named by then, `UsageError` for a law that says nothing of its numbers.
    """
    plant = plant_of(law, params)
    if isinstance(plant, HoldsGraph):
        raise UsageError("not a law of items", given=law, hint="leave out --law: a graph of claims explains itself")
    if not isinstance(plant, Explains):
        raise UsageError("the law does not say what its numbers are made of", given=law)
    known = arrived(claims)
    now = float(known["t"].max() or 0.0) if at is None else at  # type: ignore[arg-type]  # days
    known = known.filter(pl.col("t") <= now)
    stream = Stream.of(known)
    state, verdicts = plant.admit(plant.init([0], stream.vocabulary), stream.claims)
    state = plant.tick(state, now)
    view = plant.view(state, now)
    asked = known.select(_names(known)).to_series()
    found = np.flatnonzero((asked.to_numpy() == cell) & (verdicts.row != NONE))
    if not len(found):
        near = ", ".join(asked.head(3).to_list())
        raise AddressError("no such claim by then", given=f"{cell} on day {now:g}", allowed=f"such as {near}")
    said = plant.explain(state, np.flatnonzero(view.active), int(verdicts.row[found[-1]]), now)
    there = verdicts.row != NONE
    handles = dict(
        zip(view.name.gather(verdicts.row[there]), known.select(_handles(known)).to_series().filter(there), strict=True)
    )
    named = said.evidence.with_columns(pl.col("cell").replace(handles))
    return replace(said, handle=cell, evidence=named)


def _names(claims: pl.DataFrame) -> pl.Expr:
    said = pl.format("{}={}", "object", "value")
    return pl.col("cell") if "cell" in claims.columns else said


def _handles(claims: pl.DataFrame) -> pl.Expr:
    return pl.col("cell") if "cell" in claims.columns else pl.format("line {}", "line")
