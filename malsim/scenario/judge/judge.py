"""From a scenario to verdicts: it is run, and each of its checks passes, fails, or could not be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from malsim.errors import MalsimError, ScenarioError
from malsim.limits import Limits
from malsim.scenario.baseline.recording import against_baseline
from malsim.scenario.judge.alarms import check_alarm
from malsim.scenario.judge.checks import AlarmCheck, AxiomCheck, BaselineCheck, Goal, MetricCheck
from malsim.scenario.judge.history_axioms import Recorded, check_axiom
from malsim.scenario.judge.metric_bounds import Estimate, estimate
from malsim.scenario.properties import Property, Verdict, check
from malsim.scenario.properties.frames import trace_of
from malsim.sim import bench
from malsim.sim.record.metrics import by_replication
from malsim.sim.settings.askable import refuse_unanswerable
from malsim.sim.settings.size import check_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.scenario.baseline.tube_compare import Comparison
    from malsim.scenario.properties import Trace
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Check, Scenario

__all__ = ["Judged", "Outcome", "Status", "goals", "judge", "judge_check", "judge_run", "outcome_of"]

Status = Literal["pass", "fail", "error"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What became of one check, and what was said of it; of a failure, `replication` is the one to look at.

    A property has a `verdict`, a metric an `estimate`, a baseline a `comparison`.
    """

    check: Check
    status: Status
    said: str
    replication: int | None = None
    verdict: Verdict | None = None
    estimate: Estimate | None = None
    comparison: Comparison | None = None

    @property
    def margin(self) -> float | None:
        """How far the check is from breaking, where that is a number."""
        if self.verdict is not None:
            return self.verdict.margin.worst
        return None if self.estimate is None else self.estimate.margin


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """A scenario with what became of its checks; `error` says why it could not be run at all.

    `source` is the option that names what really happened, where that was judged and nothing was simulated.
    """

    scenario: Scenario
    outcomes: tuple[Outcome, ...] = ()
    error: str = ""
    run: Run | None = None
    source: str = ""

    @property
    def status(self) -> Status:
        """An error outweighs a failure, and a failure a pass."""
        found = {outcome.status for outcome in self.outcomes}
        return "error" if self.error or "error" in found else "fail" if "fail" in found else "pass"


def judge(scenario: Scenario, *, limits: Limits | None = None) -> Judged:
    """Run a scenario and judge it by its own checks; what malsim refuses, or breaks on, is an error, never a failure."""
    limits = limits or Limits()
    try:
        check_size(scenario, limits)
        refuse_unanswerable(scenario)
        run = bench.run(scenario)
    except MalsimError as problem:
        return Judged(scenario=scenario, error=str(problem))
    except (Exception, SystemExit) as crash:  # noqa: BLE001  # a crash must not pass for a failed check, whatever it is
        return Judged(scenario=scenario, error=f"the run broke off: {type(crash).__name__}: {crash}")
    if run.failures:
        said = "; ".join(f"replication {number} broke off: {problem}" for number, problem in run.failures.items())
        return Judged(scenario=scenario, error=said)
    return Judged(scenario=scenario, outcomes=judge_run(run, limits=limits), run=run)


def judge_run(run: Run, *, limits: Limits | None = None) -> tuple[Outcome, ...]:
    """The outcome of each check of a run's scenario, over the run as it was recorded; goals are left to the suite."""
    wanted = [each for each in run.scenario.checks if not isinstance(each, Goal)]
    if not wanted:
        return ()
    try:
        trace = trace_of(run, metrics=by_replication(run))
    except MalsimError as problem:
        return tuple(Outcome(check=each, status="error", said=str(problem)) for each in wanted)
    return tuple(judge_check(each, run, trace, limits or Limits()) for each in wanted)


def goals(suite: Sequence[Judged]) -> tuple[tuple[Judged, Outcome], ...]:
    """Each goal of a suite once, by name: passed if some replication of some scenario that names it meets it."""
    found: dict[str, tuple[Judged, Outcome]] = {}
    for judged in suite:
        for goal in judged.scenario.checks:
            if isinstance(goal, Goal) and (goal.name not in found or found[goal.name][1].status != "pass"):
                outcome = _goal(goal, judged)
                if goal.name not in found or outcome.status == "pass":
                    found[goal.name] = (judged, outcome)
    return tuple(found.values())


def _goal(goal: Goal, judged: Judged) -> Outcome:
    if judged.run is None:
        return Outcome(check=goal, status="error", said=judged.error)
    try:
        margin = Property(goal.property).margin(judged.run)
    except MalsimError as problem:
        return Outcome(check=goal, status="error", said=str(problem))
    if not margin.holds.any():
        return Outcome(check=goal, status="fail", said=f"no scenario of the suite met it: {goal.property}")
    met = int(margin.replications[margin.holds.argmax()])
    return Outcome(check=goal, status="pass", said=f"met by {judged.scenario.name}, replication {met}", replication=met)


def judge_check(wanted: Check, run: Run, trace: Trace, limits: Limits) -> Outcome:
    """The outcome of one check of a run, of which `trace` reads the frames."""
    try:
        match wanted:
            case MetricCheck():
                return _metric(wanted, trace)
            case AlarmCheck():
                return _alarm(wanted, trace)
            case BaselineCheck():
                return _baseline(wanted, run, limits)
            case AxiomCheck():
                return _axiom(wanted, run)
            case _:
                return _property(wanted, trace)
    except MalsimError as problem:
        return Outcome(check=wanted, status="error", said=str(problem))


def _property(wanted: Check, trace: Trace) -> Outcome:
    return outcome_of(wanted, check(wanted.property, trace, share=wanted.share))


def _axiom(wanted: AxiomCheck, run: object) -> Outcome:
    if not isinstance(run, Recorded):
        hint = "malsim test --on STORE, malsim watch; a law is put to the test by malsim axioms"
        raise ScenarioError("an axiom is asked of what really happened", given=wanted.axiom, hint=hint)
    return outcome_of(wanted, check_axiom(wanted.axiom, run))


def outcome_of(wanted: Check, verdict: Verdict) -> Outcome:
    """A verdict as the outcome of the check that asked for it."""
    status: Status = "pass" if verdict.passed else "fail"
    worst = None if verdict.passed else verdict.margin.witness.replication
    return Outcome(check=wanted, status=status, said=_explanation(verdict), replication=worst, verdict=verdict)


def _metric(wanted: MetricCheck, trace: Trace) -> Outcome:
    found = estimate(wanted, trace)
    status: Status = "pass" if found.passed else "fail"
    return Outcome(check=wanted, status=status, said=str(found), estimate=found)


def _alarm(wanted: AlarmCheck, trace: Trace) -> Outcome:
    found = check_alarm(wanted.expect, trace, alarm=wanted.alarm, condition=wanted.condition)
    if found.passed:
        return Outcome(check=wanted, status="pass", said=str(found))
    return Outcome(check=wanted, status="fail", said=str(found), replication=int(found.differences["rep"][0]))


def _baseline(wanted: BaselineCheck, run: Run, limits: Limits) -> Outcome:
    found = against_baseline(wanted, run, limits=limits)
    status: Status = "pass" if found.passed else "fail"
    return Outcome(check=wanted, status=status, said=str(found), comparison=found)


def _explanation(verdict: Verdict) -> str:
    margin = verdict.margin
    if len(margin.each) == 1:
        return str(margin.witness) if not verdict.passed else f"margin {margin.worst:.3g}"
    low, high = verdict.interval
    share = f"holds in {margin.holds.sum()} of {len(margin.each)} replications [{low:.3g}, {high:.3g}]"
    if verdict.passed:
        return f"{share}, worst margin {margin.worst:.3g}"
    return f"{share}, {verdict.share:g} asked; {margin.witness}"
