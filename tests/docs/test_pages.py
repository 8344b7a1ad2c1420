"""Tests that commands and Python code from all manual pages run in a folder with the shipped examples."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.examples import copy, examples
from malsim.parsers import main_parser
from malsim.scenario.properties.parse import parse
from malsim.showing.manual import page, pages
from tests.docs import printed

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {entry.topic: entry for entry in pages()}
LONG = {
    "tune/stability", "tune/studies", "tune/tune", "test/axioms", "test/price", "validate/netlist", "validate/signals",
    "validate/tripwire", "memories/compare", "memories/import", "memories/store", "explanation/determinism",
}  # fmt: skip
TYPED = [pytest.param(topic, marks=[pytest.mark.nightly] if topic in LONG else []) for topic in PAGES]
TRUSTS_CODE = {"--allow-code", "--memory", "op"}  # commands that import a page's modules run in a separate process
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


def blocks(topic: str) -> list[tuple[str, str, str]]:
    return [(match[1], match[2] or "", match[3]) for match in BLOCK.finditer(PAGES[topic].read())]


def commands(code: str) -> list[str]:
    joined = code.replace("\\\n", " ")
    return [line for line in joined.splitlines() if shlex.split(line, comments=True)]


@pytest.mark.parametrize("topic", PAGES)
def test_manual_page_has_a_title_and_text(topic: str) -> None:
    entry = page(topic)
    assert entry.title
    assert entry.read().startswith("# ")
    assert page(entry.name).topic == topic


@pytest.mark.parametrize("topic", TYPED)
def test_commands_in_manual_pages_work(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not any(language in {"sh", "python"} for language, _, _ in blocks(topic)):
        return
    copy([example.name for example in examples()], tmp_path)
    bin_folder = os.path.dirname(sys.executable)  # noqa: PTH120
    environment = os.environ | {"MPLBACKEND": "agg", "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    for _, name, code in blocks(topic):
        if name:
            (tmp_path / name).write_text(code, encoding="utf-8")
    python = "\n".join(code for language, _, code in blocks(topic) if language == "python")
    lines = [line for language, _, code in blocks(topic) if language == "sh" for line in commands(code)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    for line in (shlex.split(line, comments=True) for line in lines):
        if line[0] == "malsim" and not TRUSTS_CODE & {*line}:
            assert main(line[1:]) in (0, 1), f"{line}\n{capsys.readouterr()}"
        else:
            run(line, environment)
    if python:
        run([sys.executable, "-c", python], environment)


def run(line: list[str], environment: dict[str, str]) -> None:
    words = [sys.executable, "-m", "malsim", *line[1:]] if line[0] == "malsim" else line
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), f"{line}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("topic", PAGES)
def test_commands_shown_in_manual_pages_can_be_parsed(topic: str) -> None:
    for language, _, code in blocks(topic):
        if language == "console":
            for line in commands(code):
                words = shlex.split(line, comments=True)
                if words[0] == "malsim":
                    main_parser().parse_args(words[1:])


def test_example_properties_in_the_manual_can_be_parsed() -> None:
    (code,) = [code for language, _, code in blocks("test/check") if language == "property"]
    for line in code.splitlines():
        parse(line)


def test_manual_is_short_and_its_pages_are_found_by_name() -> None:
    assert len(PAGES) <= 28
    assert page("decay").read().startswith("# Decay\n")
    with pytest.raises(UsageError, match="no such page"):
        page("decays")


@pytest.mark.nightly
@pytest.mark.parametrize("path", printed.PAGES[1:], ids=lambda path: path.stem)
def test_printed_output_in_pages_matches_the_commands(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert printed.refreshed(text) == text
