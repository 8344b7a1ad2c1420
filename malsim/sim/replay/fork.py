"""A run continued from some day under other settings: replayed to that day, then changed.

Every random number is an addressed draw, so the days before are the same, bit for bit, however the run goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError, UsageError
from malsim.base.finite import finite
from malsim.memory.rules import Rules
from malsim.sim import bench
from malsim.sim.settings.population import ClaimFault
from malsim.sim.settings.scenario import GRAPHS, Scenario
from malsim.sim.world.clock import milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.sim.bench import Watch
    from malsim.sim.run import Run
    from malsim.sim.settings.population import Population

ALLOWED = ("rules", "law", "writers", "faults", "replications", "first", "record", "record_every")


def fork(run: Run | Scenario, *, day: float, watch: Watch = iter, **changes: Any) -> Run:
    """Continue a run from a day under other rules, law, writers or faults.

    The ticks up to and including the day are those of the run; all later ticks are made under the changes. Without
    changes the frames equal those of the uninterrupted run, bit for bit.

    Parameters
    ----------
    run
        The run, or its scenario.
    day
        From 0 to the run's last day.
    watch
        As of `bench.run`.
    changes
        `rules` (`Rules`, or a dict of those that differ); `law` (mal or recall_v5, which keep the same graph); `writers`,
        all of them from then on: one that is left out falls silent, a new one begins; `faults`, likewise; and
        `replications`, `first`, `record`, `record_every`.

    Raises
    ------
    UsageError
        For a day outside the run, or a setting that this setting cannot change in a fork.
    ScenarioError
        For a population that is there already with other settings: a new one needs a name of its own.
    """
    scenario = run if isinstance(run, Scenario) else run.scenario
    finite(day, where="day", low=0.0, high=scenario.days)
    for name in changes:
        if name not in ALLOWED:
            raise UsageError("this setting cannot change in a fork", where="fork", given=name, allowed=", ".join(ALLOWED))
    if scenario.forked is not None:
        given, hint = f"day {scenario.forked}", "fork the first run anew"
        raise UsageError("a fork cannot be forked again", where="fork", given=given, hint=hint)
    at = milliseconds(day)
    writers = _writers(scenario.writers, changes.pop("writers", scenario.writers), at)
    faults = _faults(scenario.faults, changes.pop("faults", scenario.faults), at)
    law, rules = changes.pop("law", scenario.law), changes.pop("rules", None)
    before = scenario.replace(writers=writers, faults=faults, forked=day, **changes)
    if law != scenario.law and not (law in GRAPHS and scenario.law in GRAPHS):
        problem = f"{law} cannot go on with what {scenario.law} keeps"
        hint = "run it under that law from the start: malsim.run(…, law=…)"
        raise UsageError(problem, where="fork: law", allowed=" or ".join(GRAPHS), hint=hint)
    if rules is not None and scenario.law not in GRAPHS:
        raise UsageError(f"{scenario.law} has no rules", where="fork: rules", hint="rules are the graph's")
    after = before.replace(law=law) if law != before.law else before
    if rules is not None:
        after = after.replace(rules=rules if isinstance(rules, Rules) else dict(rules))
    return bench.run(before, watch=watch, later=(at, after))


def _writers(old: Sequence[Population], new: Sequence[Population], at: int) -> tuple[Population, ...]:
    """Combine the populations before and after the fork: omitted populations end, new ones begin."""
    names = {population.name: population for population in old}
    for population in new:
        if names.get(population.name, population) != population:
            problem = "a population of this name exists with other settings"
            hint = 'give the new population another name, such as name = "…"'
            raise ScenarioError(problem, where="writers", given=population.name, hint=hint)
    before = [
        population if population in new or population.last <= at
        else replace(population, end=max(at, population.start + 1)) if population.start < at
        else replace(population, rate=0.0, every=None, end=population.start + 1)
        for population in old
    ]  # fmt: skip
    return (*before, *(replace(added, start=max(added.start, at)) for added in new if added.name not in names))


def _faults(old: Sequence[ClaimFault], new: Sequence[ClaimFault], at: int) -> tuple[ClaimFault, ...]:
    """Combine the faults before and after the fork.

    An omitted fault keeps its index, because its random draws are addressed by the index.
    """
    before = [
        fault if fault in new or (fault.end is not None and fault.end <= at)
        else replace(fault, end=at) if fault.start < at
        else ClaimFault(population=fault.population)
        for fault in old
    ]  # fmt: skip
    return (*before, *(replace(added, start=max(added.start, at)) for added in new if added not in old))
