"""Tests for templates, shell completion, Python completion and hints about missing files."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import malsim as ms
from malsim.cli import main
from malsim.commands.new import TEMPLATES

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["world", "claims", "tripwire"])
def test_scenario_from_a_template_passes_its_checks(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "my.toml")
    assert main(["new", path, "--template", name]) == 0
    assert main(["test", path]) == 0
    assert main(["new", path, "--template", name]) == 2


@pytest.mark.parametrize(
    ("name", "pattern", "replacement", "failing"),
    [
        ("world", r"accuracy = 0\.9", "accuracy = 0.3", "after day 20 the pump's true state is the answer most of the time"),
        ("claims", r'\[\[claim\]\]\nat = "9d"\nwriter = "cyd"\n(.+\n)+', "", "support restores part of the loss"),
    ],
)
def test_template_check_fails_if_its_precondition_is_removed(
    name: str, pattern: str, replacement: str, failing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my.toml"
    assert main(["new", str(path), "--template", name]) == 0
    text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"))
    assert count == 1
    path.write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert main(["test", str(path)]) == 1
    assert re.findall(r": fail: ([^:]+):", capsys.readouterr().out) == [failing]


@pytest.mark.parametrize("command", ["checks.toml --template checks", "voter.py --template memory", "a.yml --template ci"])
def test_printed_next_steps_run_outside_the_repository(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["new", *command.split()]) == 0
    steps = [line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.startswith("  malsim ")]
    for step in steps:
        if step[0] not in ("docs", "judge"):  # neither reads a file that could be missing
            assert main(step) == 0, step
    Path(command.split(maxsplit=1)[0]).unlink()
    capsys.readouterr()
    assert main(["new", *command.split()]) == 0
    assert "malsim examples" not in capsys.readouterr().out  # what was missing exists now


def test_memory_from_a_template_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my_memory.py", "--template", "memory"]) == 0
    monkeypatch.syspath_prepend(str(tmp_path))
    script = 'why = "w"\n[run]\ndays = 4\n[[facts]]\nname = "pump"\n[[writers]]\nbehaviour = "honest"\nrate = 3.0\n'
    Path("s.toml").write_text(script, encoding="utf-8")
    run = ms.run("s.toml", memory="my_memory:Latest")
    assert run.cells.height
    assert "my_memory:Latest" in Path("my_memory.py").read_text(encoding="utf-8")


def test_ci_workflow_runs_in_a_shell_and_annotates_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", ".github/workflows/memory.yml", "--template", "ci"]) == 0
    text = Path(".github/workflows/memory.yml").read_text(encoding="utf-8")
    assert re.search(r'^  MALSIM: "malsim @ git\+https://[^"]+@COMMIT"$', text, re.MULTILINE)
    assert "cache: pip" in text
    assert f"wheels/malsim-{version('malsim')}-py3-none-any.whl" in text
    Path("scenarios").mkdir()
    assert main(["new", "scenarios/my.toml", "--template", "claims"]) == 0
    scenario = Path("scenarios/my.toml")
    scenario.write_text(scenario.read_text(encoding="utf-8").replace("< 0.7)", "< 0.1)"), encoding="utf-8")
    pip = Path("bin/pip")
    pip.parent.mkdir()
    pip.write_text('#!/bin/sh\necho "$@" > installed.txt\n', encoding="utf-8")
    pip.chmod(0o755)
    scripts = re.findall(r"run: (?:\|\n)?(.*?)(?=\n      - |\Z)", text, re.DOTALL)
    path = os.pathsep.join((str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "MALSIM": "wheels/m.whl", "OPTIONS": "--law mal", "PATH": path}
    shell = shutil.which("bash") or "bash"
    done = [
        subprocess.run([shell, "-e", "-c", script], env=environment, capture_output=True, text=True, check=False)
        for script in scripts
    ]
    assert [process.returncode for process in done] == [0, 1], done
    assert Path("installed.txt").read_text(encoding="utf-8") == "install wheels/m.whl\n"
    line = next(number for number, text in enumerate(scenario.read_text().splitlines(), 1) if "< 0.1)" in text)
    (note,) = [text for text in done[1].stdout.splitlines() if text.startswith("::")]
    assert note.startswith(
        f"::error file=scenarios/my.toml,line={line},title=the dispute lowers the decision (fail)::replication 0"
    )
    assert Path("report.xml").exists()
    assert Path("report.html").exists()


def test_ci_action_inputs_are_never_run_as_commands() -> None:
    text = (ROOT / ".ci/action/action.yml").read_text(encoding="utf-8")
    for script in re.findall(r"run: (?:\|\n)?(.*?)(?=\n    - |\Z)", text, re.DOTALL):
        assert "${{" not in script


@pytest.mark.parametrize(("name", "ending"), [(name, ending) for name, (_, ending, _) in TEMPLATES.items()])
def test_wrong_file_ending_is_refused_with_a_suggestion(
    name: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", str(tmp_path / "my.txt"), "--template", name]) == 2
    assert f"my{ending}" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_contains_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", shell])
    assert ended.value.code == 0
    output = capsys.readouterr().out
    for word in ("charter", "stability", "replications"):
        assert word in output


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is installed")
def test_bash_completes_commands_options_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    (tmp_path / "poisoner.toml").touch()
    (tmp_path / "completion.bash").write_text(capsys.readouterr().out, encoding="utf-8")
    script = """source completion.bash
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_malsim "$@"; echo "${COMPREPLY[@]}"; }
try malsim stab; try malsim run --replication; try malsim store char; try malsim run poi; try malsim run --html poi"""
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S607
    commands, options, inner, *files = done.stdout.splitlines()
    assert commands == "stability"
    assert set(options.split()) == {"--replications", "--replication"}
    assert inner == "charter"
    assert files == ["poisoner.toml", "poisoner.toml"]


def test_python_completion_offers_names_and_signatures() -> None:
    assert {name for name in dir(ms) if not name.startswith("_")} == set(ms.__all__)
    for name in ("run", "tune", "stability", "replay", "compare", "axioms"):
        assert name in dir(ms)
        kinds = [parameter.kind for parameter in inspect.signature(getattr(ms, name)).parameters.values()]
        assert inspect.Parameter.POSITIONAL_OR_KEYWORD in kinds, name


def test_checks_from_a_template_hold_for_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["import", str(ROOT / "scenarios/stores/atlas.json"), "-o", "memory.sqlite"]) == 0
    assert main(["new", "checks.toml", "--template", "checks"]) == 0
    assert main(["test", "--on", "memory.sqlite", "checks.toml"]) == 0


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (["run", "poisoner.toml"], "`malsim examples poisoner -o .` writes scenarios/poisoner.toml"),
        (["judge", "mine:Votes"], "create it with `malsim new mine.py --template memory`"),
    ],
)
def test_missing_file_error_suggests_a_command(
    command: list[str], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    assert hint in capsys.readouterr().err
