"""Comparison of triage policies on the same replications and with the same review budget."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_files
from malsim.base.intervals import ANY, COUNT, SHARE, difference_interval, ends_if_any, mean_interval
from malsim.memory.graph.arrays import ratio
from malsim.sim import bench
from malsim.sim.settings.reader import TRIAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from malsim.lab.studies.measure import Array
    from malsim.showing.plots.style import Sheet
    from malsim.sim.run import Run
    from malsim.sim.settings.reader import Triage
    from malsim.sim.settings.scenario import Scenario

AVOIDED, HARM, LOAD, AUTONOMY = (
    "wrong answers avoided per review", "wrong actions avoided per 100 reviews", "reviews per 100 actions", "autonomy",
)  # fmt: skip
BOUNDS = {AVOIDED: ANY, HARM: ANY, LOAD: COUNT, AUTONOMY: SHARE}
ENDS, DIFFERENCE = ("value", "low", "high"), ("difference", "difference_low", "difference_high")
SCHEMA = {
    "scenario": pl.String, "weekly": pl.Float64, "policy": pl.String, "metric": pl.String, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "difference": pl.Float64, "difference_low": pl.Float64,
    "difference_high": pl.Float64, "reviews": pl.Float64, "n": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class TriageTable:
    """Table that compares triage policies. `frame` has one row per scenario, weekly budget, policy and metric.

    `value` has a 95 % interval (low, high) over n replications; `difference` is from the first policy, paired by
    replication; `reviews` is the mean number of reviews. There is one answer per fact and tick; a missing or false answer
    is wrong. Avoided errors are relative to the same replications without reviewers.
    """

    frame: pl.DataFrame

    @classmethod
    def concat(cls, parts: Iterable[TriageTable]) -> TriageTable:
        return cls(frame=pl.concat(part.frame for part in parts))

    def figure(self) -> Sheet:
        """Plot the errors avoided per review for each policy, and the review load against the reader's autonomy."""
        from malsim.showing.plots.runs.memory_load import review_load

        return review_load(self.frame, avoided=AVOIDED, load=LOAD, autonomy=AUTONOMY)

    def json(self) -> str:
        return json.dumps(self.frame.with_columns(pl.col(pl.Float64).fill_nan(None)).to_dicts(), indent=1, allow_nan=False)

    def write(self, folder: Path) -> list[Path]:
        """Write triage.parquet, triage.json and triage.png, and return their paths."""
        contents = {"triage.parquet": self.frame, "triage.json": self.json() + "\n", "triage.png": self.figure()}
        return save_files(folder, contents)

    def __repr__(self) -> str:
        lines = []
        for (name, weekly), part in self.frame.group_by("scenario", "weekly", maintain_order=True):
            budget = f"{weekly:g} reviews a week" if weekly else "unlimited reviews"
            avoided = part.filter(metric=AVOIDED)
            lines.append(f"{name}: {budget}, {avoided['n'][0]} replications, compared with no reviewers")
            against = "against " + avoided["policy"][0]
            lines.append(f"  {'policy':<10} {'reviews':>8}   {AVOIDED:<34} {against:<24} autonomy")
            autonomy = dict(part.filter(metric=AUTONOMY).select("policy", "value").iter_rows())
            for row in avoided.to_dicts():
                share = autonomy.get(row["policy"])
                lines.append(
                    f"  {row['policy']:<10} {row['reviews']:>8.1f}   {_interval_text(row, ENDS):<34} "
                    f"{_interval_text(row, DIFFERENCE):<24} {'-' if share is None else f'{share:.3f}'}"
                )
        return "\n".join(lines)


def compare_policies(
    scenario: Scenario, *, policies: Sequence[str] = TRIAGE, weekly: Sequence[float] = (), replications: int = 40
) -> TriageTable:
    """Run a scenario without reviewers, and with them under each policy and budget, on common random numbers.

    `policies` are names in `settings.reader.TRIAGE`; differences are from the first. `weekly` has the weekly budgets of
    reviews, by default the scenario's own; the reviewers' other settings (number, accuracy, fatigue, delay) are kept.
    Raises `UsageError` for a scenario without facts or reviewers, an unknown policy, or fewer than two replications.
    """
    people = scenario.reviewers
    if people is None or not scenario.facts:
        hint = "add [[facts]] and [reviewers]"
        raise UsageError("the scenario needs facts and reviewers", where=scenario.name, hint=hint)
    for name in policies:
        if name not in TRIAGE:
            raise UsageError("no such policy", where="policies", given=name, allowed=", ".join(TRIAGE))
    if replications < 2:  # noqa: PLR2004  # one replication has no spread
        raise UsageError("at least two replications are needed", where="replications", given=replications)
    base = scenario.replace(record="bands", replications=replications)
    without = bench.run(base.replace(reviewers=None))
    rows: list[dict[str, Any]] = []
    for budget in weekly or (people.weekly,):
        first: dict[str, Array] = {}
        for name in policies:
            run = bench.run(base.replace(reviewers=replace(people, triage=cast("Triage", name), weekly=budget)))
            reviews = 0.0 if run.reviews is None else float(run.reviews.mean())
            for metric, values in _metrics(run, without).items():
                baseline = first.setdefault(metric, values)
                row: dict[str, Any] = {"scenario": scenario.name, "weekly": budget, "policy": name, "metric": metric}
                row |= {"reviews": reviews, "n": int(np.isfinite(values).sum())}
                row |= zip(ENDS, ends_if_any(mean_interval(values, BOUNDS[metric])), strict=True)
                if baseline is not values:
                    row |= zip(DIFFERENCE, ends_if_any(difference_interval(values, baseline, BOUNDS[metric])), strict=True)
                rows.append(row)
    return TriageTable(frame=pl.DataFrame(rows, schema=SCHEMA))


def _metrics(run: Run, without: Run) -> dict[str, Array]:
    """Return an array per metric, with one value per replication (NaN without reviews)."""
    reviews = np.zeros(run.scenario.replications) if run.reviews is None else run.reviews.astype(np.float64)
    metrics = {AVOIDED: ratio(_wrong(without) - _wrong(run), reviews)}
    if run.counters is not None and without.counters is not None:
        turns, acted = (run.counters[name].to_numpy().astype(np.float64) for name in ("turns", "acted"))
        harm = _harm(run.counters)
        metrics[HARM] = 100.0 * ratio(_harm(without.counters) - harm, reviews)
        metrics[LOAD] = 100.0 * ratio(reviews, acted)
        metrics[AUTONOMY] = ratio(acted - harm, turns)
    return metrics


def _wrong(run: Run) -> Array:
    scores = run.running_scores
    wrong: Array = scores.questions - scores.right if scores else np.zeros(run.scenario.replications)
    return wrong


def _harm(counters: pl.DataFrame) -> Array:
    return (counters["acted_false"] + counters["acted_stale"]).to_numpy().astype(np.float64)


def _interval_text(row: dict[str, Any], names: Sequence[str]) -> str:
    value, low, high = (row[name] for name in names)
    if value is None:
        return "-"
    return f"{value:.2f}" if low is None else f"{value:+.2f} [{low:.2f}, {high:.2f}]"
