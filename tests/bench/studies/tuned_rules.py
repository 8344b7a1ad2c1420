"""The default rules, simpler ones and tuned ones on real claims, on objects that tuning did not see, against the vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.studies.real import halves, read_real
from malsim.memory import Rules
from malsim.sim.record.scoring import squared_error
from tests.docs.page_figures import DATA

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import polars as pl

    from malsim.memory.graph.arrays import Array
    from tests.bench.studies import Row

    Pair: TypeAlias = tuple[float, float]

MAJORITY, NORMAL = "majority", 1.959963984540054

SETS = ("llm_boolq", "snow_rte", "zencrowd_us", "polls_seats_to_2012")
LIGHT = Rules(weight_supports=0.1, weight_contradicts=0.1)
LAWS = {
    "defaults": Rules(),
    "no calibration": Rules(calibration="none"),
    "weights 0.1": LIGHT,
    "weights 0.1, no calibration": LIGHT.replace(calibration="none"),
    "tuned": Rules.read("scenarios/rules/tuned_on_claims.toml"),
}


def rows(seed: int) -> list[Row]:
    """Return accuracy and Brier score of each, mean over the sets; the seed halves their objects, that of tuning is 0."""
    means: dict[tuple[str, str], list[tuple[Pair, Pair]]] = {}
    for real in (read_real(DATA / name) for name in SETS):
        objects = halves(real.objects, seed=seed)[1]
        majority = _scores(real.majority(objects))
        for law, rules in [*LAWS.items(), (MAJORITY, None)]:
            for metric, values in (_scores(real.answers(rules, objects)) if rules else majority).items():
                means.setdefault((law, metric), []).append((_mean(values), _mean(values - majority[metric])))
    found: list[Row] = []
    for (law, metric), parts in means.items():
        ends = [_over(each) for each in zip(*parts, strict=True)]
        names = ("value", "low", "high", "over_majority", "over_majority_low", "over_majority_high")
        found.append({"data": "mean", "law": law, "metric": metric, **dict(zip(names, (*ends[0], *ends[1]), strict=True))})
    return found


def _scores(answers: pl.DataFrame) -> dict[str, Array]:
    right = answers["right"].to_numpy().astype(np.float64)
    return {"accuracy": right, "brier": squared_error(answers["probability"].to_numpy(), right)}


def _mean(values: Array) -> Pair:
    """Return the mean and its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def _over(parts: Sequence[Pair]) -> tuple[float, float, float]:
    """Return the mean over sets of equal weight, with the ends of its normal 95 % interval."""
    value = float(np.mean([mean for mean, _ in parts]))
    reach = NORMAL * float(np.sqrt(sum(error**2 for _, error in parts))) / len(parts)
    return value, value - reach, value + reach
