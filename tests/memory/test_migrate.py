"""Stores of an older schema: refused with the command that migrates them, which keeps a copy and changes all or nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import StoreError
from malsim.cli import main
from malsim.memory.store import Store
from malsim.memory.store import migrate as migration

if TYPE_CHECKING:
    from pathlib import Path

CLAIMS = [
    {"handle": "dec_a3ee", "writer": "ann", "title": "use SQLite", "confidence": 0.9},
    {"handle": "obs_a1a1", "writer": "bob", "title": "it is slow", "confidence": 0.6, "t": 1.0,
     "edges": [{"relation": "contradicts", "target": "dec_a3ee"}]},
]  # fmt: skip


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store as the first schema had it: ticks without what they had seen."""
    path = tmp_path / "m.sqlite"
    with Store(path) as store:
        store.admit(CLAIMS)
        store.tick(2.0)
        store.admit([{"handle": "obs_b2b2", "writer": "cy", "title": "it is fine", "confidence": 0.5, "t": 3.0}])
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("ALTER TABLE ticks DROP COLUMN scanned")
        old.execute("ALTER TABLE ticks DROP COLUMN writer")
        old.execute("DELETE FROM words_config WHERE k = 'rank'")
        old.execute("PRAGMA user_version = 1")
    return path


def test_an_older_store_is_refused_with_the_command_that_migrates_it(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = old.read_bytes()
    assert main(["look", str(old)]) == 2
    assert "a store of an older malsim; given: 'version 1'; allowed: 3; malsim migrate m.sqlite" in capsys.readouterr().err
    assert old.read_bytes() == before


def test_a_migration_keeps_a_copy_and_loses_nothing(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(old)]) == 0
    assert "m.sqlite.v1" in capsys.readouterr().out
    with Store(old) as store:
        assert store.memory.cells["handle"].to_list() == ["dec_a3ee", "obs_a1a1", "obs_b2b2"]
        assert store.ticks["scanned"].to_list() == [0, 1, 1]
        assert store.at(1.0).cells.height == 2
        assert store.mini_index("slow").lines
        store.tick(4.0)
    with closing(sqlite3.connect(old.with_name("m.sqlite.v1"))) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (1,)
        assert copy.execute("SELECT count(*) FROM cells").fetchone() == (3,)
    assert main(["migrate", str(old)]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_a_store_of_the_second_schema_learns_who_updates(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    with Store(path) as store:
        store.admit(CLAIMS)
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("ALTER TABLE ticks DROP COLUMN writer")
        old.execute("PRAGMA user_version = 2")
    assert main(["migrate", str(path)]) == 0
    with Store(path) as store:
        store.update("dec_a3ee", writer="cy", now=2.0, body="measured")
        assert store.ticks["writer"].to_list() == [None, "cy"]


def test_a_migration_that_fails_leaves_the_store_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "STEPS", {1: (*migration.STEPS[1], "INSERT INTO nowhere VALUES (1)")})
    with pytest.raises(StoreError, match="nowhere"):
        migration.migrate(old)
    with closing(sqlite3.connect(old)) as store:
        assert store.execute("PRAGMA user_version").fetchone() == (1,)
        assert "scanned" not in [row[1] for row in store.execute("PRAGMA table_info(ticks)")]
    monkeypatch.undo()
    with pytest.raises(StoreError, match="a copy of an older schema is there already"):
        migration.migrate(old)


@pytest.mark.parametrize("version", [0, 4])
def test_no_other_version_is_migrated(version: int, old: Path) -> None:
    with closing(sqlite3.connect(old)) as store:
        store.execute(f"PRAGMA user_version = {version}")
    assert main(["migrate", str(old)]) == 2
    assert main(["migrate", str(old.with_name("none.sqlite"))]) == 2
