"""Falsification of a property: search for a disturbance that breaks the property, shrink it, and write a scenario file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import MalsimError, UsageError
from malsim.base.limits import within
from malsim.lab.falsify.broken_scenario import Break, shrink, text_of
from malsim.lab.falsify.margin_search import search
from malsim.lab.falsify.predicates import PropertyRun, margin, property_run, scales
from malsim.lab.falsify.schedule import COORDINATES, Disturbance, WriteSchedule, with_disturbance
from malsim.lab.space.settings import scenario_of
from malsim.scenario.checks.checks import Goal
from malsim.scenario.properties.parse import parse
from malsim.sim import bench
from malsim.sim.settings.scenario import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    import numpy as np
    from numpy.typing import NDArray

    from malsim.lab.falsify.margin_search import Method
    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.sim.settings.scenario import Scenario

PILOT = 8  # number of initial runs that determine the scales of the predicates


@dataclass(frozen=True)
class Falsification:
    """Result of a search for a disturbance that breaks a property.

    Parameters
    ----------
    check
        The property to break, with its name.
    runs
        Number of distinct runs up to and including the first break, or of all runs if nothing broke.
    disturbance
        The shrunk disturbance that breaks the property; None if the search found none.
    scenario
        The smallest scenario that breaks the property; None if the search found none.
    text
        The text of the scenario's file, which was read back, run, and failed again.
    trail
        run, phase, margin (scaled), broken: one row per run, in order.
    shrinking
        Number of additional runs needed for shrinking.
    """

    check: Check
    runs: int
    disturbance: Disturbance | None
    scenario: Scenario | None
    text: str
    trail: pl.DataFrame
    shrinking: int

    @property
    def broken(self) -> bool:
        return self.disturbance is not None

    def __str__(self) -> str:
        if self.disturbance is None:
            best = min(self.trail["margin"].to_list())
            return f"{self.check.name}: not broken in {self.runs} runs, the nearest margin {best:.3g} (scaled)"
        writes = [f"  {write}" for write in self.disturbance.writes]
        settings = [f"  {name} = {value}" for name, value in self.disturbance.settings.items()]
        phase = self.trail["phase"][-1]
        head = f"{self.check.name}: broken in run {self.runs} ({phase}), shrunk in {self.shrinking} more to"
        return "\n".join([head, *(writes + settings or ["  the scenario as it is"])])


def falsify(
    scenario: ScenarioOrPath,
    check: str,
    *,
    budget: int = 500,
    schedule: WriteSchedule | None = None,
    seed: int = 0,
    method: Method = "search",
    executor: Executor | None = None,
    **options: Any,
) -> Falsification:
    """Search for writes, noise and settings that break a check.

    Parameters
    ----------
    scenario
        A scenario or the path of its file; a break in any replication counts.
    check
        A property, or the name of a check of the scenario that states a property.
    budget
        Largest number of distinct runs of the search; shrinking takes up to 200 more.
    schedule
        The search space; if None, it is built from `options`.
    seed
        Seed of the search; the scenario keeps its own.
    method
        "search", or "random" as a baseline.
    executor
        Executor for the runs of a generation, such as a process pool; the result does not depend on it.
    options
        `parameters`: settings to search, from dotted names to (low, high) or choices: {"rules.damping": (0.1, 0.9)},
        {"faults.honest.noise.drop": (0, 1)}. `writes`: the largest number of claims to add (4); `writers`, `targets` and
        `relations`: the writers, cells and relations of these claims (by default the scripted writers and two others, the
        scenario's cells, and all relations). If the scenario has writer populations, their seed is searched too.

    Raises
    ------
    UsageError
        If the check is unknown, there is nothing to search, or the property could not be judged in any run.
    """
    scenario = scenario_of(scenario)
    subject, plan = _check(scenario, check), schedule or WriteSchedule.with_settings(scenario, **options)
    if budget < 1:
        raise UsageError("out of bounds", where="budget", given=budget, allowed="1 or more")
    within({"points": budget}, where="falsify")
    formula = parse(subject.property)
    judge = partial(judge_run, subject.property)

    def evaluate(points: Sequence[NDArray[np.float64]]) -> Iterator[PropertyRun]:
        scenarios = [with_disturbance(scenario, plan.at(point)) for point in points]
        return iter(executor.map(judge, scenarios)) if executor else map(judge, scenarios)

    def rank(runs: Sequence[PropertyRun]) -> list[float]:
        good = [run for run in runs if not run.problem]
        scale = scales(formula, good[:PILOT])
        return [float("inf") if run.problem else margin(formula, run, scale) for run in runs]

    trail = search(
        plan.size, evaluate, budget=budget, key=lambda point: plan.at(point).key, rank=rank, block=COORDINATES, seed=seed,
        method=method,
    )  # fmt: skip
    if all(run.problem for run in trail.runs):
        raise UsageError("the property could not be judged in any run", where=subject.name, given=trail.runs[0].problem)
    frame = pl.DataFrame(
        {"run": range(1, len(trail.runs) + 1), "phase": trail.phases, "margin": rank(trail.runs),
         "broken": [run.broken for run in trail.runs]}
    )  # fmt: skip
    if trail.broken is None:
        return Falsification(subject, len(trail.runs), None, None, "", frame, 0)
    whole = Break(replace(scenario, checks=(subject,)), plan.at(trail.points[trail.broken]))
    smallest, result, more = shrink(whole, judge, trail.runs[trail.broken])
    text = text_of(smallest, subject, result)
    return Falsification(subject, trail.broken + 1, smallest.disturbance, smallest.scenario, text, frame, more)


def judge_run(text: str, scenario: Scenario) -> PropertyRun:
    """Run a scenario and judge it. An error raised by malsim is returned as a problem, not as a break."""
    try:
        return property_run(text, bench.run(scenario))
    except MalsimError as problem:
        return PropertyRun(problem=str(problem))


def _check(scenario: Scenario, text: str) -> Check:
    by_name = {check.name: check for check in scenario.checks if type(check) is Check and not isinstance(check, Goal)}
    allowed = ", ".join(by_name)
    if text in by_name:
        return by_name[text]
    if text in {check.name for check in scenario.checks}:
        raise UsageError("this check has no margin because it does not state a property", given=text, allowed=allowed)
    try:
        parse(text)
    except MalsimError as problem:
        raise UsageError("neither the name of a check nor a property", given=text, allowed=allowed) from problem
    return Check(name=text, property=text)
