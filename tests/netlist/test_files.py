"""Tests of netlist files that include other files with `source`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim.netlist.files import read
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.lexicon import LIMITS
from malsim.netlist.language.statements import Blank, Schedule

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        file = folder / f"{name.replace('__', '/')}.malnet"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "top.malnet"


def test_sourced_file_is_inlined_at_the_source_statement(tmp_path: Path) -> None:
    text, parts = "thread slow every 2\naddf a slow\nsource parts/one.malnet\naddf z tick", "addf b slow\nsource two.malnet"
    top = write(tmp_path, top=text, parts__one=parts, parts__two="addf c tick")
    document = read(top)
    assert [statement.op for statement in document.statements if isinstance(statement, Schedule)] == [*"abcz"]
    assert [statement.line for statement in document.statements] == [1, 2, 1, 1, 4]
    assert document.statements[3].file.endswith("parts/two.malnet")


def message_of(top: Path) -> str:
    with pytest.raises(NetlistError) as refused:
        read(top)
    return str(refused.value)


def test_source_cannot_include_files_outside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.malnet").write_text("addf x tick")
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "link.malnet").symlink_to(tmp_path / "secret.malnet")
    absolute = (tmp_path / "secret.malnet").as_posix()
    lines = ["source ../secret.malnet", "source link.malnet", f"source {absolute}", "source sub/../../secret.malnet"]
    top = write(inside, top="\n".join(lines))
    assert message_of(top).count("must lie in the folder") == 4


def test_each_file_is_read_once(tmp_path: Path) -> None:
    top = write(tmp_path, top="source a.malnet\nsource a.malnet", a="source top.malnet")
    text = message_of(top)
    assert text.count("already read as") == 2
    assert "a.malnet:1:8" in text
    assert "top.malnet:2:8" in text


def test_nesting_depth_of_sources_is_limited(tmp_path: Path) -> None:
    files = {f"f{number}": f"source f{number + 1}.malnet" for number in range(LIMITS["depth"] + 2)}
    assert "too deep" in message_of(write(tmp_path, top="source f0.malnet", **files))


def test_unreadable_file_is_reported_at_the_source_statement(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    top = write(tmp_path, top='source none.malnet\nsource folder\nsource "nul\x00.malnet"\nnet x', bad="")
    text = message_of(top)
    assert text.count("no such file") == 2
    assert "top.malnet:3:8: not a path" in text or text.count("no such file") == 3
    assert "top.malnet:4" in text
    assert "no such file" in message_of(tmp_path / "missing.malnet")


def test_total_size_of_files_is_limited(tmp_path: Path) -> None:
    top = write(tmp_path, top="source big.malnet")
    with (tmp_path / "big.malnet").open("wb") as big:
        big.truncate(LIMITS["file_bytes"] + 1)
    assert "the files are too large" in message_of(top)


def test_thread_may_be_declared_in_another_file(tmp_path: Path) -> None:
    top = write(tmp_path, top="source threads.malnet\naddf a slow", threads="thread slow every 2\n\n")
    assert Blank() in read(top).statements
    assert "no such thread" in message_of(write(tmp_path, top="addf a slow\nsource threads.malnet"))
