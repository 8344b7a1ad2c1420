"""Terms behind an item law's belief in a claim of a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import AddressError, UsageError
from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws import plant_of
from malsim.memory.port import Explains, HoldsGraph
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.explain import LawExplanation


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
    in_order = arrived(claims)
    cell = cell.encode("utf-8", "replace").decode()  # what no text can hold names nothing
    now = float(in_order["t"].max() or 0.0) if at is None else at  # type: ignore[arg-type]  # days
    in_order = in_order.filter(pl.col("t") <= now)
    stream = Stream.of(in_order)
    state, verdicts = plant.admit(plant.init([0], stream.vocabulary), stream.claims)
    state = plant.tick(state, now)
    view = plant.view(state, now)
    answers = in_order.select(answer=pl.format("{}={}", "object", "value")).to_series()
    names = in_order["cell"] if "cell" in in_order.columns else answers
    admitted = verdicts.row != NONE
    matches = np.flatnonzero(((names == cell) | (answers == cell)).to_numpy() & admitted)
    if not len(matches):
        same = answers.filter(in_order["object"] == cell.partition("=")[0])
        near = ", ".join((answers if same.is_empty() else same).unique(maintain_order=True).head(3))
        raise AddressError("no such claim by then", given=f"{cell} on day {now:g}", allowed=f"such as {near}")
    explanation = plant.explain(state, np.flatnonzero(view.active), int(verdicts.row[matches[-1]]), now)
    handles = in_order.select(pl.col("cell") if "cell" in in_order.columns else pl.format("line {}", "line")).to_series()
    by_name = dict(zip(view.name.gather(verdicts.row[admitted]), handles.filter(admitted), strict=True))
    evidence = explanation.evidence.with_columns(pl.col("cell").replace(by_name))
    return replace(explanation, handle=cell, evidence=evidence)
