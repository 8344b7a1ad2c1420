"""What the README shows works as it stands."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from malsim.cli import main
from malsim.examples import copy, examples
from malsim.parsers import main_parser

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, flags=re.DOTALL)
PYTHON = "\n".join(code for language, code in BLOCKS if language == "python")


def test_its_python_runs_in_one_go_and_prints_the_worked_example(tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    done = subprocess.run([sys.executable, "-c", PYTHON], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0.9, 0.44, 0.32]\n")


def test_its_commands_are_those_that_exist() -> None:
    shell = "\n".join(code for language, code in BLOCKS if language == "sh")
    assert TEXT.count("\n") <= 150
    for command in set(re.findall(r"malsim (\w+)", shell)):
        assert any((ROOT / "malsim" / "commands" / f"{command}{end}.py").is_file() for end in ("", "_")), command


def test_its_set_up_commands_stand_in_it() -> None:
    assert 'pip install -c constraints.txt -e ".[test]" && pytest\n' in TEXT
    assert "pip install -c constraints.txt -e . && malsim run scenarios/mutual_dispute.toml\n" in TEXT


@pytest.mark.parametrize("path", sorted(set(re.findall(r"(?:scenarios|tests|malsim|ops)/[\w./]*\w", TEXT))))
def test_its_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()


WANTED = re.findall(r"^\|[^|]*\| `(malsim[^|]*)` \|", TEXT, flags=re.MULTILINE)
SLOW = ("compare", "run", "test", "tune", "tripwire")  # the tests of the manual's pages run them


def test_what_i_want_to_do_is_done_by_the_command_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy([example.name for example in examples()], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert len(WANTED) > 10
    for row in " && ".join(WANTED).split(" && "):
        words = shlex.split(row)[1:]
        assert main_parser().parse_args(words)
        if words[0] not in SLOW:
            assert main(words) in (0, 1), row


@pytest.mark.nightly
def test_what_takes_longer_is_done_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy([example.name for example in examples()], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["new", "mine.py", "--template", "memory"]) == 0
    for row in " && ".join(WANTED).split(" && "):
        words = shlex.split(row)[1:]
        if words[0] in SLOW:
            assert main(words) in (0, 1), row


def test_the_first_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy([example.name for example in examples()], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    lines = next(code for language, code in BLOCKS if language == "sh" and code.startswith("malsim judge")).splitlines()
    for line in lines[1:]:  # the price of laws is held to the shared table by its own tests
        for command in " ".join(shlex.split(line, comments=True)).split(" && "):
            assert main(command.split()[1:]) in (0, 1), command


def test_its_prices_are_those_of_the_table() -> None:
    prices = json.loads((ROOT / "tests" / "vectors" / "price" / "k3.json").read_text(encoding="utf-8"))
    rows = re.findall(r"^\| ([^|]*`[^|]*) \| (\d+) \| (\d+) \| [\d.]+ \|$", TEXT, flags=re.MULTILINE)
    assert len(rows) > 5
    for names, lie, truth in rows:
        for name in set(re.findall(r"`(\w+)`", names)) & set(prices) - ({"mal"} if "guarded" in names else set()):
            ways = {side: {way: price for way, (_, price) in prices[name][side].items() if price} for side in prices[name]}
            ways["lie"].pop("earns", None)  # a step of which is many claims
            assert [min(ways["lie"].values()), min(ways["truth"].values())] == [int(lie), int(truth)], name
