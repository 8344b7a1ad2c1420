"""Tests for the README: code, commands, output and figures."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from malsim.cli import main
from malsim.examples import copy
from malsim.parsers import main_parser
from tests.docs import pictures, printed

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, flags=re.DOTALL)
PYTHON = "\n".join(code for language, code in BLOCKS if language == "python")


def test_python_code_in_the_readme_prints_the_shown_output(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PYTHON], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0.44\n0.32\n")


def test_readme_is_short_and_has_both_install_commands() -> None:
    assert TEXT.count("\n") <= 150
    assert 'pip install -c constraints.txt -e ".[test]" && pytest\n' in TEXT
    assert "pip install -c constraints.txt -e . && malsim run scenarios/mutual_dispute.toml\n" in TEXT


def test_output_in_the_readme_matches_the_commands() -> None:
    assert printed.refreshed(TEXT) == TEXT


GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:scenarios|tests|malsim|ops)/[\w./]*\w)", TEXT + GUIDE))))
def test_paths_in_readme_and_contributing_exist(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("name", "path"), re.findall(r"`([A-Z]\w+)` of `(malsim/[\w/]+\.py)`", GUIDE))
def test_names_in_contributing_occur_in_their_files(name: str, path: str) -> None:
    assert re.search(rf"^{name}\b", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE)


COMMANDS = re.findall(r"`(malsim [^`]+)`|^(malsim .+)$", TEXT, flags=re.MULTILINE)
TYPED = [" ".join((code or line).split()) for code, line in COMMANDS]
PLACEHOLDERS = {"COMMAND", "NAME"}


def typed(command: str) -> list[str] | None:
    words = shlex.split(command)[1:]
    return None if PLACEHOLDERS & {*words} or words[0] == "workbench" else words


def test_commands_in_the_readme_can_be_parsed() -> None:
    assert len(TYPED) > 15
    for command in TYPED:
        if words := typed(command):
            assert main_parser().parse_args(words), command


@pytest.mark.nightly
def test_commands_in_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy([], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    for command in sorted(
        TYPED, key=lambda command: "import" not in command
    ):  # run the imports first, because they create the stores
        if words := typed(command):
            assert main(words) in (0, 1), command


@pytest.mark.nightly
@pytest.mark.parametrize("name", pictures.pictures())
def test_stored_figures_match_the_shipped_scenarios(name: str) -> None:
    figure = pictures.pictures()[name]()
    assert figure is not None
    path = ROOT / "scenarios" / name
    with Image.open(path) as stored:
        figure.savefig(buffer := io.BytesIO(), format="png", dpi=pictures.DPI)
        assert stored.size == Image.open(buffer).size
        difference = ImageChops.difference(stored.convert("L"), Image.open(buffer).convert("L"))
    assert ImageStat.Stat(difference).mean[0] < 1.0
    assert path.stat().st_size < 400_000
