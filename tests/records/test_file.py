"""SQLite file of records: foreign files are refused, transactions survive a kill, and exports can be imported."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import StoreError
from malsim.importers.building.bring import bring
from malsim.records import MemoryRecord, Overlay, OverlayItem, RecordStore, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

YEAR_2026 = 1_767_225_600_000


def filled(path: Path) -> Path:
    with RecordStore(path, clock=lambda: YEAR_2026) as store:
        overlay = Overlay(store)
        for at in range(40):
            overlay.upsert(OverlayItem(f"item {at} " + "x" * 300, agent_id="scout"))
    return path


def cut(path: Path) -> None:
    path.write_bytes(filled(path).read_bytes()[:8192])


def torn(path: Path) -> None:
    data = bytearray(filled(path).read_bytes())
    data[4096:] = random.Random(1).randbytes(len(data) - 4096)  # noqa: S311
    path.write_bytes(data)


def newer(path: Path) -> None:
    with sqlite3.connect(filled(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE memory_records (id, kind)")
    connection.close()


def text(path: Path) -> None:
    path.write_text("no database at all, but a text of some length", encoding="utf-8")


@pytest.mark.parametrize("spoil", [cut, torn, newer, foreign, text, Path.mkdir])
def test_foreign_file_is_refused_and_left_unchanged(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "records.sqlite"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=r"records\.sqlite"), RecordStore(path) as store:
        Overlay(store).search("item", scope=Scope(agent_id="scout"))
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize(
    "wrong",
    [
        "extra = 'no JSON'",
        "trust = 7",
        "embed_blob = 'abc'",
        "embed_blob = x'0000c07f'",
        "lane = 'attic'",
        "keywords = '[1]'",
    ],
)
def test_invalid_row_is_reported_as_damage(tmp_path: Path, wrong: str) -> None:
    path = filled(tmp_path / "records.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE memory_records SET {wrong}")  # noqa: S608
    connection.close()
    with RecordStore(path, clock=lambda: YEAR_2026) as store, pytest.raises(StoreError, match="damaged"):
        Overlay(store).search("item", scope=Scope(agent_id="scout"))


def put_and_raise(store: RecordStore) -> None:
    with store.database.change():
        store.put(MemoryRecord("semantic", "fact", "a", 2))
        raise ZeroDivisionError


def test_other_connections_see_no_unfinished_change(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    with RecordStore(path, clock=lambda: 1) as item, RecordStore(path, clock=lambda: 1) as other:
        with item.database.change():
            item.put(MemoryRecord("semantic", "fact", "a", 1))
            assert other.select() == []
        assert [record.value for record in other.select()] == [1]
        with pytest.raises(ZeroDivisionError):
            put_and_raise(item)
        assert [record.value for record in item.select()] == [1]
        other.put(MemoryRecord("semantic", "fact", "a", 3))


WRITER = """
import sys
from malsim.records import MemoryRecord, RecordStore
with RecordStore(sys.argv[1], clock=lambda: 1) as store:
    print("ready", flush=True)
    for at in range(100_000):
        with store.database.change():
            first = store.put(MemoryRecord("semantic", "fact", "pair", f"{at} a"))
            second = store.put(MemoryRecord("semantic", "fact", "pair", f"{at} b"))
            store.link(first.id, second.id, "supports")
"""


def test_killed_writer_leaves_only_complete_transactions(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    for kill in range(3):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env=os.environ)
        assert writer.stdout
        writer.stdout.readline()
        time.sleep(0.02 + 0.03 * kill)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        with RecordStore(path, clock=lambda: 1) as store:
            values = [str(record.value).split() for record in store.select(limit=1_000_000)]
            links = store.database.rows("SELECT * FROM memory_links")
            words = store.database.rows("SELECT count(*) AS n FROM memory_fts")[0]["n"]
            assert store.database.rows("PRAGMA integrity_check")[0]["integrity_check"] == "ok"
        assert sorted(number for number, half in values if half == "a") == sorted(
            number for number, half in values if half == "b"
        )
        assert len(values) == 2 * len(links) == words


def test_importer_reads_a_file_of_records(tmp_path: Path) -> None:
    path, now = tmp_path / "records.sqlite", [YEAR_2026]
    with RecordStore(path, clock=lambda: now[0]) as store:
        overlay = Overlay(store)
        first = overlay.upsert(OverlayItem("Backups run nightly", agent_id="scout", trust=0.9, entities=("nas",)))
        now[0] += 86_400_000
        second = overlay.upsert(
            OverlayItem("Backups run at 02:00", agent_id="rover", lane="episodic", ttl_s=900, links={"parents": [first.id]})
        )
        record = store.put(MemoryRecord("semantic", "fact", "backup.time", "02:00", prob=0.7))
        store.link(record.id, first.id, "supersedes")
        store.link(second.id, first.id, "about")
    came = bring(path)
    cells = came.memory.cells
    assert cells["object"].to_list() == ["nas", None, "backup.time"]
    assert cells["title"].to_list() == ["Backups run nightly", "Backups run at 02:00", "02:00"]
    assert cells["stated"].to_list()[:2] == [0.9, 0.5]
    assert cells["created"].to_list() == [0.0, 1.0, 1.0]
    assert cells["stability"].to_list() == ["stable", "volatile", "stable"]
    assert cells["expires"].to_list() == [None, pytest.approx(1 + 900 / 86_400), None]
    assert cells["status"].to_list()[0] == "superseded"
    assert sorted(came.memory.edges["relation"].to_list()) == ["concerns", "derived_from", "supersedes"]


def test_opening_the_file_twice_keeps_its_locks(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    count = f"from malsim.records import RecordStore\nwith RecordStore({str(path)!r}) as store: print(len(store.select()))"
    look = [sys.executable, "-c", count]
    with RecordStore(path) as store:
        store.put(MemoryRecord("semantic", "fact", "first", "1"))
        RecordStore(path).close()  # opening the file twice must not drop `store`'s locks
        assert subprocess.run(look, check=True, capture_output=True, text=True).stdout == "1\n"
        store.put(MemoryRecord("semantic", "fact", "second", "2"))
        assert subprocess.run(look, check=True, capture_output=True, text=True).stdout == "2\n"
