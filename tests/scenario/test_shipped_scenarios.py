"""Every shipped scenario states its why in checks that pass; each check turns red when what it watches is broken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from malsim import netlist
from malsim.netlist import Document
from malsim.netlist.statements import Schedule, Wire
from malsim.scenario.checks import Goal
from malsim.scenario.files import read
from malsim.scenario.judge import judge
from malsim.sim.populations import Population

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.netlist.statements import Statement
    from malsim.sim.script import Scenario

SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
REPLICATIONS = 3  # of a broken run; one that is broken shows it in a few


def rules(**changed: Any) -> Callable[[Scenario], Scenario]:
    return lambda scenario: scenario.replace(rules=changed)


def cut(scenario: Scenario) -> Scenario:
    """Without the edges of its scripted claims."""
    return scenario.replace(claims=scenario.claims.with_columns(edges=pl.lit([], scenario.claims.schema["edges"])))


def claims(**changed: Any) -> Callable[[Scenario], Scenario]:
    return lambda scenario: scenario.replace(
        claims=scenario.claims.with_columns(**{name: pl.lit(value) for name, value in changed.items()})
    )


def writers(**changed: Any) -> Callable[[Scenario], Scenario]:
    return lambda scenario: scenario.replace(writers=tuple(replace(each, **changed) for each in scenario.writers))


def without(behaviour: str) -> Callable[[Scenario], Scenario]:
    return lambda scenario: scenario.replace(
        writers=tuple(each for each in scenario.writers if each.behaviour != behaviour) or scenario.writers
    )


def reader(**changed: Any) -> Callable[[Scenario], Scenario]:
    return lambda scenario: scenario.replace(reader=scenario.reader and replace(scenario.reader, **changed))


def rewired(scenario: Scenario, change: Callable[[Statement], Statement | None]) -> Scenario:
    """With its netlist's statements changed, or gone where nothing comes of them."""
    wires = scenario.netlist
    assert wires is not None
    statements = tuple(made for statement in wires.document.statements if (made := change(statement)))
    assert statements != wires.document.statements, "there is nothing to break"
    return scenario.replace(netlist=replace(wires, document=Document(statements)))


def disconnected(signal: str) -> Callable[[Scenario], Scenario]:
    """With nothing reading a signal."""

    def change(statement: Statement) -> Statement:
        if isinstance(statement, Wire) and statement.signal == signal:
            return replace(statement, ends=tuple(end for end in statement.ends if end.role == "writes"))
        return statement

    return lambda scenario: rewired(scenario, change)


def uncalled(op: str) -> Callable[[Scenario], Scenario]:
    """With no thread calling an op."""
    return lambda scenario: rewired(
        scenario, lambda statement: None if isinstance(statement, Schedule) and statement.op == op else statement
    )


def reworded(old: str, new: str) -> Callable[[Scenario], Scenario]:
    """With other words in its netlist."""

    def change(scenario: Scenario) -> Scenario:
        assert scenario.netlist is not None
        assert old in scenario.netlist.text
        return scenario.replace(
            netlist=replace(scenario.netlist, document=netlist.parse(scenario.netlist.text.replace(old, new)))
        )

    return change


def broken(name: str) -> Callable[[Scenario], Scenario]:
    """A break by its name: one of `BREAKS`, or `cut SIGNAL`, `uncall OP`, `OLD → NEW` in the netlist."""
    if " → " in name:
        return reworded(*name.split(" → "))
    kind, _, what = name.partition(" ")
    return {"cut": disconnected, "uncall": uncalled}[kind](what) if kind in {"cut", "uncall"} else BREAKS[name]


BREAKS: dict[str, Callable[[Scenario], Scenario]] = {
    "no challenge": rules(challenge_ceiling=0.0),
    "no support": rules(support_ceiling=0.0),
    "strong support": rules(support_ceiling=0.9),
    "no record": rules(calibration="none"),
    "a record at once": rules(calibration_history=0, evidence_from="any"),
    "a harsh record": rules(calibration_history=0, calibration_floor=0.0),
    "brier": rules(calibration="brier"),
    "fast decay": rules(tau_stable=1.0, tau_volatile=1.0, tau_ephemeral=1.0, currency_floor=0.3),
    "no decay": rules(tau_ephemeral=1e6, tau_volatile=1e6, tau_stable=1e6),
    "ephemeral at once": rules(tau_ephemeral=0.5),
    "no locks": rules(locks="display"),
    "pins freshen": rules(pinned_currency="c0"),
    "own supersession only": rules(supersede_by="own"),
    "any supersession": rules(supersede_by="any"),
    "damped": rules(damping=0.1),
    "no cap": rules(confidence_cap=1.0),
    "a low cap": rules(confidence_cap=0.1),
    "wires cut": cut,
    "certain": claims(confidence=1.0, pinned=False),
    "silent writers": writers(rate=0.0, every=None),
    "an objector": lambda scenario: scenario.replace(
        writers=(*scenario.writers, Population(behaviour="contrarian", rate=1.0))
    ),
    "half wrong": lambda scenario: scenario.replace(
        writers=tuple(
            replace(each, settings={**each.settings, "accuracy": 0.5}) if "accuracy" in each.settings else each
            for each in scenario.writers
        )
    ),
    "no disputes": writers(disputes=0.0),
    "all revise": writers(revises=True),
    "none revises": writers(revises=False),
    "proof": writers(verification="external"),
    "no proof": writers(verification="unverified"),
    "no honest": without("honest"),
    "nobody else": lambda scenario: scenario.replace(
        writers=tuple(each for each in scenario.writers if each.behaviour == "honest")
    ),
    "no reader": lambda scenario: scenario.replace(reader=None),
    "hurried": reader(behaviour="hurried"),
    "obedient": reader(behaviour="obedient"),
    "forgetful": reader(behaviour="forgetful"),
    "unskilled": reader(skill=0.0),
    "bold": reader(act_above=0.0),
    "timid": reader(act_above=1.0),
    "reanchored": reader(reanchor_every=1.0),
    "no compaction": reader(compact_every=0.0),
    "no faults": lambda scenario: scenario.replace(faults=()),
    "no reviewers": lambda scenario: scenario.replace(reviewers=None),
    "no gap": lambda scenario: scenario.replace(gaps=()),
    "lent": lambda scenario: scenario.replace(beginning=read(SHIPPED[0].with_name("start_primed.toml")).beginning),
    "nothing lent": lambda scenario: scenario.replace(beginning=None),
    "all challenge": rules(challenge_ceiling=1.0),
    "nobody outside": lambda scenario: scenario.replace(netlist=scenario.netlist and replace(scenario.netlist, inputs=())),
}

SHOWN: dict[str, tuple[str, ...]] = {
    "addf_order": ("uncall second", "addf late-first tick → addf late-first tick 1"),
    "agreeing_falsehood": ("a record at once",),
    "bursty": ("half wrong", "no disputes"),
    "colluders": ("no cap", "half wrong", "strong support"),
    "compaction": ("half wrong",),
    "concern_feedback": ("no challenge", "all challenge", " [concernTarget: dec_a3ee] → ", "delta: 0.05 → delta: 0.001"),
    "contrarian": ("nobody else", "half wrong"),
    "correction_chain": ("no challenge", "a record at once", "no locks", "own supersession only", "wires cut"),
    "decay_classes": ("fast decay", "certain"),
    "disobedient_reader": ("obedient",),
    "drift_baseline": (
        "nobody outside",
        "away.hold 2 → away.hold 0",
        "all challenge",
        "cut worth",
        "cut drifted",
    ),
    "forgetting_reader": ("obedient", "hurried"),
    "from_file": ("no challenge",),
    "hostile_supersession": ("own supersession only",),
    "late_corrector": ("none revises", "half wrong", "a record at once"),
    "mutual_dispute": ("no challenge", "certain"),
    "noise_and_bad": ("no faults",),
    "overconfident_humble": ("no record", "half wrong"),
    "overconfident_humble_brier": ("no record",),
    "oneshot_alerts_once": ("no challenge", "width 100d → width 1d"),
    "pid_word_budget": ("cut budget", "maxoutput 200 → maxoutput 30", "silent writers"),
    "poisoner": ("no record", "nobody else", "half wrong"),
    "quorum_of_writers": ("cut many", "says.level 0.5 → says.level 0.95", "certain"),
    "record_replay": ("no challenge", "cut played", "nobody outside"),
    "reviewers": ("no reviewers", "no disputes"),
    "self_grader": ("no record", "a harsh record"),
    "severity_ladder": ("cut is-grave", "no challenge", "cut light-2"),
    "silent_staleness": ("no decay", "half wrong"),
    "sleeper": ("no record", "a harsh record"),
    "smooth_watch": ("no challenge", "slow.gain 0.1 → slow.gain 1", "wires cut"),
    "stale_in_ninety_days": ("no decay", "fast decay", "ephemeral at once", "no support", "no challenge"),
    "start_cold": ("half wrong", "silent writers", "lent"),
    "start_primed": ("half wrong", "silent writers", "nothing lent"),
    "stale_echo": ("nobody else", "half wrong"),
    "supersede_by_own": ("any supersession",),
    "sybil": ("no support", "half wrong", "strong support"),
    "tripwire": ("weak.level 0.5 → weak.level 0.9", "cut bad", "cut ack", "cut is-stale", "cut tripped"),
    "watchdog_silent_writer": ("timeout-0 3d → timeout-0 0.5d", "uncall alive", "nobody outside"),
    "weekend": ("hurried",),
    "worked_example": ("no challenge",),
}
# Checks that no one broken rule above reaches: what the bench does by construction, and what would take a rule of its own.
BEYOND = {
    ("compaction", "long after the last compaction it acts on what is gone"),
    ("weekend", "the session after the gap begins with a catch-up tick"),
    ("agreeing_falsehood", "nothing in the memory marks it"),
    ("disobedient_reader", "a withheld turn does no harm"),
    ("disobedient_reader", "whatever was released had been opened first"),
    ("from_file", "the file's writers are heard alike in every life"),
    ("noise_and_bad", "a clean stream is right"),
    ("reviewers", "reviews are written as claims like any other"),
    ("sleeper", "its record is clean while it sleeps"),
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_states_checks_and_they_pass(path: Path) -> None:
    judged = judge(read(path))
    assert not judged.error
    assert judged.outcomes, "it states no check"
    assert {outcome.check.name: outcome.said for outcome in judged.outcomes if outcome.status != "pass"} == {}


@pytest.mark.parametrize("path", [path for path in SHIPPED if path.stem in SHOWN], ids=lambda path: path.stem)
def test_each_check_fails_when_what_it_watches_is_broken(path: Path) -> None:
    name, scenario = path.stem, read(path)
    scenario = scenario.replace(replications=min(scenario.replications, REPLICATIONS))
    green = {check.name for check in scenario.checks if not isinstance(check, Goal) and (name, check.name) not in BEYOND}
    for change in SHOWN[name]:
        judged = judge(broken(change)(scenario))
        assert not judged.error
        green -= {outcome.check.name for outcome in judged.outcomes if outcome.status == "fail"}
    assert green == set()
