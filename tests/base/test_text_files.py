"""Handling of byte order marks and UTF-16 in every text format."""

from __future__ import annotations

import codecs
import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from malsim.adapters.mapping import read_mapping
from malsim.agents.configuration import configuration
from malsim.base.errors import DataError, MalsimError
from malsim.base.files.table_files import read_table
from malsim.base.files.text_files import read_text
from malsim.importers.building.bring import bring
from malsim.memory import Rules
from malsim.netlist import NetlistError, parse
from malsim.netlist.hal import read_hal
from malsim.netlist.hal.tokens import ini_variables
from malsim.scenario.file.scenario_file import holds_rules_alone, read

CHECK = 'why = "x"\n[run]\ndays = 2\n[[claim]]\nat = "0d"\nwriter = "a"\ntitle = "t"\nconfidence = 0.5\n'
CHECK += '[[check]]\nname = "n"\nproperty = "always (size(t) >= 0)"\n'
GRAPH = '{"type": "entity", "name": "pump", "entityType": "x", "observations": ["runs"]}\n'
CELLS = '{"cells": [{"key": "k", "handle": "obs_a1a1", "kind": "obs", "title": "t", "edgesOut": []}]}'
STEP = '[[{}]]\ntool = "x"\narguments = {{ text = "{{text}}" }}\n'


def _titles(path: Path) -> list[str]:
    return bring(path).memory.cells["title"].to_list()


def _objects(path: Path) -> list[str]:
    return bring(path.parent).memory.cells["object"].to_list()


def _codex(path: Path) -> str:
    return "".join(configuration("codex", path.parent.parent, "s.sqlite", "ann").values())


FORMATS: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "scenario": ("a.toml", CHECK, lambda path: len(read(path).checks)),
    "rules": ("rules.toml", "[rules]\ndamping = 0.5\n", lambda path: Rules.read(path).damping),
    "netlist": ("a.malnet", "loadrt watch names=low\n", lambda path: len(parse(path.read_bytes(), file="a").statements)),
    "hal": ("a.hal", "loadrt threads name1=t period1=1000000\n", lambda path: str(read_hal(path.read_bytes(), file="a"))),
    "ini": ("a.ini", "[JOINT_0]\nSCALE = 200\n", lambda path: ini_variables(read_text(path))),
    "csv": ("a.csv", "writer,object\nann,a\n", lambda path: read_table(path).rows(named=True)),
    "ndjson": ("a.ndjson", '{"writer": "ann"}\n', lambda path: read_table(path).rows(named=True)),
    "memory file": ("m.jsonl", GRAPH, _titles),
    "archive": ("a.json", CELLS, _titles),
    "notes": ("notes/a.md", "- [port] listens on 8443\n", lambda path: _titles(path.parent)),
    "note": ("notes/a.md", "a plain first line\n", lambda path: _titles(path.parent)),
    "front matter": ("notes/a.md", "---\ntitle: T\n---\n- [a] b\n", _objects),
    "memory folder": ("m/MEMORY.md", "- it runs\n", lambda path: _titles(path.parent)),
    "mapping": ("s.toml", STEP.format("write") + STEP.format("read"), lambda path: read_mapping(path).tools),
    "agent's settings": (".codex/config.toml", 'model = "x"\n', _codex),
}  # fmt: skip


NOTES = ("notes", "note", "front matter", "memory folder")


@pytest.mark.parametrize("name", FORMATS)
def test_byte_order_mark_is_ignored(name: str, tmp_path: Path) -> None:
    file, text, reader = FORMATS[name]
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    plain = reader(path)
    assert plain
    path.write_bytes(codecs.BOM_UTF8 + text.encode())
    assert reader(path) == plain


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", FORMATS)
def test_utf16_file_is_refused(name: str, encoding: str, tmp_path: Path) -> None:
    file, text, reader = FORMATS[name]
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode(encoding))
    if name in NOTES:
        (path.parent / "plain.md").write_text("- [a] b\n", encoding="utf-8")
        assert f"left out: {path.name}: the text is UTF-16, not UTF-8" in str(bring(path.parent))
        return
    with pytest.raises((MalsimError, NetlistError), match="UTF-16") as refused:
        reader(path)
    assert len(str(refused.value).splitlines()) == 1


def test_rules_file_with_a_bom_is_not_taken_for_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_bytes(codecs.BOM_UTF8 + b"[rules]\n")
    assert holds_rules_alone(path)


def test_gzipped_json_lines_with_a_bom_are_read(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.ndjson.gz"
    path.write_bytes(gzip.compress(codecs.BOM_UTF8 + json.dumps({"a": 1}).encode()))
    assert read_table(path).rows() == [(1,)]


def test_reader_of_damaged_parquet_writes_nothing_to_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"writer": ["ann", "bob"] * 500, "value": ["1", "2"] * 500})
    path = tmp_path / "a.parquet"
    frame.write_parquet(path)
    whole, draw = path.read_bytes(), random.Random(3)  # noqa: S311  # the same damage each time
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            damaged[draw.randrange(4, len(whole) - 8)] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        with suppress(DataError):
            read_table(path)
    assert capfd.readouterr() == ("", "")
