"""Forks of a run, which continue from a given day with other settings, and pushes of past turns.

Every random number is an addressed draw, so the days before the fork are bit-for-bit the same.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

from malsim.base.errors import ScenarioError, UsageError
from malsim.base.finite import finite
from malsim.memory.push import Push, push_of
from malsim.memory.rules import Rules
from malsim.memory.schema import NONE
from malsim.sim import bench
from malsim.sim.settings.population import ClaimFault
from malsim.sim.settings.scenario import GRAPHS, Scenario
from malsim.sim.world.clock import days, milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory import Memory
    from malsim.sim.bench import Watch
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import Turn
    from malsim.sim.run import Run
    from malsim.sim.settings.population import Population

ALLOWED = ("rules", "law", "writers", "faults", "replications", "first", "record", "record_every")


def fork(run: Run | Scenario, *, day: float, watch: Watch = iter, **changes: Any) -> Run:
    """Repeat a run up to a given day and then continue under other rules, law, writers or faults.

    The ticks up to and including the day are those of the run; the changes apply to all later ticks. Without changes, the
    frames are bit-for-bit equal to those of the uninterrupted run.

    Parameters
    ----------
    run
        The run, or its scenario.
    day
        Day of the fork, from 0 to the run's last day.
    watch
        Progress bar, as in `bench.run`.
    changes
        `rules` (`Rules`, or a dict of changed rules); `law` (mal or recall_v5, which keep the same graph); `writers`, all
        populations after the fork: omitted ones fall silent, new ones start; `faults`, likewise; and `replications`,
        `first`, `record`, `record_every`.

    Raises
    ------
    UsageError
        If the day is outside the run, or a setting cannot be changed in a fork.
    ScenarioError
        If a population has the name of an existing population but different settings.
    """
    scenario = run if isinstance(run, Scenario) else run.scenario
    finite(day, where="day", low=0.0, high=scenario.days)
    for name in changes:
        if name not in ALLOWED:
            raise UsageError(
                "this setting cannot be changed in a fork", where="fork", given=name, allowed=", ".join(ALLOWED)
            )
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
        problem, hint = f"{scenario.law} has no rules", "run the scenario under mal or recall_v5"
        raise UsageError(problem, where="fork: rules", hint=hint)
    after = before.replace(law=law) if law != before.law else before
    if rules is not None:
        after = after.replace(rules=rules if isinstance(rules, Rules) else dict(rules))
    return bench.run(before, watch=watch, later=(at, after))


def _writers(old: Sequence[Population], new: Sequence[Population], at: int) -> tuple[Population, ...]:
    """Return all populations of the fork. Omitted populations end at the fork, and new ones start there."""
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
    """Return all faults of the fork. Omitted faults keep their index, because random draws depend on the index."""
    before = [
        fault if fault in new or (fault.end is not None and fault.end <= at)
        else replace(fault, end=at) if fault.start < at
        else ClaimFault(population=fault.population)
        for fault in old
    ]  # fmt: skip
    return (*before, *(replace(added, start=max(added.start, at)) for added in new if added not in old))


@dataclass(frozen=True, kw_only=True)
class TurnPush(Push):
    """Push of one turn, with its `day`, its number (`turn`), the object of its task, and the memory that was shown."""

    day: float
    turn: int
    task: str
    memory: Memory

    def __str__(self) -> str:
        """Return the task and the pushed lines as text."""
        return f"day {self.day:g}, turn {self.turn}, about {self.task}\n{super().__str__() or 'nothing to show'}"


def push_on(scenario: Scenario, day: float, rep: int | None = None) -> TurnPush:
    """Return the push of the last turn on or before a day. `rep` is a replication number (default: the first).

    `day` lies between the first turn and the end of the run. Raises `UsageError` if the scenario has no reader, if its law
    has no claim graph, or if no turn took place by that day.
    """
    first = scenario.first if rep is None else rep
    finite(day, where="day", low=days(scenario.turn_every), high=scenario.days)
    if scenario.reader is None:
        raise UsageError("this scenario has no reader", where=scenario.name, hint="add a [reader] table")
    if scenario.law not in GRAPHS or scenario.adapter:
        raise UsageError(
            "a push needs a claim graph, which this law does not have", given=scenario.law, allowed=", ".join(GRAPHS)
        )
    alone = scenario.replace(first=first, replications=1, record="bands")
    again = bench.Bench(alone, watch=lambda ticks: (at for at in ticks if days(at) <= day))
    last = deque[tuple["Snapshot", "Turn"]](maxlen=1)
    if again.session:
        again.session.on_push = lambda *push: last.append(push)
    again.calendar.run()
    if not last:
        raise UsageError("no turn took place on or before this day", where="day", given=day, hint="choose a later day")
    snapshot, turn = last[-1]
    memory, rows = cast("Memory", snapshot.view.graph), turn.pushed.row[0]
    push = push_of(  # the other sections share the words of the budget that the index leaves unused
        memory, rows[rows != NONE].tolist(), now=turn.now, rep=int(memory.cells["rep"][0]), rules=scenario.rules,
        left=int(scenario.reader.budget_words) - int(turn.pushed.words[0]),
        surfaced=turn.surfaced.of(0) if turn.surfaced else (),
    )  # fmt: skip
    parts = {part.name: getattr(push, part.name) for part in fields(push)}
    task = scenario.facts[int(turn.fact[0])].name
    return TurnPush(**parts, day=turn.now, turn=turn.number, task=task, memory=memory)
