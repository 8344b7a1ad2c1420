"""Tripwires with a flaw planted in each, and their sound twins: every flaw refuted, every twin proved."""

from __future__ import annotations

import pytest

from malsim.netlist import load, parse
from malsim.netlist.wiring import link
from malsim.scenario.file.scenario_file import parse as read_scenario
from malsim.scenario.judge.broken_run import scenario_text
from malsim.scenario.judge.judge import judge
from malsim.scenario.proof.prove import prove
from malsim.scenario.proof.questions.safety import safety

pytest.importorskip("z3")

CELL = 'dec_a3ee "add watchdog op" conf(.7!)\n'
SOUND = """
loadrt watch names=low,old
loadrt or2 names=either
loadrt ton names=lasting
loadrt latch names=alarm
net worth low.in < dec_a3ee-scores-eff
net age old.in < dec_a3ee-scores-curr
net is-low low.below > either.in-0
net is-old old.below > either.in-1
net bad either.out > lasting.in
net lasts lasting.out > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out
setp low.level 0.5
setp low.hysteresis 0.1
setp old.level 0.4
setp lasting.delay 2d
addf low tick
addf old tick
addf either tick
addf lasting tick
addf alarm tick
"""
LASTS = "always (always[0:2] ({} and not ack) implies eventually[2:2] tripped)"
LOW, OLD = LASTS.format("worth < 0.4"), LASTS.format("age < 0.3")
GATE = "loadrt and2 names=gate\nnet quiet gate.in-1\nnet lasts lasting.out > gate.in-0\nnet passes gate.out >"
NEAR = ("always (abs(worth - 0.5) <= 0.02)",)


def changed(*pairs: tuple[str, str]) -> str:
    text = SOUND
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


FLAWS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "masked alarm": (
        changed(("net lasts lasting.out >", GATE), ("addf alarm", "addf gate tick\naddf alarm")), LOW, ()),
    "inverted polarity": (changed(("low.below", "low.above")), LOW, ()),
    "hysteresis too small": (changed(("hysteresis 0.1", "hysteresis 0.01")), "always (low.count <= 1)", NEAR),
    "unconnected pin": (changed(("net is-old old.below > either.in-1", "net is-old old.below")), OLD, ()),
}  # fmt: skip
QUESTIONS = {
    "never-clearing latch": (changed(("net ack reviewer.ack > alarm.reset\n", "")), "tripped can be cleared"),
    "lost acknowledgement": (
        changed(("reviewer.ack >", "reviewer.ack > held.in\nloadrt ton names=held\nnet held-ack held.out >"),
                ("setp low.level", "setp held.delay 1d\nsetp low.level"), ("addf alarm", "addf held tick\naddf alarm")),
        "no acknowledgement of tripped is lost"),
    "race of one tick": (
        changed(("addf alarm tick\n", ""), ("addf lasting tick\n", "addf alarm tick\naddf lasting tick\n")),
        "the order of alarm and lasting, which it reads, makes no difference"),
    "wrong order": (
        changed(("addf low tick\n", ""), ("addf either tick\n", "addf either tick\naddf low tick\n")),
        "the order of either and low, which it reads, makes no difference"),
    "dead part": (changed(("old.level 0.4", "old.level -1")), "old matters"),
    "stuck input": (changed(("net worth low.in < dec_a3ee-scores-eff\n", "setp low.in 0.9\n")), "low matters"),
}  # fmt: skip


@pytest.mark.parametrize("name", FLAWS)
def test_a_flaw_is_refuted_and_its_twin_proved(name: str) -> None:
    text, asked, assume = FLAWS[name]
    broken = prove(load(CELL + text).net, asked, assume=assume)
    assert broken.result == "refuted"
    assert broken.trace is not None, "and the engine ran it"
    assert prove(load(CELL + SOUND).net, asked, assume=assume).result == "proved"


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_flaw_is_among_the_ready_made_answers(name: str) -> None:
    text, question = QUESTIONS[name]
    assert question in [item.question for item in safety(load(CELL + text).net) if item.flaw]


def test_the_sound_twin_has_no_flaw() -> None:
    answers = safety(load(CELL + SOUND).net)
    assert [item.question for item in answers if item.status in ("FLAW", "not decided")] == []
    assert "tripped is not silent after 3 ticks of bad" in [item.question for item in answers]


WATCH = "loadrt watch names=low\nnet worth low.in\nnet is-low low.below\nsetp low.level 0.5\naddf low tick\n"
FLAG = """\
loadrt latch names=alarm
net is-low alarm.set
net flagged alarm.out > dec_a3ee-flags-review
addf alarm tick
"""


FLAG_ONLY = CELL + WATCH.replace("net worth low.in", "net low low.in < dec_a3ee-scores-eff") + FLAG
REFUTED = {
    FLAG_ONLY: (
        "always not flagged",
        "always (low < 0.5 implies not flagged)",
        "always is-low",
        "always (flagged implies low < 0.5)",
        "always (is-low implies not prev(is-low))",
    ),
    CELL + SOUND: (
        "always not tripped",
        "always (worth < 0.4 and not ack implies tripped)",
        "always (tripped implies bad)",
        "always (fall(tripped) implies worth > 0.5)",
        "always (is-old implies is-low)",
    ),
}


@pytest.mark.parametrize(("text", "asked"), [(text, asked) for text, every in REFUTED.items() for asked in every])
def test_a_counterexample_travels_and_fails_at_the_same_tick(text: str, asked: str) -> None:
    document = parse(text)
    proof = prove(link(document), asked)
    assert proof.result == "refuted"
    (outcome,) = judge(read_scenario(scenario_text(proof, document))).outcomes
    assert outcome.status == "fail"
    assert outcome.verdict is not None
    assert outcome.verdict.margin.witness.day == proof.ticks
