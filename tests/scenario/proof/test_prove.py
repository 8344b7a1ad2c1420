"""Answers about small nets: proved by how many ticks, refuted by a shortest trace that the engine runs, or refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from malsim.base.errors import MalsimError, ScenarioError, UsageError
from malsim.cli import main
from malsim.netlist import load
from malsim.scenario.judge.broken_run import drawing
from malsim.scenario.proof.prove import prove
from malsim.scenario.proof.terms.solver import OutsideError, z3

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


@pytest.mark.parametrize(("asked", "expected"), [
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
def test_answers(asked: str, expected: tuple[str, int | None]) -> None:
    result, number = answer(WIRE, asked)
    assert result == expected[0]
    assert expected[1] is None or number == expected[1]


def test_a_trace_is_the_shortest_and_runs_in_the_engine() -> None:
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


def test_reals_with_a_state_are_proved_too() -> None:
    assert answer(LAG, "always (y <= 1)", "always (x <= 1 and x >= 0)")[0] == "proved"
    assert answer(LAG, "always (y <= 0.5)", "always (x <= 1 and x >= 0)")[0] == "refuted"


def test_inexact_parts_are_listed_with_their_line() -> None:
    pins = "".join(f"net {pin}-in f.{pin}\n" for pin in ("in", "Q", "f0", "enable", "type"))
    text = f"loadrt biquad names=f\n{pins}net y f.out\naddf f tick\n"
    with pytest.raises(OutsideError, match=r"netlist:1: f \(biquad\) has no exact translation: numpy's"):
        prove(load(text).net, "always (y < 1)")
    with pytest.raises(OutsideError, match="event"):
        prove(load(WIRE).net, "always (at event(tripped) implies bad)")


@pytest.mark.parametrize("asked", ["always (nothing > 1)", "alway tripped", "always worth"])
def test_a_property_of_nothing_is_refused(asked: str) -> None:
    with pytest.raises(MalsimError):
        prove(load(WIRE).net, asked)


def test_the_commands_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "always (eff(dec_a3ee) < 0.5 and not reviewer.ack implies tripped)"
    assert main(["tripwire", str(SHIPPED), "--prove", asked]) == 0
    assert "proved by induction over 1 tick: always (eff(dec_a3ee) < 0.5" in capsys.readouterr().out
    assert main(["netlist", "prove", "always not tripped", str(SHIPPED)]) == 1
    assert "refuted in 1 tick" in capsys.readouterr().out


def test_two_netlists_are_proved_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_refutation_is_written_as_a_scenario_that_fails_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, wire, asked = (
        tmp_path / "broken.toml",
        tmp_path / "wire.malnet",
        "always (fall(tripped) implies prev(worth) > 0.5)",
    )
    wire.write_text(WIRE, encoding="utf-8")
    assert main(["tripwire", str(wire), "--prove", asked, "-o", str(path)]) == 1
    assert f"wrote {path}" in capsys.readouterr().out
    assert main(["test", str(path)]) == 1
    assert "prev(worth) > 0.5, got prev(worth)" in capsys.readouterr().out
    assert main(["netlist", "prove", "always tripped", str(SHIPPED), "-o", str(tmp_path / "shipped.toml")]) == 1
    capsys.readouterr()
    assert main(["test", str(tmp_path / "shipped.toml")]) == 1


def test_a_refutation_is_drawn() -> None:
    figure = drawing(prove(load(WIRE).net, "always not tripped"))
    assert "refuted in 3 ticks" in figure.get_suptitle()
    with pytest.raises(UsageError, match="only a refutation"):
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
property = "{asked}"
assume = ["always not ack"]
'''


@pytest.mark.parametrize(("delay", "code"), [(2, 0), (1, 1)])
def test_proof_can_be_a_check_of_a_scenario(
    delay: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = f"always (always[0:{delay}] is-low implies eventually[{delay}:{delay}] tripped)"
    path = tmp_path / "proof.toml"
    path.write_text(SCENARIO.format(wire=WIRE, asked=asked), encoding="utf-8")
    assert main(["test", str(path)]) == code
    printed = capsys.readouterr().out
    assert ("proved by induction" if code == 0 else "refuted in 2 ticks: worth") in printed


@pytest.mark.parametrize("line", ['assume = ["eventually ack"]', 'property = "alway x"', "ticks = 0", "level = 3"])
def test_a_proof_that_asks_nothing_is_refused_at_its_line(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SCENARIO.format(wire=WIRE, asked="always tripped")
    old = next(
        (item for item in text.splitlines() if item.startswith(line.partition(" ")[0])), 'name = "it lasts three ticks"'
    )
    remaining = f"{old}\n{line}" if line.startswith(("ticks", "level")) else line
    path = tmp_path / "proof.toml"
    path.write_text(text.replace(old, remaining), encoding="utf-8")
    assert main(["test", str(path)]) == 2
    assert "proof.toml" in capsys.readouterr().out
