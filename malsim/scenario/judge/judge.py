"""Evaluation of one scenario: each of its checks passes, fails, or cannot be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from malsim.base.errors import MalsimError
from malsim.scenario.baseline.recording import against_baseline
from malsim.scenario.checks.checks import BaselineCheck, Goal
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.checks.metric_bounds import MetricEstimate
from malsim.scenario.properties import Property, Verdict
from malsim.scenario.properties import check as check_property
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.witness import margin_text
from malsim.sim import bench
from malsim.sim.record.metrics import by_replication
from malsim.sim.settings.memory_law import refuse_unanswerable
from malsim.sim.settings.scenario import check_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.scenario.baseline.band_compare import Comparison
    from malsim.scenario.checks.kind import KindResult
    from malsim.scenario.properties import Trace
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Check, Scenario

Status = Literal["pass", "fail", "error"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """Outcome of one check, with a message and, for a failure, the replication to inspect.

    `margin` is the check's distance from failing, if defined. Properties have a `verdict`, metrics an `estimate`, and
    baselines a `comparison`.
    """

    check: Check
    status: Status
    message: str
    replication: int | None = None
    verdict: Verdict | None = None
    estimate: MetricEstimate | None = None
    comparison: Comparison | None = None
    margin: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """Scenario with the outcomes of its checks, or with the `error` that prevented the run.

    `source` is the command-line option that names the recorded history, if a history was judged instead of a simulation.
    `seconds` is the duration and `started` the start time in ISO format.
    """

    scenario: Scenario
    outcomes: tuple[Outcome, ...] = ()
    error: str = ""
    run: Run | None = None
    source: str = ""
    seconds: float = 0.0
    started: str = ""

    @property
    def status(self) -> Status:
        statuses = {outcome.status for outcome in self.outcomes}
        return "error" if self.error or "error" in statuses else "fail" if "fail" in statuses else "pass"


def judge(scenario: Scenario) -> Judged:
    """Run a scenario and judge its checks. An invalid scenario or a crash is an error, never a failed check."""
    try:
        check_size(scenario)
        refuse_unanswerable(scenario)
        run = bench.run(scenario)
    except MalsimError as problem:
        return Judged(scenario=scenario, error=str(problem))
    except (Exception, SystemExit) as crash:  # noqa: BLE001  # a crash must never count as a failed check
        return Judged(scenario=scenario, error=f"the run broke off: {type(crash).__name__}: {crash}")
    if run.failures:
        error = "; ".join(f"replication {number} broke off: {problem}" for number, problem in run.failures.items())
        return Judged(scenario=scenario, error=error)
    return Judged(scenario=scenario, outcomes=judge_run(run), run=run)


def judge_run(run: Run) -> tuple[Outcome, ...]:
    """Judge all checks of a run except goals, which belong to a suite."""
    checks = [check for check in run.scenario.checks if not isinstance(check, Goal)]
    if not checks:
        return ()
    try:
        trace = trace_of(run, metrics=by_replication(run))
    except MalsimError as problem:
        return tuple(Outcome(check=check, status="error", message=str(problem)) for check in checks)
    return tuple(judge_check(check, run, trace) for check in checks)


def goals(suite: Sequence[Judged]) -> tuple[tuple[Judged, Outcome], ...]:
    """Return each goal of a suite once, with its outcome.

    Goals are identified by name. A goal passes if it is met in any replication of any scenario that names it.
    """
    by_name: dict[str, tuple[Judged, Outcome]] = {}
    for judged in suite:
        for goal in judged.scenario.checks:
            if isinstance(goal, Goal) and (goal.name not in by_name or by_name[goal.name][1].status != "pass"):
                outcome = _goal(goal, judged)
                if goal.name not in by_name or outcome.status == "pass":
                    by_name[goal.name] = (judged, outcome)
    return tuple(by_name.values())


def _goal(goal: Goal, judged: Judged) -> Outcome:
    if judged.run is None:
        return Outcome(check=goal, status="error", message=judged.error)
    try:
        margin = Property(goal.property).margin(judged.run)
    except MalsimError as problem:
        return Outcome(check=goal, status="error", message=str(problem))
    if not margin.holds.any():
        return Outcome(check=goal, status="fail", message=f"no scenario of the suite met it: {goal.property}")
    rep = int(margin.replications[margin.holds.argmax()])
    return Outcome(check=goal, status="pass", message=f"met by {judged.scenario.name}, replication {rep}", replication=rep)


def judge_check(check: Check, run: Run, trace: Trace) -> Outcome:
    """Judge one check on a run, given the trace of the run's frames."""
    try:
        if isinstance(check, BaselineCheck):
            comparison = against_baseline(check, run)
            return _outcome(check, comparison, comparison=comparison)
        if not isinstance(check, KindCheck):
            return _verdict(check, check_property(check.property, trace, share=check.share))
        result = check.result(run, trace)
        return _outcome(check, result, estimate=result if isinstance(result, MetricEstimate) else None)
    except MalsimError as problem:
        return Outcome(check=check, status="error", message=str(problem))


def _outcome(check: Check, result: KindResult, **more: Any) -> Outcome:
    undecided = getattr(result, "undecided", False)
    status: Status = "pass" if result.passed else "error" if undecided else "fail"
    more |= {name: getattr(result, name, None) for name in ("replication", "margin")}
    return Outcome(check=check, status=status, message=str(result), **more)


def _verdict(check: Check, verdict: Verdict) -> Outcome:
    margin, (low, high) = verdict.margin, verdict.interval
    share = f"holds in {margin.holds.sum()} of {len(margin.each)} replications [{low:.3g}, {high:.3g}]"
    if len(margin.each) == 1:
        text = f"margin {margin_text(margin.worst, 3)}" if verdict.passed else str(margin.witness)
    elif verdict.passed:
        text = f"{share}, worst margin {margin_text(margin.worst, 3)}"
    else:
        text = f"{share}, required {verdict.share:g}; {margin.witness}"
    worst = None if verdict.passed else margin.witness.replication
    status: Status = "pass" if verdict.passed else "fail"
    return Outcome(check=check, status=status, message=text, replication=worst, verdict=verdict, margin=margin.worst)
