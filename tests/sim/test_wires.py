"""Tests that errors in a scenario's netlist name their line, and that alarm outputs record events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from malsim.base.errors import MalsimError, ScenarioError
from malsim.scenario.file.scenario_file import parse, read
from malsim.scenario.judge.judge import judge
from malsim.sim.bench import run

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.sim.run import Run

TRIP = """\
dec_a3ee "use SQLite" conf(.9!)
loadrt watch names=weak
loadrt latch names=alarm
net low weak.in < dec_a3ee-scores-eff
net is-weak weak.below > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out > dec_a3ee-flags-review
setp weak.level 0.5
addf weak tick
addf alarm tick
"""
ACK = '[[netlist.input]]\nsignal = "reviewer.ack"\nat = "1d"\nvalue = true\n'


def scenario(wires: str, more: str = "") -> str:
    return f"why = 'x'\n[run]\ndays = 2\n[netlist]\ntext = '''\n{wires}'''\n{more}"


def said(text: str) -> str:
    with pytest.raises(MalsimError) as caught:
        run(parse(text, where="it.toml"))
    return str(caught.value)


def line(text: str, words: str) -> int:
    return next(number for number, found in enumerate(text.splitlines(), 1) if words in found)


@pytest.mark.parametrize(
    ("wires", "where", "problem"),
    [
        ("net x nobody.in < dec_a3ee-scores-eff\n", "net x", "no such instance"),
        ("bla bla bla\n", "bla", ""),
        (TRIP.replace("dec_a3ee-scores", "dec_ffff-scores"), "net low", "no such cell"),
        ("net words clock.days\n", "net words", "this name is already used"),
        ('dec_a3ef "a" nonsense(3)\n', "nonsense", "field"),
    ],
)
def test_netlist_errors_name_the_line_of_the_file(wires: str, where: str, problem: str) -> None:
    text = scenario(wires)
    assert f"it.toml:{line(text, where)}" in (found := said(text))
    assert problem in found


@pytest.mark.parametrize(
    ("more", "where", "problem"),
    [
        (ACK.replace("reviewer.ack", "reviewer.ak"), "reviewer.ak", "the netlist has no such input"),
        (ACK.replace("reviewer.ack", "low"), '"low"', "the netlist has no such input"),
        (ACK.replace("true", "0.5"), "0.5", "the value has the wrong type for this signal"),
        (ACK.replace("1d", "7 suns"), "suns", "10min"),
    ],
)
def test_input_errors_name_their_line(more: str, where: str, problem: str) -> None:
    text = scenario(TRIP.replace("0.5", ".45"), more)
    assert f"it.toml:{line(text, where)}" in (found := said(text))
    assert problem in found


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('file = "../out.malnet"', "outside its scenario's folder"),
        ('file = "/etc/hostname"', "outside its scenario's folder"),
        ('file = "none.malnet"', "no such file"),
        ('file = "a.malnet"\ntext = "x"', "needs either file or text"),
        ("derive = true", "needs either file or text"),
        ('file = "a.malnet"\nfiel = 1', "unknown key"),
    ],
)
def test_netlist_outside_the_folder_is_refused(keys: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "out.malnet").write_text(TRIP)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "it.toml").write_text(f"why = 'x'\n[netlist]\n{keys}\n")
    with pytest.raises(ScenarioError, match=problem):
        read(tmp_path / "in" / "it.toml")


def test_errors_of_a_netlist_file_name_that_file(tmp_path: Path) -> None:
    (tmp_path / "it.malnet").write_text(TRIP + "net low again.in\n")
    (tmp_path / "it.toml").write_text("why = 'x'\n[netlist]\nfile = \"it.malnet\"\n")
    with pytest.raises(ScenarioError, match=r"it\.malnet:11"):
        read(tmp_path / "it.toml")


def test_broken_netlist_has_status_error_rather_than_failed() -> None:
    check = "[[check]]\nname = 'a'\nproperty = 'eventually tripped'\n"
    assert judge(parse(scenario(TRIP.replace("dec_a3ee-scores", "dec_ffff-scores"), check))).status == "error"


WIRES = """\
loadrt estop-latch names=estop
loadrt latch names=held
net well estop.ok-out
net beat estop.watchdog
net fault estop.fault-out
net not-held held.out-not
net held held.out
net go estop.reset
net sane estop.ok-in
sane = true
addf estop tick
addf held tick
"""
STARTED = '[[netlist.input]]\nsignal = "go"\nat = "4d"\nvalue = true\n'


def told(made: Run) -> list[tuple[object, ...]]:
    """Return the day, kind, subject and cause of each alarm event."""
    return made.events.filter(pl.col("kind").is_in(["tripped", "cleared"])).select("t", "kind", "subject", "cause").rows()


def test_watchdog_trips_and_clears_like_a_latch() -> None:
    made = run(read("scenarios/watchdog_silent_writer.toml").replace(replications=1))
    silent = made.signals.filter(signal="silent").sort("t")
    falls = silent.filter(pl.col("value").diff() < 0)["t"].to_list()
    rises = silent.filter(pl.col("value").diff() > 0)["t"].to_list()
    assert (len(rises), len(falls)) == (2, 1)
    days = sorted([(t, "tripped") for t in rises] + [(t, "cleared") for t in falls])
    assert told(made) == [(t, kind, "silent", "alive.tripped") for t, kind in days]


def test_only_alarm_outputs_record_events() -> None:
    made = run(parse(f"why = 'x'\n[run]\ndays = 6\n[netlist]\ntext = '''\n{WIRES}'''\n{STARTED}"))
    assert made.signals.filter(signal="beat")["value"].sum() > 0
    assert told(made) == [(1.0, "tripped", "fault", "estop.fault-out"), (4.0, "cleared", "fault", "estop.fault-out")]
