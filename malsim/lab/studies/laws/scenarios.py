"""Laws side by side on scenarios: the same writers, faults and readers, replication by replication."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import AdapterError, MalsimError
from malsim.base.intervals import difference_interval, mean_interval
from malsim.lab.studies.laws.side_by_side import SCHEMA, LawTable
from malsim.lab.studies.measure import bounds_of, ends_if_any, measured, measured_by_running, name_of
from malsim.laws import shipped_laws
from malsim.memory import Rules
from malsim.sim import bench
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.adapter import Adapter
    from malsim.base.intervals import Bounds
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

    Values are means over replications with their intervals (`mean_interval`); the difference from the first law is taken
    replication by replication. `laws` are laws, presets of rules of the graph's law (default, guarded), or memories of one's
    own (`Adapter`). What a law has no number for (no belief, no reader) is null, and said once in `left_out`.
    """
    rows: list[dict[str, object]] = []
    left_out: list[str] = []
    failures: list[str] = []
    for scenario in scenarios:
        base: list[Array] = []
        for law in laws:
            name = law if isinstance(law, str) else law.name
            under_law = scenario.replace(**_memory(law, scenario), replications=replications)
            start = time.process_time()
            own = _of_own(under_law, metrics, failures) if under_law.adapter else None
            for place, metric in enumerate(metrics):
                values = own[place] if own else _values(under_law, metric, left_out)
                if law == laws[0]:
                    base.append(values)
                rows.append(
                    {"data": scenario.name, "law": name, "metric": name_of(metric)}
                    | _row(values, base[place], bounds_of(metric))
                )
            seconds = (time.process_time() - start) / len(metrics)
            cost = {"n": 0} if own else _cost(under_law, seconds)  # a user's memory may live in other processes
            rows.append({"data": scenario.name, "law": name, "metric": COST, **cost})
    title = f"{replications} replications each, the same for every law"
    return LawTable(
        frame=pl.DataFrame(rows, schema=SCHEMA),
        title=title,
        left_out=tuple(dict.fromkeys(left_out)),
        failures=tuple(failures),
    )


def _memory(law: str | Adapter, scenario: Scenario) -> dict[str, object]:
    """The settings of a scenario under a law, a preset of rules, or a memory of one's own; who verifies stays who it was."""
    if not isinstance(law, str):
        return {"adapter": law}
    return (
        {"law": law}
        if law in shipped_laws()
        else {"law": "mal", "rules": Rules.read(law).replace(verifiers=scenario.rules.verifiers)}
    )


def _of_own(scenario: Scenario, metrics: Sequence[Measure], failures: list[str]) -> list[Array]:
    """Each figure of a user's memory, of one run as it may be slow; NaN in the replications in which it failed."""
    try:
        run = bench.run(scenario)
    except AdapterError as problem:  # in every replication
        failures.append(f"{scenario.law} failed in all replications of {scenario.name}: {problem}")
        return [np.full(scenario.replications, np.nan) for _ in metrics]
    failures += [f"{scenario.law}: replication {rep} of {scenario.name}: {problem}" for rep, problem in run.failures.items()]
    return [measured(run, metric) for metric in metrics]


def _cost(scenario: Scenario, seconds: float) -> dict[str, float]:
    """Milliseconds of CPU a tick and replication: what a law costs on this machine, its writers and reader included."""
    ticks = scenario.days * DAY / scenario.turn_every * scenario.replications
    return {"value": 1e3 * seconds / ticks, "n": round(ticks)}


def _values(scenario: Scenario, metric: Measure, left_out: list[str]) -> Array:
    try:
        return measured_by_running(scenario, [metric])[0]
    except MalsimError as problem:
        left_out.append(f"{name_of(metric)} of {scenario.name} under {scenario.law}: {problem}")
        return np.full(scenario.replications, np.nan)


def _row(values: Array, base: Array, bounds: Bounds) -> dict[str, object]:
    """A mean with its interval, and the paired difference from the base with its own."""
    row: dict[str, object] = {"n": int(np.isfinite(values).sum())}
    row |= zip(("value", "low", "high"), ends_if_any(mean_interval(values, bounds)), strict=True)
    if values is not base:
        row |= zip(
            ("difference", "difference_low", "difference_high"),
            ends_if_any(difference_interval(values, base, bounds)),
            strict=True,
        )
    return row
