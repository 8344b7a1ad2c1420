"""Sandbox for commands that run third-party code: an attack fails the command and leaves no processes or files."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from malsim.adapters import foreign_code
from malsim.adapters.engine import sandbox
from malsim.adapters.engine.sandbox import Child, run_sandboxed
from malsim.adapters.foreign_code import MARK
from malsim.base.errors import AdapterError
from malsim.cli import main
from malsim.laws import registry_reset
from tests.laws.test_foreign_laws import LAW, install

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
ROOT = str(Path(__file__).parents[2])
CALL = """
import os, re, subprocess, tempfile, time, pytest
import sys
from malsim.adapters.foreign_code import noted
with noted("theirs", 0.3):
    {}
print("done")
sys.exit(1)
"""
WORLD = """why = "x"
[run]
days = 3
turn_every = "1d"
[[facts]]
name = "pump"
[[writers]]
behaviour = "honest"
{}[[check]]
name = "one of both"
property = "always (right(pump) >= 0)"
"""
ATTACKS = {
    "exits": ("os._exit(0)", r"theirs: its process ended \(exit code 0\)"),
    "crashes": ("import faulthandler; faulthandler._sigsegv()", r"theirs: its process ended \(SIGSEGV\)"),
    "holds the lock": ('re.match("(a+)+$", "a" * 40 + "b")', "theirs: did not return within 0.3 s"),
}


@pytest.fixture(autouse=True)
def _no_leftovers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if the test leaves a sandbox process or a sandbox folder behind."""
    children: list[Child] = []

    class Recorded(Child):
        def __init__(self, *words: str, **rest: object) -> None:
            super().__init__(*words, **rest)  # type: ignore[arg-type]
            children.append(self)

    monkeypatch.setattr(sandbox, "Child", Recorded)
    monkeypatch.delenv(MARK, raising=False)
    yield
    for child in children:
        assert not Path(child.folder).exists()
        for _ in range(100):  # killed processes may take a moment to end
            if not _processes_of(child.folder):
                break
            time.sleep(0.05)
        assert not _processes_of(child.folder)


def _processes_of(folder: str) -> list[str]:
    return [mark for mark in map(_mark, Path("/proc").glob("[0-9]*/environ")) if mark.startswith(folder)]


def _mark(path: Path) -> str:
    try:
        words = path.read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((item.decode().partition("=")[2] for item in words if item.startswith(MARK.encode())), "")


def _in_sandbox(monkeypatch: pytest.MonkeyPatch, call: str) -> int:
    monkeypatch.setattr(sandbox, "COMMAND", f"exec({CALL.format(call)!r})")
    return run_sandboxed([])


@pytest.mark.parametrize("name", ATTACKS)
def test_failing_call_is_named_in_the_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, problem = ATTACKS[name]
    with pytest.raises(AdapterError, match=problem):
        _in_sandbox(monkeypatch, call)


LEFTOVERS = (
    "os.fork()",
    "os.fork() or time.sleep(60)",
    "subprocess.Popen(['sleep', '60'])",
    "tempfile.mkdtemp()",
)


@pytest.mark.parametrize("call", LEFTOVERS)
def test_leftover_processes_and_files_are_removed(
    call: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _in_sandbox(monkeypatch, call) == 1
    assert capsys.readouterr().out == "done\n"


def test_stdin_read_before_the_sandbox_reaches_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "COMMAND", f"exec({CALL.format('print(input())')!r})")
    assert run_sandboxed([], given="an event\n") == 1
    assert capsys.readouterr().out == "an event\ndone\n"


def test_python_program_may_load_third_party_code() -> None:
    foreign_code.before_loading("theirs")
    with foreign_code.noted("theirs"):
        pass
    with foreign_code.command_process(), pytest.raises(foreign_code.NeedsSandboxError):
        foreign_code.before_loading("theirs")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    body = "import os; os._exit(0)"
    install(tmp_path, "their_exiting_law", LAW.format(function="belief", body=body), "theirs")
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    (scenarios / "law.toml").write_text(WORLD.format('[memory]\nlaw = "theirs"\n'), encoding="utf-8")
    (tmp_path / "clerks.py").write_text(f"def clerk(env, desk):\n    yield env.timeout(1.5)\n    {body}\n", encoding="utf-8")
    (tmp_path / "clerk.toml").write_text(WORLD.format('[[process]]\nrun = "clerks:clerk"\n'), encoding="utf-8")
    registry_reset()
    yield tmp_path
    registry_reset()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "who"),
    [
        (["run", "scenarios/law.toml", "--no-plots"], "law theirs (their_exiting_law)"),
        (["test", "clerk.toml", "--allow-code"], "process clerks:clerk"),
    ],
)
def test_exit_in_third_party_code_fails_the_command(words: list[str], who: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err == f"malsim: {who}: its process ended (exit code 0); report it to its author\n"


def test_pytest_runs_third_party_laws_in_a_sandbox(folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "scenarios"]
    environment = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": ""}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "1 error" in result.stdout
    assert "law theirs (their_exiting_law): its process ended (exit code 0)" in result.stdout
