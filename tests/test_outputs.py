"""Files are whole or absent, and what keeps one from being written is said: a full disk too."""

from __future__ import annotations

import errno
import sqlite3
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from malsim.base import outputs, sqlite_file
from malsim.base.errors import StoreError, UsageError
from malsim.cli import main
from malsim.memory.store import Store
from malsim.memory.tables.connect import refusing
from tests.bench.evidence.__main__ import _write

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME = pl.DataFrame({"a": [1.0]})


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def full_of_polars(*_: object, **__: object) -> None:
    """As polars says it: no number but in the text."""
    raise pl.exceptions.ComputeError("parquet: underlying IO error: No space left on device (os error 28)")


@pytest.mark.parametrize("fails", [full, full_of_polars])
@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_full_disk_leaves_what_was_there_and_says_so(
    fails: Callable[..., None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs.save_table(tmp_path / name, FRAME)
    before = (tmp_path / name).read_bytes()
    for method in ("write_parquet", "write_csv"):
        monkeypatch.setattr(pl.DataFrame, method, fails)
    with pytest.raises(UsageError, match="the disk is full"):
        outputs.save_table(tmp_path / name, FRAME.vstack(FRAME))
    assert (tmp_path / name).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


COMMANDS = (
    ["replay", "claims.csv", "-o", "out"],
    ["op", "smooth", "--on", "claims.csv", "--column", "value", "-o", "o.parquet"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_command_that_finds_the_disk_full_leaves_no_part(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("claims.csv").write_text("writer,object,value\nann,a,1\nbob,a,2\n", encoding="utf-8")
    monkeypatch.setattr(pl.DataFrame, "write_parquet", full_of_polars)
    assert main(command) == 2
    assert "the disk is full" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.parquet"))


def test_tables_of_a_study_are_all_there_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl.DataFrame, "write_parquet", full_of_polars)
    with pytest.raises(UsageError, match="the disk is full"):
        _write({"scores": FRAME}, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_store_on_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(":memory:") as file:
        file.execute("CREATE TABLE a (b)")
        file.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match="the disk is full"), refusing(tmp_path / "a.db"):
            file.executemany("INSERT INTO a VALUES (?)", [("x" * 1_000,)] * 100)
    file.close()
    monkeypatch.setattr(sqlite_file, "_is_full", lambda _: True)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    with pytest.raises(StoreError, match="the disk is full"), refusing(tmp_path / "a.db"):
        raise error


class FullDisk(sqlite3.Connection):
    """A connection as a full disk makes it: no page is added, and no index of a log can be made."""

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(path, **options)
        self.path = str(path)
        super().execute("PRAGMA max_page_count = 1")

    def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
        if statement == "PRAGMA schema_version" and "immutable" not in self.path:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        return super().execute(statement, *given)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store; from now on the disk is full."""
    path = tmp_path / "m.sqlite"
    with Store(path) as file:
        file.admit([{"handle": "dec_a3ee", "writer": "ann", "title": "use SQLite", "confidence": 0.9}])
        file.tick(1.0)
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=FullDisk))
    return path


def test_a_store_can_be_read_where_no_page_can_be_written(store: Path) -> None:
    with Store(store, write=False) as file:
        assert file.memory.cells["handle"].to_list() == ["dec_a3ee"]
    Path(f"{store}-wal").write_bytes(b"what another process has not put in yet")
    with pytest.raises(StoreError):
        Store(store, write=False)


def test_an_export_to_a_full_disk_says_so(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(store), "--as", "recall", "-o", str(store.with_name("out.db"))]) == 2
    assert "out.db: the disk is full" in capsys.readouterr().err
    assert not list(store.parent.glob("out*"))
