"""Tests for proofs about small nets: induction, shortest refuting traces, untranslatable ops and planted flaws."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from malsim.base.errors import MalsimError, ScenarioError, UsageError
from malsim.cli import main
from malsim.netlist import load, parse
from malsim.netlist.wiring import link
from malsim.scenario.file.scenario_file import parse as read_scenario
from malsim.scenario.judge.broken_run import drawing, scenario_text
from malsim.scenario.judge.judge import judge
from malsim.scenario.proof.prove import prove
from malsim.scenario.proof.questions.safety import safety
from malsim.scenario.proof.terms.elements import OutsideError, z3

pytest.importorskip("z3")

SHIPPED = Path(__file__).parents[3] / "scenarios" / "tripwire.malnet"
WIRE = """
loadrt watch names=low
loadrt ton names=lasting
loadrt latch names=alarm
net worth low.in
net is-low low.below > lasting.in
net bad lasting.out > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out
setp low.level 0.5
setp low.hysteresis 0.1
setp lasting.delay 2d
addf low tick
addf lasting tick
addf alarm tick
"""
LAG = """
loadrt lag names=slow
loadrt watch names=w
net x slow.in
net y slow.out > w.in
net up w.above
addf slow tick
addf w tick
"""


def answer(text: str, property_: str, *assume: str, ticks: int = 12) -> tuple[str, int | None]:
    item = prove(load(text).net, property_, assume=assume, ticks=ticks)
    return item.result, item.k or item.ticks


@pytest.mark.parametrize(("property_", "expected"), [
    ("always (bad and not ack implies tripped)", ("proved", 1)),
    ("always (tripped implies once bad)", ("proved", 1)),
    ("always (prev(tripped) == 1 and not ack implies tripped)", ("proved", 1)),
    ("always (always[0:2] (worth < 0.4 and not ack) implies eventually[2:2] tripped)", ("proved", None)),
    ("always (worth < 0.4 and not ack implies tripped)", ("refuted", 1)),
    ("always (always[0:1] (worth < 0.4 and not ack) implies eventually[1:1] tripped)", ("refuted", 2)),
    ("always (tripped since tripped)", ("refuted", 1)),
    ("eventually[0:3] tripped", ("refuted", 4)),
    ("always[0:2d] not tripped", ("proved", None)),
    ("always (is-low implies eventually[0:5] (tripped or not is-low or ack))", ("proved", None)),
    ("always not (tripped and ack)", ("proved", 1)),
])  # fmt: skip
def test_properties_of_small_nets_are_proved_or_refuted(property_: str, expected: tuple[str, int | None]) -> None:
    result, number = answer(WIRE, property_)
    assert result == expected[0]
    assert expected[1] is None or number == expected[1]


def test_refuting_trace_is_the_shortest() -> None:
    item = prove(load(WIRE).net, "always not tripped")
    assert item.trace is not None
    assert item.trace.height == item.ticks
    assert item.trace["tripped"].to_list() == [False] * (item.trace.height - 1) + [True]


def test_assumptions_restrict_the_proof() -> None:
    assert answer(WIRE, "always not tripped", "always (worth >= 0.6)")[0] == "proved"
    assert answer(WIRE, "always (tripped implies historically tripped)")[0] == "refuted"
    with pytest.raises(UsageError, match="no run satisfies the assumptions"):
        answer(WIRE, "always tripped", "always (worth > 1)", "always (worth < 0)")
    with pytest.raises(ScenarioError, match="at every tick"):
        answer(WIRE, "always tripped", "eventually (worth > 1)")


def test_properties_of_real_valued_states_are_proved() -> None:
    assert answer(LAG, "always (y <= 1)", "always (x <= 1 and x >= 0)")[0] == "proved"
    assert answer(LAG, "always (y <= 0.5)", "always (x <= 1 and x >= 0)")[0] == "refuted"


def test_error_names_an_untranslatable_op_and_its_line() -> None:
    pins = "".join(f"net {pin}-in f.{pin}\n" for pin in ("in", "Q", "f0", "enable", "type"))
    text = f"loadrt biquad names=f\n{pins}net y f.out\naddf f tick\n"
    with pytest.raises(OutsideError, match=r"netlist:1: f \(biquad\) has no exact translation: numpy's"):
        prove(load(text).net, "always (y < 1)")
    with pytest.raises(OutsideError, match="event"):
        prove(load(WIRE).net, "always (at event(tripped) implies bad)")


@pytest.mark.parametrize("property_", ["always (nothing > 1)", "alway tripped", "always worth"])
def test_invalid_property_is_refused(property_: str) -> None:
    with pytest.raises(MalsimError):
        prove(load(WIRE).net, property_)


def test_commands_print_proofs_and_refutations(capsys: pytest.CaptureFixture[str]) -> None:
    property_ = "always (eff(dec_a3ee) < 0.5 and not reviewer.ack implies tripped)"
    assert main(["tripwire", str(SHIPPED), "--prove", property_]) == 0
    assert "proved by induction over 1 tick: always (eff(dec_a3ee) < 0.5" in capsys.readouterr().out
    assert main(["netlist", "prove", "always not tripped", str(SHIPPED)]) == 1
    assert "refuted in 1 tick" in capsys.readouterr().out


def test_two_netlists_are_proved_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {"one": WIRE, "same": WIRE.replace("0.5", "0.50"), "later": WIRE.replace("2d", "3d")}
    for name, text in texts.items():
        (tmp_path / f"{name}.malnet").write_text(text, encoding="utf-8")
    files = {name: str(tmp_path / f"{name}.malnet") for name in texts}
    assert main(["netlist", "diff", files["one"], files["same"], "--prove", "same"]) == 0
    assert "proved by induction" in capsys.readouterr().out
    assert main(["netlist", "diff", files["one"], files["later"], "--prove", "same"]) == 1
    assert "refuted in 3 ticks" in capsys.readouterr().out
    assert main(["tripwire", files["one"], "--prove", "safety"]) == 0
    assert "sound: tripped is not silent after 3 ticks of is-low" in capsys.readouterr().out


def test_refutation_is_written_as_a_failing_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, wire, property_ = (
        tmp_path / "broken.toml",
        tmp_path / "wire.malnet",
        "always (fall(tripped) implies prev(worth) > 0.5)",
    )
    wire.write_text(WIRE, encoding="utf-8")
    assert main(["tripwire", str(wire), "--prove", property_, "-o", str(path)]) == 1
    assert f"wrote {path}" in capsys.readouterr().out
    assert main(["test", str(path)]) == 1
    assert "prev(worth) > 0.5, got prev(worth)" in capsys.readouterr().out
    assert main(["netlist", "prove", "always tripped", str(SHIPPED), "-o", str(tmp_path / "shipped.toml")]) == 1
    capsys.readouterr()
    assert main(["test", str(tmp_path / "shipped.toml")]) == 1


def test_only_refutations_are_drawn() -> None:
    figure = drawing(prove(load(WIRE).net, "always not tripped"))
    assert "refuted in 3 ticks" in figure.get_suptitle()
    with pytest.raises(UsageError, match="only a refuted property"):
        drawing(prove(load(WIRE).net, "always (tripped implies once bad)"))


def test_missing_solver_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    z3.cache_clear()
    assert main(["tripwire", str(SHIPPED), "--prove", "always tripped"]) == 2
    assert "malsim[prove]" in capsys.readouterr().err


SCENARIO = '''why = "a proof beside a check"
seed = 1

[run]
days = 3

[netlist]
text = """{wire}"""

[[proof]]
name = "it lasts three ticks"
property = "{property_}"
assume = ["always not ack"]
'''


@pytest.mark.parametrize(("delay", "code"), [(2, 0), (1, 1)])
def test_scenario_can_require_a_proof_as_a_check(
    delay: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    property_ = f"always (always[0:{delay}] is-low implies eventually[{delay}:{delay}] tripped)"
    path = tmp_path / "proof.toml"
    path.write_text(SCENARIO.format(wire=WIRE, property_=property_), encoding="utf-8")
    assert main(["test", str(path)]) == code
    printed = capsys.readouterr().out
    assert ("proved by induction" if code == 0 else "refuted in 2 ticks: worth") in printed


@pytest.mark.parametrize("line", ['assume = ["eventually ack"]', 'property = "alway x"', "ticks = 0", "level = 3"])
def test_invalid_proof_check_is_named_with_its_line(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, name = SCENARIO.format(wire=WIRE, property_="always tripped"), 'name = "it lasts three ticks"'
    old = next((item for item in text.splitlines() if item.startswith(line.partition(" ")[0])), name)
    new = f"{old}\n{line}" if line.startswith(("ticks", "level")) else line
    path = tmp_path / "proof.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert main(["test", str(path)]) == 2
    assert "proof.toml" in capsys.readouterr().out


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
    "dead part": (changed(("old.level 0.4", "old.level -1")), "old matters"),
    "stuck input": (changed(("net worth low.in < dec_a3ee-scores-eff\n", "setp low.in 0.9\n")), "low matters"),
}  # fmt: skip


@pytest.mark.parametrize("name", FLAWS)
def test_flawed_net_is_refuted_and_sound_net_is_proved(name: str) -> None:
    text, property_, assume = FLAWS[name]
    broken = prove(load(CELL + text).net, property_, assume=assume)
    assert broken.result == "refuted"
    assert broken.trace is not None
    assert prove(load(CELL + SOUND).net, property_, assume=assume).result == "proved"


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_safety_question_finds_a_planted_flaw(name: str) -> None:
    text, question = QUESTIONS[name]
    assert question in [item.question for item in safety(load(CELL + text).net) if item.flaw]


def test_sound_net_has_no_flaws() -> None:
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


@pytest.mark.parametrize(
    ("text", "property_"), [(text, property_) for text, group in REFUTED.items() for property_ in group]
)
def test_counterexample_scenario_fails_at_the_same_tick(text: str, property_: str) -> None:
    document = parse(text)
    proof = prove(link(document), property_)
    assert proof.result == "refuted"
    (outcome,) = judge(read_scenario(scenario_text(proof, document))).outcomes
    assert outcome.status == "fail"
    assert outcome.verdict is not None
    assert outcome.verdict.margin.witness.day == proof.ticks
