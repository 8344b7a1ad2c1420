"""Sandbox for memories: an attack fails only the attacking memory and leaves no processes or files behind."""

from __future__ import annotations

import faulthandler
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from malsim.adapters import Claim, Query
from malsim.adapters.engine.host import Ask
from malsim.adapters.engine.sandbox import Sandbox
from malsim.adapters.foreign_code import MARK
from malsim.cli import main
from tests.adapters.user_memories import Last

POISONER = Path(__file__).parents[2] / "scenarios/poisoner.toml"
LIMIT = 0.3
pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


def _swallows() -> None:
    while True:
        with suppress(BaseException):  # simulates a memory that swallows every exception
            time.sleep(LIMIT)


ATTACKS: dict[str, tuple[Callable[[], object], str]] = {
    "exits": (lambda: os._exit(0), r"its process ended \(exit code 0\)"),
    "crashes": (faulthandler._sigsegv, r"its process ended \(SIGSEGV\)"),  # type: ignore[attr-defined]
    "holds the lock": (lambda: re.match("(a+)+$", "a" * 40 + "b"), "did not return within 0.3 s"),
    "swallows": (_swallows, "did not return within 0.3 s"),
    "system exit": (lambda: sys.exit(0), "raised SystemExit"),
    "interrupts": (lambda: (_ for _ in ()).throw(KeyboardInterrupt()), "raised KeyboardInterrupt"),
    "eats": (lambda: bytearray(10**13), "raised MemoryError"),
}


def _memory(attack: Callable[[], object]) -> type:
    class Attacks(Last):
        def write(self, claims: Any, now: float) -> None:
            if claims[0].value == "bad":
                attack()
            super().write(claims, now)

    return Attacks


@pytest.fixture(name="folders")
def _folders() -> Iterator[set[str]]:
    """Fail if the test leaves a sandbox process running."""
    before = _sandboxes_here()
    yield before
    assert _sandboxes_here() <= before


def _sandboxes_here() -> set[str]:
    """Return the sandbox folders of all child processes of the test process."""
    folders = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            parent = (path.parent / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
            marks = [item for item in path.read_bytes().split(b"\0") if item.startswith(MARK.encode())]
        except OSError:
            continue
        folders |= {mark.decode().partition("=")[2] for mark in marks if parent == str(os.getpid())}
    return folders


def _asks(rep: int, value: str) -> list[Ask]:
    claim = Claim(0.0, "ann", "o", value)
    return [Ask(rep, "factory"), Ask(rep, "write", 0.0, [claim]), Ask(rep, "peek", 0.0, Query("o"), 5)]


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize("name", ATTACKS)
def test_attack_fails_only_the_attacking_memory(name: str) -> None:
    attack, problem = ATTACKS[name]
    with closing(_Stopping(_memory(attack))) as sandbox:
        _, broken = sandbox.run(_asks(0, "bad"))
        assert re.search(problem, broken[0].problem)
        answers, broken = sandbox.run([*_asks(1, "fine"), Ask(0, "peek", 0.0, Query("o"), 5)])
        assert answers[2][0].value == "fine"
        assert {item.position for item in broken} <= {3}


class _Stopping(Sandbox):
    def __init__(self, memory: type) -> None:
        super().__init__(memory, "attacks", limit=LIMIT)

    close = Sandbox.stop


def test_sandbox_removes_its_child_processes_and_files(tmp_path: Path) -> None:
    note = tmp_path / "note"

    def attack() -> None:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        folder = tempfile.mkdtemp()
        os.fork()
        note.write_text(f"{child.pid} {folder}", encoding="utf-8")
        sys.stdout.write("\x1b[31mnoise")

    with closing(_Stopping(_memory(attack))) as sandbox:
        assert sandbox.run(_asks(0, "bad"))[0][2][0].value == "bad"
    child, folder = note.read_text(encoding="utf-8").split()
    assert not Path(folder).parent.exists()
    assert ended(child)


def ended(process: str) -> bool:
    """Return whether the process ends within five seconds. A zombie counts as ended."""
    for _ in range(100):
        try:
            if Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_killed_program_leaves_no_sandbox_folder(tmp_path: Path) -> None:
    code = (
        "import os\nfrom malsim.adapters.engine.host import Ask\nfrom malsim.adapters.engine.sandbox import Sandbox\n"
        "sandbox = Sandbox('tests.adapters.user_memories:Last', 'last', limit=1.0)\nsandbox.run([Ask(0, 'factory')])\n"
        "open('folder', 'w').write(sandbox.child.folder)\nos.kill(os.getpid(), 9)\n"
    )
    root = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": root}, check=False)
    folder = Path((tmp_path / "folder").read_text(encoding="utf-8"))
    for _ in range(200):
        if not folder.exists():
            break
        time.sleep(0.02)
    assert not folder.exists()


def test_memory_that_exits_during_a_write_fails_each_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "exits.py").write_text(
        "import os\nfrom tests.adapters.user_memories import Last\n\n\nclass Exits(Last):\n"
        "    def write(self, claims, now):\n        os._exit(0)\n"
    )
    commands = [
        ["run", str(POISONER), "--no-plots", "--replications", "1", "--memory", "exits:Exits"],
        ["judge", "exits:Exits", "--case", "bounds"],
        ["judge", "exits:Exits", "--case", "T2"],
        ["judge", "exits:Exits", "--case", "sybils"],
    ]
    for command in commands:
        assert main(command) == 2
        printed = capsys.readouterr()
        assert "its process ended (exit code 0)" in printed.out + printed.err
