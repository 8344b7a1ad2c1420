"""Tests that terminals, reports and figures show foreign text without control characters or credentials."""

from __future__ import annotations

import io
import unicodedata
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

import malsim as ms
from malsim.base.errors import MalsimError
from malsim.base.files.outputs import folder_of_files, save_text
from malsim.base.plain_text import PlainStream, one_line, plain_text
from malsim.base.screen.credentials import stand_in
from malsim.cli import main
from malsim.showing.plots.style import sheet

NAMES = "$$ x_1 $\\alpha \x1b[31m\u202e"
SCENARIO = """why = "text is text"
seed = 1
[run]
days = 3
[[claim]]
at = "0d"
writer = "ann"
handle = "obs_a1a1"
title = "costs $$ and $x_1"
confidence = 0.5
[[check]]
name = "a\\nb \\u001b[31m $$ \\u202e"
property = "always (eff(obs_a1a1) >= 2/3)"
"""


@given(st.text())
def test_displayed_text_contains_no_control_characters(text: str) -> None:
    plain = plain_text(text)
    assert not {unicodedata.category(letter) for letter in plain if letter not in "\t\n"} & {"Cc", "Cs"}
    direction_marks = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not {unicodedata.bidirectional(letter) for letter in plain} & direction_marks
    assert plain_text(plain) == plain
    assert "\n" not in one_line(text)


def test_error_messages_withhold_credentials_in_every_part() -> None:
    token = stand_in("GitHub token")
    for parts in ({"where": token}, {"given": token}, {"allowed": token}, {"hint": token}):
        assert token not in str(MalsimError("wrong", **parts))
    assert "withheld: GitHub token" in str(MalsimError(f"no file {token}"))


def test_plain_stream_escapes_control_characters() -> None:
    buffer = io.StringIO()
    print("a\x1b[2Jb", file=PlainStream(buffer))
    assert buffer.getvalue() == "a\\u001b[2Jb\n"


def test_figures_draw_dollar_signs_as_typed() -> None:
    figure = sheet()
    axes = figure.subplots()
    axes.set_title(NAMES)
    axes.set_yscale("log")
    axes.plot([1, 2], [1, 1000], label="$$")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png")
    texts = {(text.get_text(), text.get_parse_math()) for text in figure.findobj(Text)}
    assert {(plain_text(NAMES), False), ("$$", False)} <= texts
    assert not {(plain_text(NAMES), True), ("$$", True)} & texts
    assert any(parsed for text, parsed in texts if "mathdefault" in text)


def test_hostile_names_are_escaped_in_lines_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, junit, page = tmp_path / "t.toml", tmp_path / "t.xml", tmp_path / "t.html"
    path.write_text(SCENARIO, encoding="utf-8")
    assert main(["test", str(path), "--junit", str(junit), "--html", str(page)]) == 1
    output = capsys.readouterr().out
    assert "fail: a\\nb \\u001b[31m $$ \\u202e: replication 0, day 1: expected eff(obs_a1a1) >= 2 / 3" in output
    ET.parse(junit)  # noqa: S314  # our own
    for text in (output, junit.read_text("utf-8"), page.read_text("utf-8")):
        assert not {"\x1b", "\u202e"} & set(text)
    assert main(["run", str(path), "-o", str(tmp_path / "out")]) == 0


def test_failed_write_is_explained_and_keeps_the_old_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, file = tmp_path / "t.toml", tmp_path / "file"
    path.write_text(SCENARIO, encoding="utf-8")
    file.write_text("mine")
    assert main(["run", str(path), "-o", str(file)]) == 2
    assert main(["test", str(path), "--junit", str(tmp_path)]) == 2
    assert main(["test", str(path), "--html", "a\0b"]) == 2
    assert file.read_text() == "mine"
    message = capsys.readouterr().err
    assert "a file with the name of this folder already exists" in message
    assert "this is a folder" in message


def test_interrupted_write_leaves_the_old_file_or_no_file(tmp_path: Path) -> None:
    old = tmp_path / "run"
    run = ms.run(ms.read(_written(tmp_path)))
    run.write(old)
    before = {file.name: file.read_bytes() for file in old.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        _interrupted(old)
    assert {file.name: file.read_bytes() for file in old.iterdir()} == before
    save_text(tmp_path / "a.txt", "whole")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "run", "t.toml"]


def _interrupted(folder: Path) -> None:
    with folder_of_files(folder) as temporary:
        (temporary / "cells.parquet").write_bytes(b"half")
        raise KeyboardInterrupt


def _written(folder: Path) -> str:
    (folder / "t.toml").write_text(SCENARIO, encoding="utf-8")
    return str(folder / "t.toml")


def test_exception_is_reported_as_a_bug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> int:
        raise IndexError(stand_in("GitHub token"))

    monkeypatch.setattr("malsim.commands.docs.main", broken)
    assert main(["docs", "--schema"]) == 2
    message = capsys.readouterr().err
    assert "this is a bug: IndexError" in message
    assert "please report" in message
    assert stand_in("GitHub token") not in message
