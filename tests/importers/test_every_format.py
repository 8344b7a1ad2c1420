"""Tests of every importer: recognition, read-only access, missing values, and use of the imported memory."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import polars as pl
import pytest

from malsim.base.errors import MalsimError, StoreError, UsageError
from malsim.importers.building.bring import bring, formats
from malsim.importers.building.save import write
from malsim.importers.reading.records import Options
from malsim.memory import Memory, tick
from malsim.memory.store import Store
from tests.importers.samples import SAMPLES, counts

every = pytest.mark.parametrize("name", SAMPLES)


def traces(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) | {"recall"} == set(formats())


@every
def test_format_is_recognised_and_the_source_stays_unchanged(name: str, tmp_path: Path) -> None:
    (folder := tmp_path / "theirs").mkdir()
    source = SAMPLES[name](folder)
    before = traces(folder)
    recognised, named = bring(source), bring(source, form=name)
    assert recognised.memory.height > 0
    assert recognised.memory.cells.equals(named.memory.cells)
    assert recognised.memory.edges.equals(named.memory.edges)
    assert traces(folder) == before
    for other in set(SAMPLES) - {name}:
        with pytest.raises(StoreError):
            bring(source, form=other)


@every
def test_missing_values_stay_missing_and_are_counted(name: str, tmp_path: Path) -> None:
    came = bring(SAMPLES[name](tmp_path))
    cells = came.memory.cells
    report = counts(came)
    absent = cells.filter(pl.col("stated").is_null())
    assert absent["effective"].null_count() == absent.height
    assert report.get("without a confidence", "0") == str(absent.height)
    assert report.get("undated, in file order", "0") == str(cells["created"].null_count())
    ticked = tick(came.memory, 900.0).cells
    for column in ("stated", "effective"):
        assert ticked[column].null_count() == absent.height
    assert ticked["currency"].null_count() == cells["touched"].null_count()
    assert not ticked.select(pl.col(pl.Float64).is_nan().any()).row(0).count(True)


@every
def test_cells_with_an_assumed_confidence_are_marked(name: str, tmp_path: Path) -> None:
    source = SAMPLES[name](tmp_path)
    plain, assumed = bring(source).memory.cells, bring(source, options=Options(confidence=0.7)).memory.cells
    marked = assumed["topics"].list.contains("assumed confidence")
    assert marked.equals(plain["stated"].is_null(), check_names=False)
    assert set(assumed.filter(marked)["stated"]) <= {0.7}
    assert assumed.filter(~marked)["stated"].equals(plain.filter(~marked)["stated"])


@every
def test_imported_memory_can_be_saved_and_shown(name: str, tmp_path: Path) -> None:
    (folder := tmp_path / "theirs").mkdir()
    came, store = bring(SAMPLES[name](folder)), tmp_path / "memory.sqlite"
    write(came, store)
    with Store(store, write=False) as file:
        assert file.start == came.start
        assert file.recorded.cells.equals(came.memory.cells)
        assert str(file.mini_index())
    memory = Memory.open(store)
    for handle in memory.cells["handle"]:
        assert handle in str(memory.expand(handle))
    write(came, store)  # writing the same memory again is allowed


def test_unknown_formats_and_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("[1, 2]")
    with pytest.raises(UsageError, match="mem0"):
        bring(path, form="memo")
    with pytest.raises(StoreError, match="not a memory in a known format"):
        bring(path)
    with pytest.raises(StoreError, match="no such file"):
        bring(tmp_path / "gone")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PK\x03\x04" + bytes(40), "zip"),
        (b"\x1f\x8b" + bytes(40), "gzip"),
        (b"\x80\x04\x95", "pickle"),
        ('{"type": "entity"}'.encode("utf-16"), "UTF-16"),
        (b"", "not a memory"),
        (b"SQLite format 3\0" + bytes(200), "damaged"),
        (b'{"type":"entity","name":"a","observations":["b"]}\n{"type":"entity","name":"\xe9"}\n', "UTF-8"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_invalid_file_is_a_typed_error_and_leaves_no_store(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(MalsimError, match=problem):
        bring(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("day", ['"x"', "[1]", "1" + 400 * "0", "null", "NaN"])
def test_log_line_without_a_day_is_an_undated_claim(day: str, tmp_path: Path) -> None:
    line = '{"t": DAY, "event": "write", "item": "NAME", "object": "pump", "value": "runs", "writer": "ann"}\n'
    path = tmp_path / "log.jsonl"
    path.write_text(line.replace("DAY", "3.0").replace("NAME", "m1") + line.replace("DAY", day).replace("NAME", "m2"))
    assert bring(path).memory.cells["created"].to_list() == [0.0, None]


@pytest.mark.parametrize("name", ["markdown", "claude-code"])
def test_links_pipes_and_invalid_bytes_in_a_folder_are_skipped(name: str, tmp_path: Path) -> None:
    source = SAMPLES[name](tmp_path)
    before = bring(source).memory.height
    (source / "out.md").symlink_to(tmp_path.parent)
    (source / "round").symlink_to(source)
    os.mkfifo(source / "pipe.md")
    assert bring(source).memory.height == before
    (source / "odd.md").write_bytes(b"\xff\xfe\x00" * 100)
    assert bring(source).memory.height >= before


def test_store_with_other_data_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    out = tmp_path / "memory.sqlite"
    write(bring(SAMPLES["mem0"](tmp_path / "a")), out)
    before = Memory.open(out).cells
    with pytest.raises(StoreError, match="holds data that this memory lacks"):
        write(bring(SAMPLES["mcp"](tmp_path / "b")), out)
    assert Memory.open(out).cells.equals(before)
