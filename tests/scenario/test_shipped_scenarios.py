"""Tests that each check of each shipped scenario fails for at least one mutant. `pytest scenarios` shows that they pass."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from malsim.adapters.engine.adapter import Adapter
from malsim.judging.duties.references import Governed
from malsim.scenario.checks.checks import Goal
from malsim.scenario.file.scenario_file import read
from malsim.scenario.judge.judge import judge
from malsim.sim.agent import hooks
from malsim.sim.settings.population import ClaimFault
from malsim.sim.world.clock import DAY
from tests.scenario.mutants import mutated
from tests.sim.test_corrections import Keyed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.adapters import Claim
    from malsim.sim.context.turn import Turn, TurnCounters
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.writers.engine.claim_batch import ClaimBatch

SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
HOW = """has checks that no mutant breaks: {missing}.
Add mutants to BROKEN that make each of them fail; the syntax is described in `tests.scenario.mutants.mutated`."""

# Mutants of each scenario. Together with the changes and hooks below, they make each of the scenario's checks fail.
BROKEN: dict[str, tuple[str, ...]] = {
    "a_then_b_then_a": ("writers.honest.accuracy = 0",),
    "addf_order": ("netlist: uncall second", "rules.challenge_ceiling = 0"),
    "agreeing_falsehood": (
        "rules.evidence_from = any",
        "turn claim.obs_5ea2.edges.0",
        "writers.honest.accuracy = 0",
        "without writers.0",
    ),
    "arbitration": ("rules.challenge_ceiling = 0", "rules.challenge_ceiling = 1"),
    "bursty": ("facts.burst.hazard = 0", "writers.honest.accuracy = 0"),
    "colluders": (
        "without writers.0",
        "rules.confidence_cap = 1",
        "rules.support_ceiling = 1",
        "writers.honest.accuracy = 0",
    ),
    "compaction": ("reader.recalls = 0", "reader.compact_every = 400"),
    "compaction_primed": ("writers.local.rate = 5",),
    "concern_feedback": (
        "netlist:  [concernTarget: dec_a3ee] → ",
        "netlist: delta: 0.05 → delta: 0.001",
        "rules.challenge_ceiling = 0",
        "rules.challenge_ceiling = 1",
    ),
    "contrarian": ("without writers.2", "writers.crowd.accuracy = 0.5"),
    "corrected_by_a_stranger": ("rules.supersede_by = any",),
    "correction_holds": ("it corrects after a week",),
    "correction_chain": (
        "rules.evidence_from = any",
        "rules.locks = display",
        "rules.supersede_by = own",
        "without claim.dec_0003.edges.0",
    ),
    "decay_classes": (
        "rules.tau_ephemeral = 70",
        "rules.tau_volatile = 3",
        "rules.tau_stable = 365",
        "without claim.obs_d0d0.pinned",
        "rules.salience_seed = 0",
    ),
    "disobedient_reader": (
        "the stop hook says no and lets go",
        "the stop hook trusts_the_reader",
        "reader.behaviour = obedient",
    ),
    "drift_baseline": (
        "netlist: away.hold 2 → away.hold 0",
        "without inputs",
        "rules.challenge_ceiling = 1",
        "netlist: cut drifted",
        "rules.challenge_ceiling = 0",
    ),
    "forgetting_reader": ("reader.behaviour = hurried", "reader.behaviour = obedient"),
    "forgotten_for_good": ("it forgets for a week", "writers.honest.accuracy = 0.5"),
    "freeze_and_annex": ("rules.locks = display", "rules.challenge_ceiling = 0", "rules.calibration = none"),
    "from_file": ("without writers.1", "a lossy line", "a lying line"),
    "half_colluders": ("writers.ring.rate = 0", "without writers.2"),
    "hostile_supersession": ("rules.supersede_by = own",),
    "kept_apart": ("law = last_write", "it shares nothing", "it forgets everything", "writers.her-agents.accuracy = 0.5"),
    "laundering": (
        "without writers.0",
        "without writers.2",
        "writers.echo.rate = 0.02",
        "writers.corroboration.rate = 0.02",
    ),
    "late_corrector": ("rules.evidence_from = any", "writers.late_corrector.accuracy = 0"),
    "liar_from_day_20": ("rules.challenge_ceiling = 0.3", "netlist: weak.level 0.15 → weak.level 0.9"),
    "mutual_dispute": ("rules.challenge_ceiling = 0", "turn claim.obs_b2b2.edges.0"),
    "noise_and_bad": ("without faults.0", "writers.probe.accuracy = 0.5"),
    "one_model": ("rules.records_lineage = apart", "writers.instance.rate = 0"),
    "oneshot_alerts_once": ("netlist: width 100d → width 1d", "rules.challenge_ceiling = 0"),
    "overconfident_humble": ("rules.calibration = none", "rules.calibration = brier"),
    "overconfident_humble_brier": ("rules.calibration = none",),
    "output_checks": ("reader.skill = 0", "reader.sure_above = 1", "reader.audit_accuracy = 0"),
    "pid_word_budget": ("netlist: cut budget", "netlist: maxoutput 200 → maxoutput 30", "writers.crowd.rate = 0"),
    "poisoner": ("rules.calibration = none", "without writers.1", "writers.honest.accuracy = 0.5"),
    "quorum_of_writers": ("netlist: cut many", "netlist: says.level 0.5 → says.level 0.95", "claim.obs_b1b1.confidence = 1"),
    "record_replay": ("netlist: cut played", "rules.challenge_ceiling = 0", "without inputs"),
    "reader_writes_ops": ("reader.ops = 1", "reader.slips = 1", "reader.watch_below = 0.9"),
    "refuted_source": ("rules.challenge_ceiling = 0", "beliefs of records"),
    "reviewers": ("without reviewers", "without writers.1"),
    "saturated_vote": ("rules.challenge_ceiling = 0",),
    "self_grader": ("rules.calibration = none",),
    "self_grader_cured": ("rules.evidence_from = other_writer",),
    "severity_ladder": ("netlist: cut is-grave", "netlist: cut light-2"),
    "silent_staleness": ("rules.tau_volatile = 300", "writers.silent_staleness.accuracy = 0"),
    "sleeper": ("rules.calibration = none", "writers.sleeper.loyal = 0"),
    "smooth_watch": ("rules.challenge_ceiling = 0", "netlist: slow.gain 0.1 → slow.gain 1"),
    "stale_in_ninety_days": (
        "rules.tau_ephemeral = 70",
        "rules.tau_ephemeral = 0.5",
        "rules.tau_volatile = 300",
        "rules.tau_stable = 36.5",
        "rules.support_ceiling = 0",
        "rules.challenge_ceiling = 0",
    ),
    "start_cold": ("lent", "writers.local.accuracy = 0.5", "writers.local.rate = 0"),
    "start_primed": ("without initial_memory", "writers.local.accuracy = 0.5"),
    "stale_and_disputed": ("facts.host-1.hazard = 0", "writers.honest.accuracy = 0"),
    "stale_echo": ("without writers.1", "writers.silent_staleness.accuracy = 0"),
    "supersede_by_own": ("rules.supersede_by = any",),
    "sybil": ("rules.support_ceiling = 0", "rules.support_ceiling = 1", "writers.honest.accuracy = 0"),
    "ten_sybils": ("writers.sybil.rate = 0", "without writers.2"),
    "triage_popular": ("reviewers.weekly = 1",),
    "triage_static": ("reviewers.triage = acted", "without reviewers", "reviewers.weekly = 50"),
    "triage_tired": ("without reviewers", "reviewers.late = 60"),
    "tripwire": (
        "netlist: cut ack",
        "netlist: cut is-stale",
        "netlist: cut tripped",
        "netlist: cut bad",
        "netlist: weak.level 0.5 → weak.level 0.9",
    ),
    "tripwire_poisoned": ("without writers.1", "netlist: cut ack", "netlist: low.level 0.35 → low.level 0.9"),
    "two_memories": ("without writers.1", "writers.honest.accuracy = 0", "without reader"),
    "watchdog_silent_writer": ("without inputs", "netlist: uncall alive", "netlist: timeout-0 3d → timeout-0 0.5d"),
    "weekend": ("a gap a week later", "reader.behaviour = hurried"),
    "worked_example": ("rules.challenge_ceiling = 0",),
}


class ForAWeek(Keyed):
    """Memory that forgets everything when asked to forget one object, then rejects that object's claims for only a week."""

    away: tuple[str, float] = ("", 0.0)

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        self.values.clear()
        self.away = object, now + 7.0

    def write(self, claims: Sequence[Claim], now: float) -> None:
        name, until = self.away
        super().write([claim for claim in claims if claim.object != name or now >= until], now)


class WeekLater(Keyed):
    """Memory that ignores a correction and, for a week, all claims about the corrected object."""

    def __init__(self) -> None:
        super().__init__()
        self.until: dict[str, float] = {}

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        self.until[object] = now + 7.0

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write([claim for claim in claims if now >= self.until.get(claim.object, 0.0)], now)


class SharesNothing(Governed):
    """Memory that accepts requests to share an object but ignores them."""

    def share(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        pass


class ForgetsEverything(Governed):
    """Memory that forgets everything when asked to forget one object."""

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        self.records.clear()


def with_memory(memory: type, replications: int) -> Callable[[Scenario], Scenario]:
    """Return a function that replaces a scenario's memory and its number of replications (Python memories are slow)."""
    return lambda scenario: scenario.replace(adapter=Adapter.of(memory, trusted=True), replications=replications)


CHANGES: dict[str, Callable[[Scenario], Scenario]] = {
    "a lossy line": lambda scenario: scenario.replace(faults=(ClaimFault(population="from_file", noise={"drop": 0.1}),)),
    "a lying line": lambda scenario: scenario.replace(faults=(ClaimFault(population="from_file", bad={"wrong": 1.0}),)),
    "lent": lambda scenario: scenario.replace(initial_memory=read(SHIPPED[0].with_name("start_primed.toml")).initial_memory),
    "it forgets for a week": lambda scenario: scenario.replace(adapter=Adapter.of(ForAWeek, trusted=True)),
    "it corrects after a week": with_memory(WeekLater, 20),
    "it shares nothing": with_memory(SharesNothing, 4),
    "it forgets everything": with_memory(ForgetsEverything, 4),
    "law = last_write": lambda scenario: scenario.replace(law="last_write"),
    "beliefs of records": lambda scenario: scenario.replace(rules=scenario.rules.replace(effective="records")),
    "a gap a week later": lambda scenario: scenario.replace(
        gaps=tuple((start + 7 * DAY, end + 7 * DAY) for start, end in scenario.gaps)
    ),
}


def releases_withheld_turns(
    turn: Turn, again: Callable[..., None], write: Callable[[], ClaimBatch], *, counters: TurnCounters, **rest: Any
) -> ClaimBatch:
    """Act as a faulty stop hook that records turns as withheld but releases them."""
    lessons = STOP(turn, again, write, counters=counters, **rest)
    turn.released = np.ones_like(turn.released)
    return lessons


def trusts_the_reader(
    turn: Turn, _again: object, write: Callable[[], ClaimBatch], *, counters: TurnCounters, **_: object
) -> ClaimBatch:
    """Act as a faulty stop hook that blocks once, then releases the turn without checking the marked items."""
    blocked = turn.unopened.any(axis=1) | turn.unwritten
    turn.released = np.ones_like(turn.released)
    for name, count in (("blocks", blocked), ("blocked", blocked), ("withheld", ~turn.released)):
        counters.add(name, count)
    return write()


STOP = hooks.stop
HOOKS: dict[str, Callable[..., ClaimBatch]] = {
    "the stop hook says no and lets go": releases_withheld_turns,
    "the stop hook trusts_the_reader": trusts_the_reader,
}


@pytest.mark.nightly
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_each_shipped_check_fails_for_some_mutant(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = read(path)
    unbroken = {check.name for check in scenario.checks if not isinstance(check, Goal)}
    for name in BROKEN.get(path.stem, ()):
        assert unbroken, f"{name} is not needed"
        monkeypatch.setattr(hooks, "stop", HOOKS.get(name, STOP))
        change = CHANGES.get(name, lambda whole, name=name: whole if name in HOOKS else mutated(whole, name))
        failed = {outcome.check.name for outcome in judge(change(scenario)).outcomes if outcome.status == "fail"}
        assert failed & unbroken, f"{name} breaks no additional check"
        unbroken -= failed
    assert not unbroken, f"{path.stem} {HOW.format(missing=', '.join(sorted(unbroken)))}"


def test_mutant_table_names_existing_scenarios() -> None:
    assert set(BROKEN) <= {path.stem for path in SHIPPED}
