"""From a scenario to verdicts: it is run, and each of its checks passes, fails, or could not be made."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from malsim.errors import MalsimError
from malsim.scenario.properties import Verdict, check
from malsim.scenario.properties.frames import trace_of
from malsim.sim import bench

if TYPE_CHECKING:
    from malsim.sim.run import Run
    from malsim.sim.script import Check, Scenario

__all__ = ["Judged", "Outcome", "Status", "judge", "judge_run"]

Status = Literal["pass", "fail", "error"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What became of one check: `verdict` where it could be made, else `said` tells what kept it from being made."""

    check: Check
    status: Status
    said: str
    verdict: Verdict | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """A scenario with what became of its checks; `error` says why it could not be run at all."""

    scenario: Scenario
    outcomes: tuple[Outcome, ...] = ()
    error: str = ""
    run: Run | None = None

    @property
    def status(self) -> Status:
        """An error outweighs a failure, and a failure a pass."""
        found = {outcome.status for outcome in self.outcomes}
        return "error" if self.error or "error" in found else "fail" if "fail" in found else "pass"

    def command(self, outcome: Outcome) -> str:
        """The one command that makes a failing check's worst replication again, alone."""
        scenario, worst = self.scenario, outcome.verdict.margin.witness.replication if outcome.verdict else None
        path = shlex.quote(scenario.path or scenario.name)
        alone = "" if worst is None else f" --replication {worst}"
        return f"malsim test {path} --seed {scenario.seed}{alone}"


def judge(scenario: Scenario) -> Judged:
    """Run a scenario and judge it by its own checks; what malsim refuses, or breaks on, is an error, never a failure."""
    try:
        run = bench.run(scenario)
    except MalsimError as problem:
        return Judged(scenario=scenario, error=str(problem))
    except Exception as crash:  # noqa: BLE001  # a crash must not pass for a failed check, whatever it is
        return Judged(scenario=scenario, error=f"the run broke off: {type(crash).__name__}: {crash}")
    return Judged(scenario=scenario, outcomes=judge_run(run), run=run)


def judge_run(run: Run) -> tuple[Outcome, ...]:
    """The outcome of each check of a run's scenario, over the run as it was recorded."""
    if not run.scenario.checks:
        return ()
    try:
        trace = trace_of(run)
    except MalsimError as problem:
        return tuple(Outcome(check=wanted, status="error", said=str(problem)) for wanted in run.scenario.checks)
    outcomes = []
    for wanted in run.scenario.checks:
        try:
            verdict = check(wanted.property, trace, share=wanted.share)
        except MalsimError as problem:
            outcomes.append(Outcome(check=wanted, status="error", said=str(problem)))
            continue
        status: Status = "pass" if verdict.passed else "fail"
        outcomes.append(Outcome(check=wanted, status=status, said=_said(verdict), verdict=verdict))
    return tuple(outcomes)


def _said(verdict: Verdict) -> str:
    margin = verdict.margin
    if len(margin.each) == 1:
        return str(margin.witness) if not verdict.passed else f"margin {margin.worst:.3g}"
    low, high = verdict.interval
    share = f"holds in {verdict.held:.3g} of {len(margin.each)} replications [{low:.3g}, {high:.3g}]"
    if verdict.passed:
        return f"{share}, worst margin {margin.worst:.3g}"
    return f"{share}, {verdict.share:g} asked; {margin.witness}"
