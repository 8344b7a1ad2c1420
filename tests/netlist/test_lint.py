"""Tests of lint warnings, and of feedback loops and their polarity."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from malsim.netlist import parse
from malsim.netlist.lint import lint
from malsim.netlist.wiring import link
from malsim.netlist.wiring.loops import loops, polarity

PUBLISHED = (Path(__file__).parent / "published.malnet").read_text(encoding="utf-8")


def notes(text: str) -> list[str]:
    return [str(note) for note in lint(parse(text))]


def test_published_tripwire_has_one_lint_note() -> None:
    problem = "nothing reads the outputs of this instance"
    assert notes(PUBLISHED) == [f"netlist:7:21: {problem}; given: 'severity'; wire one of its outputs"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loadrt watch\nnet x watch.above", "2:5: nothing reads this signal; given: 'x'"),
        (
            "loadrt watch\nnet x watch.in",
            "2:5: nothing writes this signal; given: 'x'; wire an output to it, or set it: x =",
        ),
        ("loadrt watch", "1:8: no thread calls this instance; given: 'watch'; addf watch tick"),
        ("addf watch tick", "1:6: nothing reads the outputs of this instance"),
        ("addf salience tick", "1:6: the tick already does this"),
        ('dec_a3ee "t" [out:0 programs:0] some words', "1: these words have no effect; given: 'some words'"),
        ("net eff dec_a3ee < conf supports.*", "1:5: this wire only documents the tick"),
    ],
)
def test_suspicious_wiring_gets_a_note(text: str, expected: str) -> None:
    assert any(note.startswith(f"netlist:{expected}") for note in notes(text))


def test_lint_note_on_a_documentation_only_wire_names_its_inputs() -> None:
    (note,) = notes("net eff dec_a3ee < conf supports.*")
    assert "~supports.*" in note


CHAIN = "loadrt smooth names=a,b,c\nnet ab a.out > b.in\nnet bc b.out > c.in\nthread slow every 2\n"


@pytest.mark.parametrize(
    ("order", "late"),
    [
        ("addf a tick\naddf b tick\naddf c tick", []),
        ("addf a tick\naddf c tick\naddf b tick", ["c reads bc a tick late, because b runs after it"]),
        ("addf b tick\naddf a tick\naddf c tick", ["b reads ab a tick late, because a runs after it"]),
        (
            "addf c tick\naddf b tick\naddf a tick",
            ["c reads bc a tick late, because b runs after it", "b reads ab a tick late, because a runs after it"],
        ),
        ("addf c tick\naddf b tick 1\naddf a tick 1", []),
        ("addf a slow\naddf b tick\naddf c tick", ["b reads ab a tick late, because a runs after it"]),
        ("addf a tick\naddf b tick\naddf c slow", []),
    ],
)
def test_lint_notes_each_input_that_is_read_one_tick_late(order: str, late: list[str]) -> None:
    assert [note.problem for note in lint(parse(CHAIN + order)) if "late" in note.problem] == late


LOOP = """\
loadrt sum2 names=gap
loadrt smooth names=soft
net error gap.out > soft.in
net back soft.out > gap.in-1
addf gap tick
addf soft tick
"""


@pytest.mark.parametrize(("gain", "sign"), [("1", "+"), ("-1", "−"), ("0", "0")])
def test_loop_is_reported_with_its_sign(gain: str, sign: str) -> None:
    (loop,) = loops(link(parse(f"{LOOP}setp gap.gain-1 {gain}")))
    assert loop.sign == sign
    assert {step.signal for step in loop.steps} == {"error", "back"}


def test_instance_wired_to_itself_is_a_loop() -> None:
    (loop,) = loops(link(parse("loadrt not names=n\nnet x n.out > n.in\naddf n tick")))
    assert str(loop) == "− n (x) > n"


def test_chain_is_not_a_loop_and_two_loops_are_counted_as_two() -> None:
    ring = [f"loadrt not names={','.join(f'n{i}' for i in range(9))}"]
    ring += [f"net s{a} n{a}.out > n{b}.in" for a, b in pairwise(range(9))]
    assert loops(link(parse("\n".join(ring)))) == []
    closed = loops(link(parse("\n".join([*ring, "net s8 n8.out > n0.in", "loadrt not\nnet t not.out not.in"]))))
    assert [(len(loop.steps), loop.sign) for loop in closed] == [(9, "−"), (1, "−")]


@pytest.mark.parametrize(
    ("text", "reads", "writes", "sign"),
    [
        ("loadrt watch names=w\nsetp w.level 0.5", "in", "above", "+"),
        ("loadrt watch names=w\nsetp w.level 0.5", "in", "below", "−"),
        ("loadrt watch names=w", "level", "above", "−"),
        ("loadrt or2 names=w", "in-1", "out", "+"),
        ("loadrt nand2 names=w", "in-0", "out", "−"),
        ("loadrt xor2 names=w", "in-0", "out", "±"),
        ("loadrt latch names=w", "reset", "out", "−"),
        ("loadrt scale names=w\nsetp w.gain -2", "in", "out", "−"),
        ("loadrt scale names=w\nsetp w.gain 0", "in", "out", "0"),
        ("loadrt quorum names=w inputs=3", "in-2", "out", "+"),
        ("loadrt pid names=w\nsetp w.Pgain 1\nsetp w.enable 1", "feedback", "output", "−"),
        ("loadrt pid names=w\nsetp w.Pgain 1\nsetp w.enable 1", "command", "output", "+"),
    ],
)
def test_polarity_of_an_op_is_measured(text: str, reads: str, writes: str, sign: str) -> None:
    instance = link(parse(text)).instances["w"]
    wired = [name for name in instance.sheet.slots if name.startswith(("in-", "set"))]
    assert polarity(instance, reads, writes, wired) == sign
