"""Tests that each of twelve faults, planted one at a time in a faultless net, is reported with its line."""

from __future__ import annotations

import pytest

from malsim.lab.tripwire import statics
from malsim.lab.tripwire.study.scorecard import flaws_of
from malsim.netlist import parse
from malsim.netlist.wiring import link
from malsim.scenario.proof.questions.safety import safety

pytest.importorskip("z3")

SOUND = """\
loadrt watch names=weak,stale,awful
loadrt or2 names=either
loadrt and2 names=both
loadrt latch names=alarm
loadrt ladder names=severity outputs=2
loadrt watchdog names=guard inputs=1
net low weak.in awful.in < dec_a3ee-scores-eff
net old stale.in < dec_a3ee-scores-curr
net is-weak weak.below > either.in-0
net is-stale stale.below > either.in-1
net is-awful awful.below > both.in-1
net bad either.out > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out > both.in-0 severity.bit-0
net is-grave both.out > severity.bit-1
net mild severity.out-0 > dec_a3ee-flags-review
net severe severity.out-1 > webhook.page
net beat guard.in-0 < writer(ann)-claims
net on-duty guard.enable
net silent guard.tripped > webhook.silent
setp weak.level 0.5
setp weak.hysteresis 0.1
setp stale.level 0.4
setp stale.hysteresis 0.1
setp awful.level 0.2
setp awful.hysteresis 0.1
setp guard.timeout-0 3d
addf weak tick
addf stale tick
addf awful tick
addf either tick
addf alarm tick
addf both tick
addf severity tick
addf guard tick
"""
SECOND = """\
loadrt latch names=second
net bad second.set
net other-ack second.reset
net warned second.out > webhook.warn
addf second tick
"""
BEST = "tripped stays down while all scores are at their best"
RETURNS = "mild (dec_a3ee-flags-review) returns when tripped is cleared"
FANOUT = ("net mild severity.out-0 > dec_a3ee-flags-review", """\
loadrt fanout names=spread outputs=2 bits=1
net picked spread.bit-0
net tripped spread.in
net mild spread.out-0 > dec_a3ee-flags-review
net spare spread.out-1 > dec_a3ee-flags-locked
addf spread tick""")  # fmt: skip
# (replacements, reported line, violated safety question)
FAULTS: dict[str, tuple[tuple[tuple[str, str], ...], str, str]] = {
    "stuck flag": ((FANOUT,), "net mild spread.out-0", RETURNS),
    "swapped polarity": ((("stale.below", "stale.above"),), "net is-stale", BEST),
    "missing latch": (
        (("loadrt latch names=alarm\n", ""), ("addf alarm tick\n", ""), ("net bad either.out > alarm.set\n", ""),
         ("net ack reviewer.ack > alarm.reset\n", ""), ("tripped alarm.out", "tripped either.out")),
        "net tripped", "tripped, once up, stays until acknowledged"),
    "wrong order on the thread": (
        (("addf alarm tick\n", ""), ("addf either tick", "addf alarm tick\naddf either tick")),
        "addf alarm", "the order of alarm and either, which it reads, makes no difference"),
    "acknowledgement wired to set": (
        (("bad either.out > alarm.set", "bad either.out > alarm.reset"), ("ack > alarm.reset", "ack > alarm.set")),
        "net ack", "the acknowledgement ack does not raise tripped"),
    "level out of range": (
        (("stale.level 0.4", "stale.level 1.4"),), "setp stale.level", "level: stale.level is 1.4"),
    "dead input": ((("net is-stale stale.below > either.in-1\n", ""),), "loadrt or2", "unwired: either.in-1 is not wired"),
    "severity inverted": (
        (("mild severity.out-0", "mild severity.out-1"), ("severe severity.out-1", "severe severity.out-0")),
        "net severe", "mild ranks below severe"),
    "chatter without hysteresis": (
        (("mild severity.out-0 > dec_a3ee-flags-review", "mild severity.out-0"), ("setp weak.hysteresis 0.1\n", ""),
         ("net is-weak weak.below >", "net is-weak weak.below > dec_a3ee-flags-review")),
        "net is-weak", "is-weak does not chatter"),
    "watchdog never kicked": (
        (("net beat guard.in-0 < writer(ann)-claims\n", ""),), "loadrt watchdog", "guard.in-0 can be kicked"),
    "two named alarms that disagree": (((SOUND, SOUND + SECOND),), "net warned", "tripped and warned agree"),
    "a reset that races the set": (
        (("net ack reviewer.ack > alarm.reset", """\
loadrt ton names=rearm
net bad rearm.in
net fresh rearm.out > alarm.reset
setp rearm.delay 1d
addf rearm tick"""),), "net fresh", "only an acknowledgement clears tripped"),
}  # fmt: skip


def planted(name: str) -> str:
    text = SOUND
    for old, new in FAULTS[name][0]:
        assert old in text
        text = text.replace(old, new)
    return text


def line_of(text: str, start: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.startswith(start))


@pytest.mark.parametrize("name", FAULTS)
def test_fault_in_a_composition_is_reported_with_its_line(name: str) -> None:
    text, (_, line, words) = planted(name), FAULTS[name]
    document = parse(text)
    flaws = flaws_of(safety(link(document), alarm="tripped"), statics(document))
    assert line_of(text, line) in {number for number, sentence in flaws if words in sentence}


def test_sound_net_has_no_flaws() -> None:
    document = parse(SOUND)
    answers = safety(link(document))
    assert flaws_of(answers, statics(document)) == []
    assert {answer.status for answer in answers} == {"sound", "not asked"}
    assert "tripped and silent agree" in [answer.question for answer in answers if answer.status == "not asked"]
