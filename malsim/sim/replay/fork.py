"""Forks of a run, which repeat it up to a day and then continue under other settings.

Every random number is an addressed draw, so the days before the fork are the same, bit for bit.
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

    The ticks up to and including the day are those of the run; the changes apply to all later ticks. Without changes the
    frames equal those of the uninterrupted run, bit for bit.

    Parameters
    ----------
    run
        The run, or its scenario.
    day
        Day of the fork, from 0 to the run's last day.
    watch
        Progress of the ticks, as in `bench.run`.
    changes
        `rules` (`Rules`, or a dict of changed rules); `law` (mal or recall_v5, which keep the same graph); `writers`, all
        populations after the fork: omitted ones fall silent, new ones begin; `faults`, likewise; and `replications`,
        `first`, `record`, `record_every`.

    Raises
    ------
    UsageError
        For a day outside the run, or a setting that cannot change in a fork.
    ScenarioError
        For a population whose name is used by another population with other settings.
    """
    scenario = run if isinstance(run, Scenario) else run.scenario
    finite(day, where="day", low=0.0, high=scenario.days)
    for name in changes:
        if name not in ALLOWED:
            raise UsageError("this setting cannot change in a fork", where="fork", given=name, allowed=", ".join(ALLOWED))
    if scenario.forked is not None:
        given, hint = f"day {scenario.forked}", "fork the original run"
        raise UsageError("a fork cannot be forked again", where="fork", given=given, hint=hint)
    at = milliseconds(day)
    writers = _writers(scenario.writers, changes.pop("writers", scenario.writers), at)
    faults = _faults(scenario.faults, changes.pop("faults", scenario.faults), at)
    law, rules = changes.pop("law", scenario.law), changes.pop("rules", None)
    before = scenario.replace(writers=writers, faults=faults, forked=day, **changes)
    if law != scenario.law and not (law in GRAPHS and scenario.law in GRAPHS):
        problem = f"{law} cannot continue from the memory of {scenario.law}"
        hint = "run it under that law from the start: malsim.run(…, law=…)"
        raise UsageError(problem, where="fork: law", allowed=" or ".join(GRAPHS), hint=hint)
    if rules is not None and scenario.law not in GRAPHS:
        raise UsageError(f"{scenario.law} has no rules", where="fork: rules", hint="only mal and recall_v5 have rules")
    after = before.replace(law=law) if law != before.law else before
    if rules is not None:
        after = after.replace(rules=rules if isinstance(rules, Rules) else dict(rules))
    return bench.run(before, watch=watch, later=(at, after))


def _writers(old: Sequence[Population], new: Sequence[Population], at: int) -> tuple[Population, ...]:
    """Return the populations before and after the fork: omitted populations end, new ones begin."""
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
    """Return the faults before and after the fork. Omitted faults keep their index, which addresses their draws."""
    before = [
        fault if fault in new or (fault.end is not None and fault.end <= at)
        else replace(fault, end=at) if fault.start < at
        else ClaimFault(population=fault.population)
        for fault in old
    ]  # fmt: skip
    return (*before, *(replace(added, start=max(added.start, at)) for added in new if added not in old))
