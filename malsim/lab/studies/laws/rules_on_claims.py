"""Laws side by side on real claims whose truth none of them was tuned on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.studies.real import RealClaims, halves, read_real
from malsim.sim.record.scoring import squared_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from malsim.lab.studies.measure import Array
    from malsim.memory import Rules
    from malsim.showing.plots.style import Sheet

MAJORITY, MEAN = "majority", "mean"
SCORES = ("accuracy", "brier")
NORMAL = 1.959963984540054
ENDS = ("value", "low", "high", "over_majority", "over_low", "over_high")
SCHEMA: dict[str, Any] = dict.fromkeys(("data", "law", "metric"), pl.String) | dict.fromkeys(ENDS, pl.Float64)

LABELS = {"accuracy": "accuracy (0 to 1), more is better", "brier": "Brier score (0 to 1), less is better"}


@dataclass(frozen=True, repr=False)
class LawComparison:
    """Laws side by side on real claims: `frame` as `compare_laws` describes it, and `figure()`."""

    frame: pl.DataFrame

    def figure(self, *, title: str = "On objects whose truth tuning did not see") -> Sheet:
        """Accuracy and Brier score of each law on each data set, and on their mean."""
        from malsim.showing.plots.studies.law_table import law_table

        return law_table(self.frame, lines="data", marks="law", labels=LABELS, title=title)

    def __repr__(self) -> str:
        """A line a data set and law."""
        wide = self.frame.pivot("metric", index=["data", "law"], values=["value", "low", "high"])
        return "\n".join(
            f"  {row['data']:<22} {row['law']:<16} "
            + "  ".join(
                f"{name} {row[f'value_{name}']:.3f} [{row[f'low_{name}']:.3f}, {row[f'high_{name}']:.3f}]" for name in SCORES
            )
            for row in wide.to_dicts()
        )


def compare_laws(
    real: Sequence[RealClaims | str | Path], laws: Mapping[str, Rules], *, seed: int | None = 0
) -> LawComparison:
    """Accuracy and Brier score of some rules, and of the majority vote, on each data set and on their mean.

    Rows of its frame: data, law, metric (accuracy, brier), value, low, high; over_majority, over_low, over_high: how much
    more than the majority's, question by question. The mean is over data sets, each with the same weight; intervals are
    normal, 95 %, value ± 1.96 s / √questions.

    Parameters
    ----------
    real
        Claims with truth, or their folders.
    laws
        Rules by name; "majority" is added.
    seed
        Of the split that tuning made: only objects that it held out are asked about. None asks about all.
    """
    if not real or not laws:
        raise UsageError("nothing to compare", where="compare_laws", hint="give claims and rules")
    rows: list[tuple[object, ...]] = []
    each: dict[tuple[str, str], list[_Mean]] = {}
    for one in (item if isinstance(item, RealClaims) else read_real(item) for item in real):
        objects = None if seed is None else halves(one.objects, seed=seed)[1]
        answers = {name: one.answers(rules, objects) for name, rules in laws.items()} | {MAJORITY: one.majority(objects)}
        units = {name: _units(frame) for name, frame in answers.items()}
        for name, scores in units.items():
            for metric, values in scores.items():
                pair = _Mean.of(values), _Mean.of(values - units[MAJORITY][metric])
                each.setdefault((name, metric), []).extend(pair)
                rows.append((one.name, name, metric, *pair[0].ends, *pair[1].ends))
    for (name, metric), means in each.items():
        rows.append((MEAN, name, metric, *_Mean.over(means[::2]).ends, *_Mean.over(means[1::2]).ends))
    return LawComparison(pl.DataFrame(rows, schema=SCHEMA, orient="row"))


class _Mean(NamedTuple):
    """A mean and its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Array) -> _Mean:
        return cls(float(values.mean()), float(values.std() / np.sqrt(len(values))))

    @classmethod
    def over(cls, parts: Sequence[_Mean]) -> _Mean:
        error = float(np.sqrt(sum(part.error**2 for part in parts)))
        return cls(float(np.mean([part.value for part in parts])), error / len(parts))

    @property
    def ends(self) -> tuple[float, float, float]:
        """Value, low, high."""
        return self.value, self.value - NORMAL * self.error, self.value + NORMAL * self.error


def _units(answers: pl.DataFrame) -> dict[str, Array]:
    """Both scores of every answer."""
    right = answers["right"].to_numpy().astype(np.float64)
    return {"accuracy": right, "brier": squared_error(answers["probability"].to_numpy(), right)}
