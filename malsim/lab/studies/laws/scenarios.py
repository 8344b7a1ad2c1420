"""Laws side by side on scenarios: the same writers, faults and readers, replication by replication."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import AdapterError, MalsimError
from malsim.base.intervals import ends_if_any
from malsim.lab.studies.laws.output_calibration import calibrate_scores
from malsim.lab.studies.laws.side_by_side import DIFFERENCE, SCHEMA, LawTable
from malsim.lab.studies.measure import bounds_of, is_better_high, measurement, name_of
from malsim.lab.studies.paired_ranking import rank
from malsim.lab.studies.price_figures import PRICES
from malsim.laws import shipped_laws
from malsim.memory import Rules
from malsim.sim import bench
from malsim.sim.record.measurement import Measurement
from malsim.sim.record.metrics import METRICS as FIGURES
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.adapter import Adapter
    from malsim.base.intervals import Bounds
    from malsim.lab.studies.measure import Array, Measure
    from malsim.lab.studies.paired_ranking import Ranking
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

METRICS = ("accuracy", "harm")
CALIBRATED = ("brier", "log_loss", "ece", "rmse_bins")  # the figures of what claims are worth at the end
COST = "cpu_ms_per_tick"
MOST = 1_600  # replications, while a first place is sought
ALPHA = 0.05


def compare_on_scenarios(
    scenarios: Sequence[Scenario],
    laws: Sequence[str | Adapter],
    *,
    metrics: Sequence[Measure] = METRICS,
    replications: int = 100,
    decide: bool = False,
    most: int = MOST,
    calibrated: bool = False,
) -> LawTable:
    """Run each scenario under each law on common random numbers, and measure.

    Values are means over replications with their intervals (`Measurement.mean`). Places, and the
    differences from the first law, are those of `paired_ranking.rank`: they hold all at once, 95 %, for each metric.
    `decide` doubles the replications until one law alone may be the first in the first metric, or all that may are equal in
    every replication, or there would be more than `most`; the k-th look takes a share 2^-k of the 5 %. `laws` are laws,
    presets of rules of the graph's law (default, guarded), or memories of one's own (`Adapter`). What a law has no number
    for (no belief, no reader) is null, and said once in `left_out`. With `calibrated` what the claims at the end are worth
    is calibrated on the other half of the replications, alike for all laws, before `brier`, `log_loss` and `ece` are taken.
    """
    rows: list[dict[str, object]] = []
    notes = Notes([], [], calibrated=calibrated)
    titles = []
    for scenario in scenarios:
        under = [scenario.replace(**under_memory(law, scenario)) for law in laws]
        names = [law if isinstance(law, str) else law.name for law in laws]
        sides = [Measured.of(one, metrics, 0, replications, notes) for one in under]
        look, level = 1, 1.0 - (ALPHA / 2.0 if decide else ALPHA)
        while decide and not _decided(names, sides, metrics, level) and 2 * sides[0].replications <= most:
            count = sides[0].replications
            sides = [side.and_more(Measured.of(one, metrics, count, count, notes))
                     for side, one in zip(sides, under, strict=True)]  # fmt: skip
            look, level = look + 1, 1.0 - ALPHA / 2.0 ** (look + 1)
        count = sides[0].replications
        costs = [_cost_row(one, name, side) for one, name, side in zip(under, names, sides, strict=True)]
        rows += sorted(_rows(scenario, names, sides, metrics, level) + costs, key=lambda row: names.index(str(row["law"])))
        titles.append(f"{count} replications each, the same for every law; differences and places hold all at once")
    titles += ["what claims are worth calibrated on the other half of them"] if calibrated else []
    return LawTable(
        frame=pl.DataFrame(rows, schema=SCHEMA),
        title="; ".join(dict.fromkeys(titles)),
        left_out=tuple(dict.fromkeys(notes.left_out)),
        failures=tuple(notes.failures),
    )


@dataclass(frozen=True)
class Notes:
    """What could not be measured, and what failed; whether what claims are worth is calibrated before it is measured."""

    left_out: list[str]
    failures: list[str]
    calibrated: bool


@dataclass(frozen=True, eq=False)
class Measured:
    """A law's figures, one a metric, and its seconds of CPU a metric."""

    figures: list[Measurement]
    seconds: float

    @classmethod
    def of(cls, scenario: Scenario, metrics: Sequence[Measure], first: int, count: int, notes: Notes) -> Measured:
        """Run so many replications from a first on."""
        part = scenario.replace(first=scenario.first + first, replications=count)
        start = time.process_time()
        run = _run(part, metrics, notes)
        figures = [_values(run, part, metric, notes) for metric in metrics]
        return cls(figures, (time.process_time() - start) / len(metrics))

    def and_more(self, more: Measured) -> Measured:
        """These replications and others."""
        pairs = zip(self.figures, more.figures, strict=True)
        return Measured([one.and_more(other) for one, other in pairs], self.seconds + more.seconds)

    @property
    def replications(self) -> int:
        """How many were run."""
        return len(self.figures[0].each)

    def row(self, place: int) -> dict[str, object]:
        """The mean of a metric with its interval; of a time also its spells, and `beyond` what more than a half outlast."""
        own = self.figures[place]
        row: dict[str, object] = {"n": own.count}
        if own.time:
            row |= {"horizon": own.time.horizon, "censored": own.time.censored}
            row["beyond"] = own.time.horizon if np.isnan(own.time.value) else None
        return row | dict(zip(("value", "low", "high"), ends_if_any(own.mean()), strict=True))


def _decided(names: Sequence[str], sides: Sequence[Measured], metrics: Sequence[Measure], level: float) -> bool:
    """Whether one law alone may be the first, or those that may are the same in every replication."""
    values = [side.figures[0].parts for side in sides]
    ranking = _ranking(names, values, metrics[0], level)
    if ranking is None:
        return True
    top = [name for name, (first, _) in zip(ranking.names, ranking.ranks, strict=True) if first == 1]
    own = dict(zip(names, values, strict=True))
    return all(np.array_equal(own[top[0]], own[name], equal_nan=True) for name in top)


def _ranking(names: Sequence[str], values: Sequence[Array], metric: Measure, level: float) -> Ranking | None:
    """The laws that have a number, ranked; None where fewer than two have, or in fewer than two replications."""
    there = {name: each for name, each in zip(names, values, strict=True) if np.isfinite(each).any()}
    complete = np.isfinite(np.array(list(there.values()))).all(axis=0).sum() if there else 0
    if len(there) < 2 or complete < 2:  # noqa: PLR2004  # one has no place, and no spread
        return None
    return rank(there, higher_is_better=is_better_high(metric), level=level)


def _rows(
    scenario: Scenario, names: Sequence[str], sides: Sequence[Measured], metrics: Sequence[Measure], level: float
) -> list[dict[str, object]]:
    """A row a law and metric: its mean, its difference from the first law, and its places."""
    rows = list[dict[str, object]]()
    for place, metric in enumerate(metrics):
        ranking = _ranking(names, [side.figures[place].parts for side in sides], metric, level)
        words = dict(zip(ranking.frame["name"], ranking.frame["rank"], strict=True)) if ranking else {}
        for name, side in zip(names, sides, strict=True):
            row: dict[str, object] = {"data": scenario.name, "law": name, "metric": name_of(metric), "rank": words.get(name)}
            row |= side.row(place)
            if ranking and name != names[0] and {name, names[0]} <= words.keys():
                row |= zip(DIFFERENCE, _within(ranking.difference(name, names[0]), bounds_of(metric)), strict=True)
            rows.append(row)
    return rows


def _within(difference: tuple[float, float, float], bounds: Bounds) -> tuple[float, float, float]:
    """A difference of two figures within bounds lies within these."""
    least, most = bounds[0] - bounds[1], bounds[1] - bounds[0]
    middle, low, high = difference
    return middle, max(low, least), min(high, most)


def _cost_row(scenario: Scenario, name: str, side: Measured) -> dict[str, object]:
    """Milliseconds of CPU a tick and replication: what a law costs on this machine, its writers and reader included.

    Of a user's memory, which may live in other processes, nothing is said.
    """
    row: dict[str, object] = {"data": scenario.name, "law": name, "metric": COST, "n": 0}
    if scenario.adapter:
        return row
    ticks = scenario.days * DAY / scenario.turn_every * side.replications
    return row | {"value": 1e3 * side.seconds / ticks, "n": round(ticks)}


def under_memory(law: str | Adapter, scenario: Scenario) -> dict[str, object]:
    """The settings of a scenario under a law, a preset of rules, or a memory of one's own; who verifies stays who it was."""
    if not isinstance(law, str):
        return {"adapter": law}
    return (
        {"law": law}
        if law in shipped_laws()
        else {"law": "mal", "rules": Rules.read(law).replace(verifiers=scenario.rules.verifiers)}
    )


def _run(scenario: Scenario, metrics: Sequence[Measure], notes: Notes) -> Run | None:
    """Run once for all metrics; None where a user's memory failed in every replication, or the law has no such run."""
    figures = all(isinstance(one, str) and (one in FIGURES or one in PRICES) for one in metrics)
    try:
        run = bench.run(scenario.replace(record="bands") if figures and not scenario.adapter else scenario)
    except AdapterError as problem:  # in every replication
        notes.failures.append(f"{scenario.law} failed in all replications of {scenario.name}: {problem}")
        return None
    except MalsimError as problem:
        if scenario.adapter:  # a file that runs no code unless it may
            raise
        notes.left_out.append(f"{scenario.name} under {scenario.law}: {problem}")
        return None
    broken = run.failures.items()
    notes.failures.extend(f"{scenario.law}: replication {rep} of {scenario.name}: {problem}" for rep, problem in broken)
    return run


def _values(run: Run | None, scenario: Scenario, metric: Measure, notes: Notes) -> Measurement:
    """A figure of the replications; NaN where they have none."""
    try:
        if run is not None:
            return measurement(_calibrated(run) if notes.calibrated and metric in CALIBRATED else run, metric)
    except MalsimError as problem:
        notes.left_out.append(f"{name_of(metric)} of {scenario.name} under {scenario.law}: {problem}")
    return Measurement(np.full(scenario.replications, np.nan))


def _calibrated(run: Run) -> Run:
    return run if run.final_scores is None else replace(run, final_scores=calibrate_scores(run.final_scores))
