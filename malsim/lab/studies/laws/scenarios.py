"""Comparison of laws on scenarios: the same writers, faults and readers, replication by replication."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import AdapterError, MalsimError
from malsim.base.intervals import ends_if_any
from malsim.lab.studies.laws.side_by_side import DIFFERENCE, SCHEMA, LawTable
from malsim.lab.studies.measure import measurement, name_of
from malsim.lab.studies.price_figures import PRICES
from malsim.laws import shipped_laws
from malsim.memory import Rules
from malsim.sim import bench
from malsim.sim.record.measurement import Measurement, Paired
from malsim.sim.record.metrics import METRICS as FIGURES
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.adapters.engine.adapter import Adapter
    from malsim.lab.studies.measure import Measure
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

METRICS = ("accuracy", "harm")
COST = "cpu_ms_per_tick"


def compare_on_scenarios(
    scenarios: Sequence[Scenario],
    laws: Sequence[str | Adapter],
    *,
    metrics: Sequence[Measure] = METRICS,
    replications: int = 100,
) -> LawTable:
    """Run each scenario under each law on common random numbers, and measure it.

    Values are means over replications with their intervals (`Measurement.mean`). Differences are from the first law,
    replication by replication, each with its own 95 % interval (`difference_interval`). `laws` are laws, presets of rules
    of the graph's law (default, guarded), or memories of the user's own (`Adapter`). A figure that a law does not have (no
    belief, no reader) is null, and named once in `left_out`.
    """
    rows: list[dict[str, object]] = []
    notes = Notes([], [])
    for scenario in scenarios:
        under = [scenario.replace(**under_memory(law, scenario), replications=replications) for law in laws]
        names = [law if isinstance(law, str) else law.name for law in laws]
        sides = [Measured.of(variant, metrics, notes) for variant in under]
        for variant, name, side in zip(under, names, sides, strict=True):
            rows += [*_rows(scenario.name, name, side, sides[0], metrics), _cost_row(variant, name, side)]
    return LawTable(
        frame=pl.DataFrame(rows, schema=SCHEMA),
        title=f"{replications} replications each, the same for every law",
        left_out=tuple(dict.fromkeys(notes.left_out)),
        failures=tuple(notes.failures),
    )


@dataclass(frozen=True)
class Notes:
    """Lines about figures that could not be measured, and about replications that failed."""

    left_out: list[str]
    failures: list[str]


@dataclass(frozen=True, eq=False)
class Measured:
    """Figures of a law, one per metric, and its CPU seconds per metric."""

    figures: list[Measurement]
    seconds: float

    @classmethod
    def of(cls, scenario: Scenario, metrics: Sequence[Measure], notes: Notes) -> Measured:
        """Run a scenario and measure it."""
        start = time.process_time()
        run = _run(scenario, metrics, notes)
        figures = [_values(run, scenario, metric, notes) for metric in metrics]
        return cls(figures, (time.process_time() - start) / len(metrics))

    def row(self, place: int) -> dict[str, object]:
        """Return the mean of a metric with its interval; for a time also horizon, censored and beyond."""
        own = self.figures[place]
        row: dict[str, object] = {"n": own.count}
        if own.time:
            row |= {"horizon": own.time.horizon, "censored": own.time.censored}
            row["beyond"] = own.time.horizon if np.isnan(own.time.value) else None
        return row | dict(zip(("value", "low", "high"), ends_if_any(own.mean()), strict=True))


def _rows(data: str, law: str, side: Measured, base: Measured, metrics: Sequence[Measure]) -> Iterator[dict[str, object]]:
    """Yield a row for each metric: its mean, and its difference from the first law."""
    for index, metric in enumerate(metrics):
        row: dict[str, object] = {"data": data, "law": law, "metric": name_of(metric)} | side.row(index)
        if side is not base and row["value"] is not None:
            paired = Paired(base.figures[index], side.figures[index])
            row |= zip(DIFFERENCE, ends_if_any(paired.mean()), strict=True)
        yield row


def _cost_row(scenario: Scenario, name: str, side: Measured) -> dict[str, object]:
    """Return the CPU milliseconds per tick and replication on this machine, writers and reader included.

    Of a user's memory, which may live in other processes, nothing is said.
    """
    row: dict[str, object] = {"data": scenario.name, "law": name, "metric": COST, "n": 0}
    if scenario.adapter:
        return row
    ticks = scenario.days * DAY / scenario.turn_every * scenario.replications
    return row | {"value": 1e3 * side.seconds / ticks, "n": round(ticks)}


def under_memory(law: str | Adapter, scenario: Scenario) -> dict[str, object]:
    """Return the changes that put a scenario under a law, a preset of rules, or a user's memory."""
    if not isinstance(law, str):
        return {"adapter": law}
    return (
        {"law": law}
        if law in shipped_laws()
        else {"law": "mal", "rules": Rules.read(law).replace(verifiers=scenario.rules.verifiers)}
    )


def _run(scenario: Scenario, metrics: Sequence[Measure], notes: Notes) -> Run | None:
    """Run once for all metrics; return None if a user's memory failed in every replication or the law cannot run."""
    figures = all(isinstance(metric_, str) and (metric_ in FIGURES or metric_ in PRICES) for metric_ in metrics)
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
    """Return a figure of the replications; NaN where it has no value."""
    try:
        if run is not None:
            return measurement(run, metric)
    except MalsimError as problem:
        notes.left_out.append(f"{name_of(metric)} of {scenario.name} under {scenario.law}: {problem}")
    return Measurement(np.full(scenario.replications, np.nan))
