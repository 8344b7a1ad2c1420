"""Tests that halcmd commands print the same in `.hal` scripts as at the prompt."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from malsim.cli import main
from malsim.lab.shell import Console
from malsim.lab.shell.console import candidates
from malsim.lab.shell.files import KINDS, open_session

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """loadrt threads name1=servo period1=1000000
loadrt flipflop names=ff
loadrt or2 names=gate
addf gate servo
addf ff servo
"""
COMMANDS = {
    "net with arrows": "net s gate.out => ff.set\nshow sig",
    "linkps": "linkps gate.out => s\nlist sig\nptype gate.out",
    "linksp": "linksp s gate.in0\nshow pin gate*",
    "linkpp": "linkpp gate.out ff.set\nlist sig",
    "sets at once": "net s gate.in0\nsets s 1\ngets s\ngetp gate.in0\nsets s 0\ngetp gate.in0\nstype s",
    "sets between ticks": "net s gate.in0\nstart\nsets s 1\nloadusr sleep 0.001\n"
    "getp gate.out\nsets s 0\nloadusr -w sleep .001\ngetp gate.out",
    "setp with and without a hyphen": "setp gate.in0 1\ngetp gate.in-0\nsetp gate.in-1 1\ngetp gate.in1",
    "equals sign": "gate.in0 = 1\ngetp gate.in0",
    "newsig": "newsig s bit\nnet s gate.out\nlist sig\nstype s",
    "alias": "alias pin gate.in0 left\nlist pin gate*\nlist pin l*\nsetp left 1\ngetp gate.in0",
    "unalias by alias": "alias pin gate.in0 left\nunalias pin left\nlist pin gate*",
    "unalias by pin": "alias pin gate.in0 left\nunalias pin gate.in0\nlist pin gate*",
    "unlinkp": "net s gate.out ff.set\nunlinkp ff.set\nshow sig",
    "delsig": "net s gate.out ff.set\ndelsig s\nlist sig",
    "delf": "delf gate servo\nshow thread",
    "addf at a position": "delf gate servo\naddf gate servo 1\nshow funct",
    "unload": "unload gate\nlist comp",
    "unloadrt": "unloadrt flipflop\nlist comp",
    "locks": "lock all\nunlock all\nlock tune\ndebug 3\nlist comp",
    "loadusr": "setp gate.in0 1\nstart\nloadusr -w sleep 0.002\nstop\nstatus\ngetp gate.out",
    "waitusr": "waitusr halui\nunloadusr all\nprint done",
    "show all": "show all",
    "list with a pattern": "list pin gate.*\nlist funct\nlist thread",
    "print": "print hello",
    "save -": "save -",
    "save": "net s gate.out => ff.set\nalias pin gate.in0 left\nsave",
    **{f"save {kind}": f"net s gate.out => ff.set\nsave {kind}" for kind in KINDS if kind not in {"alias", "sigu"}},
    "conversion": "loadrt conv_float_s32\nsetp conv-float-s32.0.in 2.5\naddf conv-float-s32.0 servo\n"
    "start\nloadusr sleep .001\ngetp conv-float-s32.0.out",
    "hypot": "loadrt hypot\nsetp hypot.0.in0 3\nsetp hypot.0.in1 4\n"
    "addf hypot.0 servo\nstart\nloadusr sleep .001\ngetp hypot.0.out",
    "mult2": "loadrt mult2 count=1\nsetp mult2.0.in0 3\nsetp mult2.0.in1 -4\n"
    "addf mult2.0 servo\nstart\nloadusr sleep .001\ngetp mult2.0.out",
    "match8": "loadrt match8\nsetp match8.0.a3 1\nsetp match8.0.b3 1\n"
    "addf match8.0 servo\nstart\nloadusr sleep .001\ngetp match8.0.out",
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_script_and_prompt_print_the_same_output(name: str, tmp_path: Path) -> None:
    path = tmp_path / "script.hal"
    path.write_text(HEAD + COMMANDS[name], encoding="utf-8")
    script = Console(open_session(None), stdout=(printed := io.StringIO()))
    assert script.script(path.read_bytes(), str(path)) == 0, printed.getvalue()
    prompt = Console(open_session(None), stdout=(typed := io.StringIO()), clock=lambda: 0.0)
    for line in (HEAD + COMMANDS[name]).splitlines():
        prompt.onecmd(line)
    assert prompt.failed == 0, typed.getvalue()
    assert typed.getvalue() == printed.getvalue()
    assert printed.getvalue()


def run_script(folder: Path, text: str, *options: str) -> int:
    path = folder / "script.hal"
    path.write_text(text, encoding="utf-8")
    return main(["hal", "-f", str(path), *options])


@pytest.mark.parametrize("word", ["quit", "exit"])
def test_quit_ends_a_script_without_an_error(word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_script(tmp_path, f"loadrt not names=n\nlist comp\n{word}\nloadrt nonsense\nlist comp\n") == 0
    assert capsys.readouterr().out == "n\n"


def test_unset_variables_are_reported_once_per_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_script(tmp_path, "loadrt [KINS]KINEMATICS\nloadrt [MOT]MOD base_period_nsec=[MOT]BASE\nloadrt not\n") == 2
    error = capsys.readouterr().err
    assert error.count("script.hal:") == 2
    assert "[MOT]MOD [MOT]BASE" in error


def test_variables_are_read_from_an_ini_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ini = tmp_path / "machine.ini"
    ini.write_text("\ufeff[JOINT_0]\n# mm\nSCALE = 200\nSCALE = 1\n[HAL]\nNAME=s\n", encoding="utf-8")
    text = "loadrt scale names=[HAL](NAME)\nsetp s.gain [JOINT_0]SCALE\ngetp s.gain\n"
    assert run_script(tmp_path, text, "-i", str(ini)) == 0
    assert capsys.readouterr().out == "200\n"
    assert main(["hal", "-c", "print [JOINT_0]SCALE", "-i", str(ini)]) == 0
    assert capsys.readouterr().out == "200\n"


def test_error_in_a_script_names_the_pin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "loadrt pid num_chan=1\nnet begin pid.0.tune-start\nnet other pid.0.tune-Password9\n"
    assert run_script(tmp_path, text) == 2
    error = capsys.readouterr().err
    assert "pid.0.tune-start" in error
    assert "withheld" not in error


def test_latch_stays_tripped_after_the_heartbeat_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "loadrt threads name1=servo period1=1000000\nloadrt oneshot names=beat\nloadrt not names=dead\n"
        "loadrt estop_latch names=trip\naddf beat servo\naddf dead servo\naddf trip servo\nnewsig hb bit\n"
        "net hb => beat.in\nsetp beat.width 0.005\nsetp beat.retriggerable 1\nsetp beat.rising 1\n"
        "net alive beat.out => dead.in\nnet tripped dead.out => trip.fault-in\nsetp trip.ok-in 1\nstart\n"
        "sets hb 1\nloadusr sleep 0.001\nsets hb 0\nloadusr sleep 0.001\nsetp trip.reset 1\nloadusr sleep 0.001\n"
        "setp trip.reset 0\ngetp trip.ok-out\nloadusr sleep 0.010\ngetp trip.ok-out\nsets hb 1\nloadusr sleep 0.002\n"
        "getp beat.out\ngetp trip.ok-out\nsetp trip.reset 1\nloadusr sleep 0.001\ngetp trip.ok-out\n"
    )
    assert run_script(tmp_path, text) == 0
    assert capsys.readouterr().out.split() == ["TRUE", "FALSE", "TRUE", "FALSE", "TRUE"]


def test_setting_that_selects_an_op_is_refused_after_loading() -> None:
    console = Console(open_session(None), stdout=(out := io.StringIO()))
    for line in ("loadrt edge", "setp edge.0.both 1"):
        console.onecmd(line)
    assert console.failed == 1
    assert "selects the op" in out.getvalue()


def test_saved_commands_recreate_a_session() -> None:
    first = Console(open_session(None), stdout=(out := io.StringIO()))
    wiring = "net s gate.out => ff.set\nsetp gate.in1 1\nalias pin gate.in0 left\n"
    for line in (HEAD + wiring + "save allu").splitlines():
        first.onecmd(line)
    saved = out.getvalue()
    assert "setp gate.in-1 TRUE" in saved
    again = Console(open_session(None), stdout=(other := io.StringIO()))
    for line in [*saved.splitlines(), "save allu"]:
        again.onecmd(line)
    assert again.failed == 0, other.getvalue()
    assert list(again.session.net.instances) == list(first.session.net.instances)
    assert again.session.stepped(2).past[-1].signals == first.session.stepped(2).past[-1].signals == {"s": 1.0}


@pytest.mark.parametrize(
    ("before", "typed", "expected"),
    [
        (["loadrt"], "flip", ["flipflop"]),
        (["loadrt"], "thr", ["threads"]),
        (["getp"], "gate.in", ["gate.in0", "gate.in1"]),
        (["save"], "netl", ["netl", "netla"]),
        (["unload"], "g", ["gate"]),
    ],
)
def test_tab_completes_linuxcnc_names(before: list[str], typed: str, expected: list[str]) -> None:
    console = Console(open_session(None), stdout=io.StringIO())
    for line in HEAD.splitlines():
        console.onecmd(line)
    assert candidates(console.session, before, typed) == expected
