"""Tests that a store returns what was saved, now and for every past day, and that a damaged file is refused."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from malsim.base.errors import StoreError
from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import annex, connect, update
from malsim.memory.store import Store
from malsim.memory.tables.layout import APPLICATION, VERSION
from tests.memory.test_admission import same

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def claim(name: str, **more: Any) -> dict[str, Any]:
    return {"handle": f"obs_{name}", "writer": "ann", "title": f"claim {name}", "confidence": 0.9, **more}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


def days_of(store: Store) -> Iterator[tuple[float, Memory]]:
    store.admit([claim("aaaa", t=0.0), claim("bbbb", t=0.0, edges=[{"relation": "contradicts", "target": "obs_aaaa"}])])
    yield 0.0, store.recorded
    yield 1.0, store.tick(1.0)
    store.admit([claim("cccc", t=2.0, edges=[{"relation": "supersedes", "target": "obs_aaaa"}])])
    yield 2.0, store.recorded
    store.expand("obs_cccc", now=3.0)
    yield 3.0, store.recorded
    store.save(annex(store.memory, "obs_bbbb"), t=4.0)
    yield 4.0, store.recorded
    changes: Any = {"body": "rewritten", "topics": ["pump"], "verification": "tested"}
    store.save(update(store.memory, "obs_cccc", now=5.0, writer="ann", **changes), t=5.0)
    yield 5.0, store.recorded
    edge = {"source": "obs_cccc", "relation": "supports", "target": "obs_bbbb", "writer": "ben", "t": 6.0}
    store.save(connect(store.memory, [edge]).memory, t=6.0)
    yield 6.0, store.recorded
    yield 7.0, store.tick(7.0)


def test_state_after_every_kind_of_change_can_be_read_by_day(path: Path) -> None:
    with Store(path) as store:
        days = list(days_of(store))
    with Store(path, write=False) as store:
        for day, then in days:
            same(store.at(day), then)
        assert store.ticks["deed"].to_list() == ["admit", "tick", "admit", "expand", "save", "save", "save", "tick"]
        assert store.day == 7.0
        same(store.recorded, days[-1][1])
        assert store.memory.cells["body"].to_list()[2] == "rewritten"
        assert store.mini_index("pump").cells["handle"].to_list() == ["obs_cccc"]


def test_day_before_the_first_save_shows_cells_created_by_then(path: Path) -> None:
    edges = [{"relation": "supersedes", "target": "obs_aaaa"}]
    admit(Memory.empty(), [claim("aaaa", t=1.0), claim("bbbb", t=5.0, edges=edges)]).memory.save(path, t=10.0)
    assert Memory.open(path, at=0.5).cells.is_empty()
    early = Memory.open(path, at=2.0)
    assert early.cells.select("handle", "status").rows() == [("obs_aaaa", "active")]
    assert early.edges.is_empty()
    assert Memory.open(path, at=5.0).cells["status"].to_list() == ["superseded", "active"]


def test_verdicts_of_refused_claims_are_stored(path: Path) -> None:
    with Store(path) as store:
        batches = [claim("aaaa"), claim("bbbb", confidence=7)], [claim("cccc", title="claim aaaa"), {}]
        verdicts = pl.concat([store.admit(batch) for batch in batches])
        assert_frame_equal(store.verdicts, verdicts)
        assert store.memory.cells.height == 1


def test_two_open_handles_of_a_store_can_write_alternately(path: Path) -> None:
    with Store(path) as ours, Store(path) as theirs:
        for name in ("aaaa", "bbbb", "cccc", "dddd"):
            (ours if name in ("aaaa", "cccc") else theirs).admit([claim(name)])
        assert ours.memory.cells.height == theirs.memory.cells.height == 4


def test_failed_change_leaves_the_store_unchanged(path: Path) -> None:
    with Store(path) as store:
        store.admit([claim("aaaa")])
        before = store.recorded
        with pytest.raises(ZeroDivisionError):
            store.admit([claim("bbbb")], Rules(effective=lambda *_: 1 / 0), factors=FailingFactors())
        same(store.recorded, before)
        store.admit([claim("cccc")])
    assert Memory.open(path).cells["handle"].to_list() == ["obs_aaaa", "obs_cccc"]


class FailingFactors(dict[str, float]):
    def items(self) -> Any:
        raise ZeroDivisionError

    def __bool__(self) -> bool:
        return True


def damage(path: Path, kind: str) -> None:
    admit(Memory.empty(), [claim(f"{i:04x}", title=f"claim {i}", body="x" * 500) for i in range(100)]).memory.save(path)
    whole = path.read_bytes()
    page = int.from_bytes(whole[16:18], "big")
    match kind:
        case "newer" | "older":
            connection = sqlite3.connect(path)
            connection.execute(f"PRAGMA user_version = {VERSION + (1 if kind == 'newer' else -1)}")
            connection.close()
        case "foreign":
            path.unlink()
            connection = sqlite3.connect(path)
            connection.execute("CREATE TABLE cells (a)")
            connection.close()
        case "half":
            path.write_bytes(whole[: len(whole) // 2])
        case "last page":
            path.write_bytes(whole[:-page])
        case "part of its header":
            path.write_bytes(whole[:50])
        case "torn":
            path.write_bytes(whole[:page] + b"\xff" * (len(whole) - page))
        case "text":
            path.write_text("a letter, not a store\n" * 10)
        case "noise":
            path.write_bytes(hashlib.sha512(b"noise").digest() * 100)


KINDS = {
    "newer": "this store was written by a newer version of malsim",
    "older": "this store was written by an older version of malsim",
    "foreign": "this is an SQLite file, but not a malsim store",
    "half": "damaged: (pages are missing|the SQLite header)",
    "last page": "damaged: (pages are missing|the SQLite header)",
    "part of its header": "damaged: (pages are missing|the SQLite header)",
    "torn": "damaged",
    "text": "not an SQLite file",
    "noise": "not an SQLite file",
}


@pytest.mark.parametrize("kind", KINDS)
def test_incomplete_store_is_refused_and_left_untouched(path: Path, kind: str) -> None:
    damage(path, kind)
    before, mtime = path.read_bytes(), path.stat().st_mtime_ns
    with pytest.raises(StoreError, match=KINDS[kind]) as error:
        Memory.open(path)
    assert str(path) in str(error.value)
    with pytest.raises(StoreError, match=KINDS[kind]):
        Memory.empty().save(path)
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == mtime
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_reading_a_missing_store_fails_and_creates_no_file(path: Path) -> None:
    with pytest.raises(StoreError, match="no such store"):
        Memory.open(path)
    with pytest.raises(StoreError, match="a folder"):
        Memory.open(path.parent)
    assert not path.exists()
    os.mkfifo(path)
    with pytest.raises(StoreError, match="not a plain file"):
        Store(path)


def test_empty_file_becomes_a_store_on_the_first_save(path: Path) -> None:
    path.touch()
    assert Memory.open(path).cells.is_empty()
    with Store(path, write=False) as store:
        assert (store.day, store.start, str(store.mini_index("pump"))) == (None, None, "")
        assert store.ticks.is_empty()
        assert store.verdicts.is_empty()
        assert store.at(3.0).cells.is_empty()
    assert path.stat().st_size == 0
    admit(Memory.empty(), [claim("aaaa")]).memory.save(path)
    assert Memory.open(path).cells.height == 1


def test_file_identifies_malsim_and_opens_in_sqlite(path: Path) -> None:
    with Store(path) as store:
        list(days_of(store))
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    query = "SELECT handle, status, topics FROM cells WHERE status = 'active'"
    assert connection.execute(query).fetchall() == [("obs_cccc", "active", '["pump"]')]
    connection.close()
