"""Tests for the shell: commands work, errors leave the session unchanged, and only `save` writes files."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.cli import main
from malsim.commands import hal
from malsim.lab.shell import Console
from malsim.lab.shell.console import candidates
from malsim.lab.shell.files import of_run, open_session, text
from malsim.memory import Memory, tick
from malsim.netlist import load
from malsim.netlist.engine.stream import run as run_stream

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = 'dec_a3ee "use SQLite" conf(.9)\n  prop verification external\n'
WIRING = """loadrt watch names=weak
loadrt latch names=alarm
net low weak.in < dec_a3ee-scores-eff
net bad weak.below > alarm.set
net ack reviewer.ack > alarm.reset
net trip alarm.out > dec_a3ee-flags-review
setp weak.level .5
addf weak tick
addf alarm tick
"""
SECOND_NAMES = {"exit", "stype", "unloadrt"}
AGAINST = 'obs_b0b1 "it locked" conf(1)\nobs_b0b1 contradicts> dec_a3ee (-1)\n'


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "graph.malnet").write_text(GRAPH, encoding="utf-8")
    (tmp_path / "alarm.malnet").write_text(GRAPH + WIRING, encoding="utf-8")
    load(GRAPH).memory.save(tmp_path / "memory.sqlite")
    return tmp_path


def output_of(target: Path | None, script: str, *, keep_going: bool = False) -> tuple[str, int]:
    out = io.StringIO()
    console = Console(open_session(str(target) if target else None), stdout=out)
    code = console.script(script, "drill", keep_going=keep_going)
    return out.getvalue(), code


def test_tripwire_typed_at_the_prompt_trips(files: Path) -> None:
    script = WIRING + "step 2\ngetp alarm.out\n" + AGAINST + "step 2\ngets low\ngetp alarm.out\ngetp dec_a3ee-scores-eff\n"
    assert output_of(files / "graph.malnet", script) == ("FALSE\n0.4430435\nTRUE\n0.4430435\n", 0)


def test_typed_lines_give_the_same_results_as_a_file(files: Path) -> None:
    opened, read = (open_session(str(files / name)) for name in ("graph.malnet", "alarm.malnet"))
    console = Console(opened, stdout=io.StringIO())
    assert console.script(WIRING, "drill") == 0
    typed, expected = console.session.stepped(6), read.session.stepped(6)
    assert typed.past[-1].signals == expected.past[-1].signals
    assert typed.memory.cells.equals(expected.memory.cells)


def test_many_steps_equal_single_steps(files: Path) -> None:
    start = open_session(str(files / "alarm.malnet")).session
    single = start
    for _ in range(5):
        single = single.stepped()
    assert [moment.signals for moment in single.past] == [moment.signals for moment in start.stepped(5).past]


def test_shell_without_cells_computes_the_same_as_run_stream() -> None:
    console = Console(open_session(None), stdout=io.StringIO())
    values = [0.0, 1.0, 1.0, 0.2, 0.9]
    wiring = "loadrt smooth names=slow\nnet x slow.in\nnet y slow.out\nsetp slow.gain .3\naddf slow tick"
    assert console.script(wiring, "-") == 0
    net = console.session.net
    console.script("\n".join(f"sets x {value}\nstep" for value in values), "-")
    expected = run_stream(net, pl.DataFrame({"x": values}))["y"].to_list()
    assert [moment.signals["y"] for moment in console.session.past] == expected


def test_rewiring_keeps_the_state_of_ops(files: Path) -> None:
    trip = AGAINST + "step 2\n"
    rewiring = "loadrt not names=calm\nnet trip calm.in\naddf calm tick\ngetp alarm.out"
    assert output_of(files / "alarm.malnet", trip + rewiring) == ("TRUE\n", 0)
    out, _ = output_of(files / "alarm.malnet", trip + "setp weak.level .1\nstep 3\ngetp weak.below\ngetp alarm.out")
    assert out == "FALSE\nTRUE\n"


def test_reviewer_pins_can_be_set_by_hand(files: Path) -> None:
    script = "step 2\ngetp alarm.out\nsetp weak.level .1\nsetp reviewer.ack 1\nstep\ngetp alarm.out\ngetp reviewer.ack"
    assert output_of(files / "alarm.malnet", AGAINST + script)[0] == "TRUE\nFALSE\nTRUE\n"


def test_functions_and_links_can_be_removed(files: Path) -> None:
    script = "step\ndelf weak tick\nlist funct\nshow thread\nunlinkp weak.in\ngetp weak.in\nshow sig low\nsave -"
    out, code = output_of(files / "alarm.malnet", script)
    assert code == 0
    assert "tick    1      alarm" in out
    assert "\n0.9\n" in out
    assert "setp weak.in 0.9" in out
    assert "net low < dec_a3ee-scores-eff" in out


def test_unloading_removes_wires_settings_and_functions(files: Path) -> None:
    console = Console(open_session(str(files / "alarm.malnet")), stdout=(out := io.StringIO()))
    assert console.script("step\nunload latch\nlist comp\nlist sig\nlist funct\nstep\ngetp weak.above", "drill") == 0
    assert out.getvalue().splitlines() == ["weak", "ack bad low trip", "weak", "TRUE"]
    assert console.script("delsig all\nlist sig\nunload all\nlist comp\nstatus", "drill") == 0
    counts = "0 instances, 0 signals, 1 thread, 1 cell"
    assert out.getvalue().splitlines()[4:] == ["", "", "day 2, 2 ticks made, a tick is 1 day", counts]


def test_newsig_fixes_the_type_of_a_signal(files: Path) -> None:
    out, code = output_of(files / "alarm.malnet", "newsig new float\nnet new weak.above\nlist sig new", keep_going=True)
    problem = "drill:2: the signal was declared with another type; given: 'new: bit'; allowed: float"
    assert (code, out.splitlines()) == (1, [problem, ""])
    assert output_of(files / "alarm.malnet", "newsig new bit\nnet new weak.above\nlist sig new") == ("new\n", 0)


def test_unlinked_signal_keeps_its_value() -> None:
    script = "newsig free float\nsets free 2.5\ngets free\nshow sig fr*\nloadrt smooth names=lp\nnet free lp.in\ngets free"
    answer, code = output_of(None, script)
    lines = answer.splitlines()
    assert (lines[0], lines[2], lines[-1], code) == ("2.5", "float  2.5  free  not linked yet", "2.5", 0)
    answer, code = output_of(None, "newsig on bit\nsets on 3")
    assert (answer, code) == ("drill:2: on: not a bit; given: '3'\n", 1)


def test_command_thread_creates_a_thread() -> None:
    script = "loadrt not count=2\nthread slow every 3\naddf not.0 slow\naddf not.0 slow\naddf not.1 fast"
    answer, code = output_of(None, script, keep_going=True)
    assert code == 1
    added, missing = answer.splitlines()
    assert added == "drill:4: this function has already been added; given: 'not.0'; keep one addf"
    assert missing.startswith("drill:5: no such thread; given: 'fast'; allowed: tick slow; declare it first")


def test_linuxcnc_components_load_at_the_prompt() -> None:
    script = "loadrt lowpass\nloadrt flipflop names=ff\nlist comp\nlist pin lowpass*\ngetp lowpass.0.gain"
    out, code = output_of(None, script)
    assert (out.splitlines(), code) == (["lowpass.0 ff", "lowpass.0.in lowpass.0.load lowpass.0.out", "0"], 0)


def test_print_and_echo_expand_variables(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHAT", "low")
    script = 'print of $WHAT and $(WHAT)\nprint "a $5 title"\necho\ngets $WHAT\nunecho\nstep\ngets $WHAT'
    out, code = output_of(files / "alarm.malnet", script)
    assert code == 0
    assert out.splitlines() == ["of low and low", '"a $5 title"', "gets low", "no value yet", "unecho", "0.9"]


def test_delf_does_not_unload_an_op_loaded_by_addf() -> None:
    assert output_of(None, "addf toggle tick\ndelf toggle\nlist comp")[0] == "toggle\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("frobnicate 3", "no such command"),
        ("newsig low float", "this name is already used"),
        ("newsig x double", "no such signal type"),
        ("delsig nothing", "no such signal"),
        ("unload nothing", "no such instance or op"),
        ("unloadusr it", "no such program"),
        ("getp $NOBODY_SET_THIS", "this variable has no value"),
        ("setp weak.levl 3", "did you mean level?"),
        ("setp weak.level high", "not a number"),
        ("setp weak.in 3", "a wired pin is set by its signal"),
        ("setp reviewer.ack maybe", "not a bit"),
        ("net low alarm.set", "alarm.set"),
        ("net again weak.below", "bad"),
        ("addf weak tick", "already been added"),
        ("addf weak slow", "no such thread"),
        ("loadrt wacth", "watch"),
        ("sets low 3", "with a writer cannot be set"),
        ("sets nothing 3", "no such signal"),
        ("gets nothing", "no such signal"),
        ("getp nothing", "no such pin, parameter, signal or cell"),
        ("getp obs_ffff-scores-eff", "no such pin, parameter, signal or cell"),
        ("delf weak slow", "the function runs on tick"),
        ("unlinkp weak.above", "not connected to a signal"),
        ("show pins", "did you mean pin?"),
        ("step -1", "1 to"),
        ("step 1e9", "1 to"),
        ("start never", "the rate is not a number above 0"),
        ("scope low out=x.csv", "not recorded yet"),
        ("save nowhere.txt", "unsupported file type"),
        ("save /nonexistent/x.malnet", "no such folder"),
        ("source missing.malnet", "no such file"),
        ("getp", "getp: wrong number of arguments; given: 0; write getp PIN"),
        ("help frobnicate", "no such command"),
        ('dec_a3ee "again', "drill:1"),
        ("dec_a3ee contradicts> dec_ffff (-1)", "dec_ffff"),
    ],
)
def test_errors_name_the_line_and_change_nothing(files: Path, line: str, problem: str) -> None:
    console = Console(open_session(str(files / "alarm.malnet")), stdout=(out := io.StringIO()))
    before = console.session
    assert console.script(line, "drill") == 1
    assert problem in out.getvalue()
    assert out.getvalue().startswith("drill:1: ")
    assert console.session is before


def test_script_stops_at_the_first_failure_unless_told_otherwise() -> None:
    script = "loadrt toggle\nnonsense\nloadrt latch\nlist comp"
    assert output_of(None, script) == ("drill:2: no such command; given: 'nonsense'; enter help to list the commands\n", 1)
    out, code = output_of(None, script, keep_going=True)
    assert (out.splitlines()[-1], code) == ("toggle.0 latch", 1)


def test_comments_and_continued_lines_are_read_as_in_files() -> None:
    assert output_of(None, "# nothing\n\nloadrt toggle \\\n names=a,b # two\nlist comp\nquit\nlist comp") == ("a b\n", 0)


TYPED = [*WIRING.splitlines(), *AGAINST.splitlines(), "step 2", "show", "delf weak", "unlinkp weak.in", "meter trip"]
OTHER_TEXT = st.text(max_size=30).filter(lambda line: "save" not in line and "source" not in line)
LINES = st.sampled_from(TYPED) | OTHER_TEXT


@settings(max_examples=25)
@given(lines=st.lists(LINES, max_size=8))
def test_typed_lines_never_crash_or_write_files(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    folder = tmp_path_factory.mktemp("shell")
    load(GRAPH).memory.save(folder / "memory.sqlite")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    console = Console(open_session(str(folder / "memory.sqlite")), stdout=io.StringIO())
    for line in lines:
        console.onecmd(line)
    again = load(text(console.session))
    assert again.memory.cells["effective"].equals(console.session.memory.cells["effective"])
    assert list(again.net.instances) == list(console.session.net.instances)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_saved_stores_and_netlists_can_be_reopened(files: Path) -> None:
    script = AGAINST + "step 3\nsave\n" + WIRING + f"save {files / 'saved.malnet'}\n"
    out, code = output_of(files / "memory.sqlite", script)
    assert code == 0, out
    assert Memory.open(files / "memory.sqlite").cells["effective"].round(7).to_list() == [0.4430435, 1.0]
    again = open_session(str(files / "saved.malnet")).session
    assert [*again.net.instances] == ["weak", "alarm"]
    assert output_of(files / "saved.malnet", "step\ngetp alarm.out")[0] == "TRUE\n"


def test_scope_command_writes_the_recorded_ticks(files: Path) -> None:
    for kind in ("csv", "vcd", "png"):
        target = files / f"seen.{kind}"
        out, code = output_of(files / "alarm.malnet", f"step 3\nscope low trip out={target}")
        assert (code, out) == (0, f"wrote {target}\n")
    assert pl.read_csv(files / "seen.csv").height == 6
    assert "$var wire 1" in (files / "seen.vcd").read_text(encoding="utf-8")
    assert (files / "seen.png").read_bytes().startswith(b"\x89PNG")


def test_saving_a_reopened_file_changes_nothing(files: Path) -> None:
    target = files / "alarm.malnet"
    target.write_text(GRAPH + '\n\n# a note\n\n\nobs_b0b1 "it locked" conf(1)\n\n' + WIRING + "\n\n", encoding="utf-8")
    assert output_of(target, "save")[1] == 0
    once = target.read_text()
    assert output_of(target, "save")[1] == 0
    assert target.read_text() == once
    assert "# a note" in once


def test_store_with_replications_is_not_saved_as_a_netlist(files: Path) -> None:
    run = ms.run(ms.read("scenarios/worked_example.toml").replace(replications=2))
    run.memory.save(files / "two.sqlite")
    out, code = output_of(files / "two.sqlite", f"step\nsave {files / 'one.malnet'}\nsave")
    assert (code, "one replication" in out) == (1, True)
    assert not (files / "one.malnet").exists()
    assert output_of(files / "two.sqlite", "step\nsave")[1] == 0
    assert Memory.open(files / "two.sqlite").cells["rep"].n_unique() == 2


def test_ctrl_c_cancels_only_the_current_line(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(open_session(str(files / "alarm.malnet")), stdout=io.StringIO())
    typed = iter(["step", "^C", "step", "quit"])

    def ask(_: str) -> str:
        if (line := next(typed)) == "^C":
            raise KeyboardInterrupt
        return line

    monkeypatch.setattr("builtins.input", ask)
    assert hal.prompt(console) == 0
    assert console.session.day == 2.0


def test_source_command_translates_hal_files(files: Path) -> None:
    (files / "slow.hal").write_text("loadrt lowpass names=lp\nsetp lp.gain .2\n", encoding="utf-8")
    out, code = output_of(None, f"source {files / 'slow.hal'}\ngetp lp.gain\nptype lp.in")
    assert (out.splitlines(), code) == (["0.2", "float"], 0)


def test_addresses_can_follow_edges_and_versions(files: Path) -> None:
    (files / "chain.malnet").write_text('dec_a3ee "a" conf(.6)\ndec_b4ff "b" conf(.8)\ndec_b4ff supersedes> dec_a3ee (0)\n')
    commands = ("getp dec_b4ff@v1-scores-conf", "getp dec_b4ff.supersedes-scores-conf", "ptype dec_b4ff-scores-eff",
             "ptype dec_b4ff-flags-locked", "ptype dec_b4ff-writer", "ptype dec_b4ff.contradicts.*-scores-eff")  # fmt: skip
    out, code = output_of(files / "chain.malnet", "\n".join(commands))
    assert (out.split(), code) == (["0.6", "0.6", "float", "bit", "text", "float"], 0)


def test_due_ticks_run_before_the_next_command(files: Path) -> None:
    now = [0.0]
    console = Console(open_session(str(files / "alarm.malnet")), stdout=io.StringIO(), clock=lambda: now[0])
    console.onecmd("start 4")
    now[0] = 2.6
    console.onecmd("stop")
    now[0] = 9.0
    console.onecmd("show")
    assert console.session.day == 10.0


@pytest.mark.parametrize(
    ("before", "typed", "expected"),
    [
        (["net", "low"], "alarm.o", ["alarm.out", "alarm.out-not"]),
        (["show"], "p", ["pin", "param"]),
        (["loadrt"], "watch", ["watch", "watchdog"]),
        (["addf"], "we", ["weak"]),
        (["addf", "weak"], "", ["tick"]),
        (["gets"], "tr", ["trip"]),
        (["getp"], "dec_a3ee-scores-e", ["dec_a3ee-scores-eff"]),
        (["setp"], "reviewer", ["reviewer.ack", "reviewer.waiting"]),
    ],
)
def test_completion_offers_existing_names(files: Path, before: list[str], typed: str, expected: list[str]) -> None:
    session = open_session(str(files / "alarm.malnet")).session
    assert candidates(session, before, typed) == expected


def test_every_command_has_a_help_text() -> None:
    names = Console(open_session(None), stdout=io.StringIO()).names()
    out, code = output_of(None, "help")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == names
    assert all(f": {name}" in line for name, line in zip(names, out.splitlines(), strict=True) if name not in SECOND_NAMES)


def test_hal_command_runs_scripts_and_single_lines(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "drill.hal").write_text("step\nbad\ngetp alarm.out\n", encoding="utf-8")
    target, script = str(files / "alarm.malnet"), str(files / "drill.hal")
    assert main(["hal", target, "-c", "step 2", "-c", "getp weak.above"]) == 0
    assert capsys.readouterr().out == "TRUE\n"
    assert main(["hal", target, "-f", script]) == 1
    assert main(["hal", target, "-f", script, "-k"]) == 1
    assert capsys.readouterr().out.endswith("FALSE\n")
    assert main(["hal", str(files / "nothing.sqlite"), "-c", "list comp"]) == 2
    assert main(["hal", target, "-f", str(files / "none.hal")]) == 2


def test_session_can_continue_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["gets day", "step", "getp dec_a3ee-scores-eff", "net day clock.days", "step", "gets day"]
    assert main(["hal", "scenarios/worked_example.toml", "-k", *(part for word in words for part in ("-c", word))]) == 1
    run = ms.run("scenarios/worked_example.toml")
    effective = tick(run.memory, 13.0, run.scenario.rules).cells.filter(handle="dec_a3ee")["effective"][0]
    assert capsys.readouterr().out.splitlines()[1:] == [f"{effective:.7g}", "14"]


def test_session_opened_from_a_run_has_the_netlist() -> None:
    run = ms.run(ms.read("scenarios/worked_example.toml").replace(netlist=WIRING))
    session = of_run(run).session.stepped()
    assert list(session.net.instances) == ["weak", "alarm"]
    assert session.past[-1].signals["trip"] == 1.0


def test_shell_prompts_and_completes_in_a_terminal(files: Path) -> None:
    terminal, device = pty.openpty()
    words = [sys.executable, "-m", "malsim", "hal", str(files / "alarm.malnet")]
    environment = os.environ | {"TERM": "dumb"}
    with subprocess.Popen(words, stdin=device, stdout=device, stderr=device, env=environment) as shell:
        os.close(device)
        screen = b""
        for typed, awaited in ((b"", b"malsim: "), (b"getp alarm.out-\t\n", b"malsim: "), (b"quit\n", b"")):
            os.write(terminal, typed)
            screen += _until(terminal, awaited)
        assert shell.wait(60) == 0
    os.close(terminal)
    assert b"only save writes files" in screen
    assert b"getp alarm.out-not" in screen


def _until(terminal: int, awaited: bytes) -> bytes:
    """Read from the terminal until `awaited` appears or the output ends."""
    output = b""
    while not awaited or awaited not in output:
        ready, _, _ = select.select([terminal], [], [], 60)
        try:
            more = os.read(terminal, 4096) if ready else b""
        except OSError:  # the shell has exited
            break
        if not more:
            break
        output += more
    return output


def test_piped_input_is_run_as_a_script(files: Path) -> None:
    words = [sys.executable, "-m", "malsim", "hal", str(files / "alarm.malnet")]
    done = subprocess.run(words, input="step\ngets low\nwrong\ngets low\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "0.9")
    assert len(done.stdout.splitlines()) == 2


def test_abbreviated_addresses_and_option_save_are_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, target = tmp_path / "one.malnet", tmp_path / "low.csv"
    wires = "loadrt watch\nnet low watch.in < dec_a3ee-scores-eff\naddf watch tick\n"
    text.write_text('dec_a3ee "one" conf(.7)\n' + wires, encoding="utf-8")
    lines = ["step 2", "meter dec_a3-scores-conf", f"scope low --save {target}"]
    assert main(["hal", str(text), *(word for line in lines for word in ("-c", line))]) == 0
    assert "0.7" in capsys.readouterr().out
    assert len(target.read_text(encoding="utf-8").splitlines()) == 3
