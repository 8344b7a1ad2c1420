"""Stores of an older schema: refused with the command that migrates them, which keeps a copy and changes all or nothing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import StoreError
from malsim.cli import main
from malsim.memory.store import Store
from malsim.memory.store import migrate as migration
from malsim.memory.tables.layout import MOVING, SCORES
from malsim.memory.tables.past import past_cells
from malsim.memory.tables.rows import insert, update

if TYPE_CHECKING:
    from pathlib import Path

CLAIMS = [
    {"handle": "dec_a3ee", "writer": "ann", "title": "use SQLite", "confidence": 0.9},
    {"handle": "obs_a1a1", "writer": "bob", "title": "it is slow", "confidence": 0.6, "t": 1.0,
     "edges": [{"relation": "contradicts", "target": "dec_a3ee"}]},
]  # fmt: skip


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store as the third schema had it: what a tick computes stood in the rows of cells and of their past."""
    path = tmp_path / "m.sqlite"
    with Store(path) as store:
        store.admit(CLAIMS)
        store.tick(2.0)
        store.admit([{"handle": "obs_b2b2", "writer": "cy", "title": "it is fine", "confidence": 0.5, "t": 3.0}])
        store.tick(5.0)
        cells, past = store.memory.cells, past_cells(store.connection)
    shutil.copy(path, tmp_path / "new.sqlite")
    with closing(sqlite3.connect(path)) as old, old:
        for table in ("cells", "past"):
            for name in SCORES:
                old.execute(f"ALTER TABLE {table} ADD COLUMN {name} REAL")
        update(old, "cells", cells.select(SCORES).with_row_index("row"))
        old.execute("DELETE FROM past")
        insert(old, "past", past.rename({"row": "cell"}).select("cell", "until", *MOVING, *SCORES))
        for name in migration.NEW_TABLES:
            old.execute(f"DROP TABLE {name}")
        old.execute("PRAGMA user_version = 3")
    return path


def test_an_older_store_is_refused_with_the_command_that_migrates_it(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = old.read_bytes()
    assert main(["look", str(old)]) == 2
    assert "a store of an older malsim; given: 'version 3'; allowed: 4; malsim migrate m.sqlite" in capsys.readouterr().err
    assert old.read_bytes() == before


def test_a_migration_keeps_a_copy_and_loses_nothing(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(old)]) == 0
    assert "m.sqlite.v3" in capsys.readouterr().out
    with Store(old) as store, Store(old.with_name("new.sqlite")) as new:
        assert store.memory.cells.equals(new.memory.cells)
        for day in (0.0, 1.0, 2.0, 2.5, 3.0, 5.0):
            assert store.at(day).cells.equals(new.at(day).cells)
        assert store.mini_index("slow").lines == new.mini_index("slow").lines
        assert store.tick(9.0).cells.equals(new.tick(9.0).cells)
        assert store.at(2.0).cells.equals(new.at(2.0).cells)
    with closing(sqlite3.connect(old.with_name("m.sqlite.v3"))) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (3,)
        assert copy.execute("SELECT count(*) FROM cells").fetchone() == (3,)
    assert main(["migrate", str(old)]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_a_store_that_nobody_wrote_to_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    Store(path).close()
    with closing(sqlite3.connect(path)) as old, old:
        for name in migration.NEW_TABLES:
            old.execute(f"DROP TABLE {name}")
        for name in SCORES:
            old.execute(f"ALTER TABLE cells ADD COLUMN {name} REAL")
            old.execute(f"ALTER TABLE past ADD COLUMN {name} REAL")
        old.execute("PRAGMA user_version = 3")
    assert main(["migrate", str(path)]) == 0
    with Store(path) as store:
        assert store.admit(CLAIMS).height == 2


def test_a_migration_that_fails_leaves_the_store_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = migration.STEPS[3]

    def step(store: sqlite3.Connection) -> None:
        whole(store)
        store.execute("INSERT INTO nowhere VALUES (1)")

    monkeypatch.setattr(migration, "STEPS", {3: step})
    with pytest.raises(StoreError, match="nowhere"):
        migration.migrate(old)
    with closing(sqlite3.connect(old)) as store:
        assert store.execute("PRAGMA user_version").fetchone() == (3,)
        assert "effective" in [row[1] for row in store.execute("PRAGMA table_info(cells)")]
    monkeypatch.undo()
    with pytest.raises(StoreError, match="a copy of an older schema is there already"):
        migration.migrate(old)


@pytest.mark.parametrize("version", [0, 1, 2, 5])
def test_no_other_version_is_migrated(version: int, old: Path) -> None:
    with closing(sqlite3.connect(old)) as store:
        store.execute(f"PRAGMA user_version = {version}")
    assert main(["migrate", str(old)]) == 2
    assert main(["migrate", str(old.with_name("none.sqlite"))]) == 2
