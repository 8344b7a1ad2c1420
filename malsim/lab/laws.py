"""Laws side by side on real claims whose truth none of them was tuned on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.real import halves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.lab.real import RealClaims
    from malsim.memory import Rules

__all__ = ["MAJORITY", "MEAN", "compare_laws"]

MAJORITY, MEAN = "majority", "mean"
NORMAL = 1.959963984540054
SCHEMA = {
    "data": pl.String,
    "law": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def compare_laws(real: Sequence[RealClaims], laws: Mapping[str, Rules], *, seed: int | None = 0) -> pl.DataFrame:
    """Accuracy and Brier score of some rules, and of the majority vote, on each data set and on their mean.

    Rows: data, law, metric (accuracy, brier), value, low, high. The mean is over data sets, each with the same weight;
    intervals are normal, 95 %, value ± 1.96 s / √questions.

    Parameters
    ----------
    real
        Claims with truth.
    laws
        Rules by name; "majority" is added.
    seed
        Of the split that tuning made: only objects that it held out are asked about. None asks about all.
    """
    if not real or not laws:
        raise UsageError("nothing to compare", where="compare_laws", hint="give claims and rules")
    rows: list[tuple[object, ...]] = []
    each: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for one in real:
        kept = None if seed is None else halves(one.objects, seed=seed)[1]
        judged = {name: one.judged(rules, kept) for name, rules in laws.items()} | {MAJORITY: one.voted(kept)}
        for name, answers in judged.items():
            right = answers["right"].to_numpy().astype(np.float64)
            units = {"accuracy": right, "brier": (answers["probability"].to_numpy() - right) ** 2}
            for metric, values in units.items():
                mean, error = float(values.mean()), float(values.std() / np.sqrt(len(values)))
                each.setdefault((name, metric), []).append((mean, error))
                rows.append((one.name, name, metric, mean, mean - NORMAL * error, mean + NORMAL * error))
    for (name, metric), found in each.items():
        mean = float(np.mean([value for value, _ in found]))
        half = NORMAL * float(np.sqrt(sum(error**2 for _, error in found))) / len(found)
        rows.append((MEAN, name, metric, mean, mean - half, mean + half))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
