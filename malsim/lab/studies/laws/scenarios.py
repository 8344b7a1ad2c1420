"""Laws side by side on scenarios: the same writers, faults and readers, replication by replication."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import MalsimError
from malsim.lab.studies.laws.side_by_side import SCHEMA, LawTable
from malsim.lab.studies.measure import estimate, measured, measured_by_running, name_of
from malsim.sim import bench
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.adapter import Adapter
    from malsim.lab.studies.measure import Array, Measure
    from malsim.sim.settings.scenario import Scenario

__all__ = ["compare_on_scenarios"]

METRICS = ("accuracy", "harm")
COST = "cpu_ms_per_tick"


def compare_on_scenarios(
    scenarios: Sequence[Scenario],
    laws: Sequence[str | Adapter],
    *,
    metrics: Sequence[Measure] = METRICS,
    replications: int = 100,
) -> LawTable:
    """Run each scenario under each law on common random numbers, and measure.

    Values are means over replications with Student's t intervals; the difference from the first law is taken replication by
    replication. An `Adapter` is a memory of one's own. What a law has no number for (no belief, no reader) is null, and said
    once in `left_out`.
    """
    rows: list[dict[str, object]] = []
    left_out: list[str] = []
    for scenario in scenarios:
        base: list[Array] = []
        for law in laws:
            name = law if isinstance(law, str) else law.name
            memory = {"law": law} if isinstance(law, str) else {"adapter": law}
            given = scenario.replace(**memory, replications=replications)
            start = time.process_time()
            made = bench.run(given) if given.adapter else None  # a user's memory may be slow: one run for all figures
            if made:
                left_out += [f"replication {rep} of {scenario.name}: {problem}" for rep, problem in made.failures.items()]
            for place, metric in enumerate(metrics):
                values = measured(made, metric) if made else _measured(given, metric, left_out)
                if law == laws[0]:
                    base.append(values)
                rows.append({"data": scenario.name, "law": name, "metric": name_of(metric)} | _row(values, base[place]))
            spent = (time.process_time() - start) / (1 if made else len(metrics))
            cost: dict[str, object] = (
                {"n": 0} if made else _cost(given, spent)
            )  # a user's memory may live in other processes
            rows.append({"data": scenario.name, "law": name, "metric": COST} | cost)
    title = f"{replications} replications each, the same for every law"
    return LawTable(frame=pl.DataFrame(rows, schema=SCHEMA), title=title, left_out=tuple(dict.fromkeys(left_out)))


def _cost(scenario: Scenario, spent: float) -> dict[str, object]:
    """Milliseconds of CPU a tick and replication: what a law costs on this machine, its writers and reader included."""
    ticks = scenario.days * DAY / scenario.turn_every * scenario.replications
    return {"value": 1e3 * spent / ticks, "n": round(ticks)}


def _measured(scenario: Scenario, metric: Measure, left_out: list[str]) -> Array:
    try:
        return measured_by_running(scenario, [metric])[0]
    except MalsimError as problem:
        left_out.append(f"{name_of(metric)} of {scenario.name} under {scenario.law}: {problem}")
        return np.full(scenario.replications, np.nan)


def _row(values: Array, base: Array) -> dict[str, object]:
    """A mean with its interval, and the paired difference from the base with its own."""
    row: dict[str, object] = {"n": int(np.isfinite(values).sum())}
    row |= dict(zip(("value", "low", "high"), _mean(values), strict=True))
    if values is not base:
        ends = ("difference", "difference_low", "difference_high")
        row |= dict(zip(ends, _mean(values - base), strict=True))
    return row


def _mean(values: Array) -> tuple[float | None, float | None, float | None]:
    held = values[np.isfinite(values)]
    if not len(held):
        return None, None, None
    if len(np.unique(held)) == 1:
        return float(held[0]), None, None
    found = estimate(held, "mean")
    return found.value, found.low, found.high
