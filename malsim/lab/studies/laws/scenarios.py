"""Comparison of laws on the same replications of scenarios."""

from __future__ import annotations

import time
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
    """Run each scenario under each law, with common random numbers, and measure the runs.

    `laws` are names of laws, presets of rules for the graph's law (default, guarded), or user-defined memories (`Adapter`).
    Values are means over replications with their intervals (`Measurement.mean`). Differences from the first law are paired
    by replication, each with its own 95 % interval (`difference_interval`). A measure that a law does not have (no belief,
    no reader) is null, and is named once in `left_out`.
    """
    rows: list[dict[str, object]] = []
    left_out: list[str] = []
    failures: list[str] = []
    for scenario in scenarios:
        first: list[Measurement] | None = None
        for law in laws:
            variant = scenario.replace(**_under_memory(law, scenario), replications=replications)
            start = time.process_time()
            run = _run(variant, metrics, left_out, failures)
            figures = [_figure(run, variant, metric, left_out) for metric in metrics]
            seconds = (time.process_time() - start) / len(metrics)
            names = {"data": scenario.name, "law": law if isinstance(law, str) else law.name}
            rows += [names | row for row in _rows(metrics, figures, first)]
            rows.append(names | _cost_row(variant, seconds))
            first = first or figures
    return LawTable(
        frame=pl.DataFrame(rows, schema=SCHEMA),
        title=f"{replications} replications each, the same for every law",
        left_out=tuple(dict.fromkeys(left_out)),
        failures=tuple(failures),
    )


def _rows(
    metrics: Sequence[Measure], figures: Sequence[Measurement], first: Sequence[Measurement] | None
) -> Iterator[dict[str, object]]:
    """Yield one row per metric: its mean and, unless `first` is None, its difference from the first law."""
    for metric, figure, base in zip(metrics, figures, first or figures, strict=True):
        row: dict[str, object] = {"metric": name_of(metric), "n": figure.count}
        if figure.time:
            row |= {"horizon": figure.time.horizon, "censored": figure.time.censored}
            row["beyond"] = figure.time.horizon if np.isnan(figure.time.value) else None
        row |= zip(("value", "low", "high"), ends_if_any(figure.mean()), strict=True)
        if first is not None and row["value"] is not None:
            row |= zip(DIFFERENCE, ends_if_any(Paired(base, figure).mean()), strict=True)
        yield row


def _cost_row(scenario: Scenario, seconds: float) -> dict[str, object]:
    """Return the row with the CPU milliseconds per tick and replication, including the writers and the reader.

    The value is null for a user-defined memory, which may run in other processes.
    """
    if scenario.adapter:
        return {"metric": COST, "n": 0}
    ticks = scenario.days * DAY / scenario.turn_every * scenario.replications
    return {"metric": COST, "value": 1e3 * seconds / ticks, "n": round(ticks)}


def _under_memory(law: str | Adapter, scenario: Scenario) -> dict[str, object]:
    """Return the changes to a scenario that select a law, a rules preset, or a user-defined memory."""
    if not isinstance(law, str):
        return {"adapter": law}
    if law in shipped_laws():
        return {"law": law}
    return {"law": "mal", "rules": Rules.read(law).replace(verifiers=scenario.rules.verifiers)}


def _run(scenario: Scenario, metrics: Sequence[Measure], left_out: list[str], failures: list[str]) -> Run | None:
    """Run a scenario. Return None if its law cannot run it, or if a user-defined memory failed in every replication."""
    figures = all(isinstance(metric, str) and (metric in FIGURES or metric in PRICES) for metric in metrics)
    try:
        run = bench.run(scenario.replace(record="bands") if figures and not scenario.adapter else scenario)
    except AdapterError as problem:  # the adapter failed in every replication
        failures.append(f"{scenario.law} failed in all replications of {scenario.name}: {problem}")
        return None
    except MalsimError as problem:
        if scenario.adapter:  # the user can fix the error, for example by allowing the code to run
            raise
        left_out.append(f"{scenario.name} under {scenario.law}: {problem}")
        return None
    broken = run.failures.items()
    failures += [f"{scenario.law}: replication {rep} of {scenario.name}: {problem}" for rep, problem in broken]
    return run


def _figure(run: Run | None, scenario: Scenario, metric: Measure, left_out: list[str]) -> Measurement:
    """Measure a run. Every replication is NaN if there is no run, or if the metric cannot be computed."""
    try:
        if run is not None:
            return measurement(run, metric)
    except MalsimError as problem:
        left_out.append(f"{name_of(metric)} of {scenario.name} under {scenario.law}: {problem}")
    return Measurement(np.full(scenario.replications, np.nan))
