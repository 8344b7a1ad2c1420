"""A store that was edited with sqlite3 is either read or reported as damaged, and crashes no command."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from malsim.base.errors import MalsimError, StoreError
from malsim.cli import main
from malsim.memory.store import Store

ODD = ("NULL", "'x'", "''", "-1", "0.5", "1e999", "9223372036854775807", "x'00ff'")
TABLES = ("cells", "edges", "writers", "ticks", "past", "meta", "scores", "past_scores", "clocks", "unseen", "views")
FEW, FEWER = 120, 13
COMMANDS = (
    ["look", "STORE"], ["look", "STORE", "dec_a3ee"], ["look", "STORE", "--query", "sqlite"], ["why", "STORE", "dec_a3ee"],
    ["why", "STORE", "dec_a3ee", "--law", "records"], ["store", "tick", "STORE"],
    ["signals", "STORE", "contradiction-load", "lineage-rot"], ["export", "STORE", "--as", "jsonl", "-o", "OUT.jsonl"],
    ["export", "STORE", "--as", "recall", "-o", "OUT.json"], ["hal", "STORE", "-c", "getp dec_a3ee-scores-eff"],
    ["store", "write", "STORE", "--writer", "cy", "--title", "t", "--confidence", ".7", "--edge", "supports dec_a3ee"],
    ["store", "update", "STORE", "dec_a3ee", "--writer", "cy", "--body", "anew"],
)  # fmt: skip


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "m.sqlite"
    claim = {"writer": "ann", "confidence": 0.9, "object": "pump"}
    edge = {"relation": "contradicts", "target": "dec_a3ee"}
    with Store(path) as store:
        store.admit([{**claim, "handle": "dec_a3ee", "title": "use SQLite", "value": 1.0}])
        store.admit([{**claim, "handle": "obs_00a1", "title": "it locked", "writer": "bob", "value": 2.0, "edges": [edge]}])
        store.tick(3.0)
        store.save(store.memory, start="2026-03-01")
    return path.read_bytes()


def edited(path: Path, held: bytes, table: str, column: str, value: str) -> None:
    path.write_bytes(held)
    with contextlib.closing(sqlite3.connect(path)) as file, contextlib.suppress(sqlite3.Error):
        file.execute(f'UPDATE {table} SET "{column}" = {value}')  # noqa: S608  # our own words
        file.commit()


def columns(held: bytes, path: Path) -> list[tuple[str, str]]:
    path.write_bytes(held)
    with contextlib.closing(sqlite3.connect(path)) as file:
        return [(table, row[1]) for table in TABLES for row in file.execute(f"PRAGMA table_info({table})")]


def test_edited_store_is_read_or_refused(held: bytes, tmp_path: Path) -> None:
    path, draw = tmp_path / "m.sqlite", random.Random(26)
    reads: tuple[Callable[[Store], object], ...] = (
        lambda store: store.memory, lambda store: (store.day, store.start), lambda store: (store.ticks, store.verdicts),
        lambda store: store.at(2.0), lambda store: str(store.mini_index("sqlite")), lambda store: store.mini_index(),
        lambda store: store.updates("dec_a3ee"), lambda store: str(store.expand("dec_a3ee")),
    )  # fmt: skip
    tried = [(table, column, value) for table, column in columns(held, path) for value in ODD]
    for item in draw.sample(tried, FEW):
        edited(path, held, *item)
        with Store(path, write=False) as store:
            for read in reads:
                with contextlib.suppress(MalsimError):
                    read(store)


def test_command_reads_or_refuses_an_edited_store(held: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, draw = tmp_path / "m.sqlite", random.Random(25)
    tried = [(table, column, value) for table, column in columns(held, path) for value in ODD]
    for number, item in enumerate(draw.sample(tried, FEWER)):
        edited(path, held, *item)
        words = [
            word.replace("STORE", str(path)).replace("OUT", str(tmp_path / "out"))
            for word in COMMANDS[number % len(COMMANDS)]
        ]
        assert main(words) in (0, 1, 2), (item, words)
        assert "this is a bug" not in capsys.readouterr().err, (item, words)
        for made in tmp_path.glob("out*"):
            made.unlink()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("cells", "author", "7"), ("cells", "successor", "7"), ("cells", "successor", "-1"), ("cells", "rep", "NULL"),
        ("cells", "pinned", "0.5"), ("scores", "data", "'x'"), ("edges", "source", "7"), ("edges", "target", "-1"),
        ("edges", "weight", "NULL"), ("writers", "claims", "'x'"), ("ticks", "scanned", "NULL"), ("ticks", "scanned", "2"),
    ],
)  # fmt: skip
def test_reference_to_a_missing_row_is_reported_as_damage(
    table: str, column: str, value: str, held: bytes, tmp_path: Path
) -> None:
    edited(tmp_path / "m.sqlite", held, table, column, value)
    with Store(tmp_path / "m.sqlite") as store:
        with pytest.raises(StoreError, match="damaged"):
            _ = store.memory
        with pytest.raises(StoreError, match="damaged"):
            store.at(2.0)
        with pytest.raises(StoreError, match="damaged"):
            store.tick(4.0)


@pytest.mark.parametrize(("column", "value"), [("t", "'x'"), ("t", "1e999"), ("t", "NULL")])
def test_invalid_day_is_reported_as_damage(column: str, value: str, held: bytes, tmp_path: Path) -> None:
    edited(tmp_path / "m.sqlite", held, "ticks", column, value)
    with Store(tmp_path / "m.sqlite", write=False) as store, pytest.raises(StoreError, match="damaged"):
        _ = store.day


def test_date_of_day_0_must_be_valid(held: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.sqlite"
    edited(path, held, "meta", "value", "'soon'")
    with Store(path) as store:
        with pytest.raises(StoreError, match="damaged"):
            _ = store.start
        with pytest.raises(MalsimError, match="not a date"):
            store.save(store.memory, start="soon")
        store.save(store.memory, start="2026-03-01")
        store.tick(1e9)
    assert main(["look", str(path)]) == 0
    assert "on day 1e+09; last written" in capsys.readouterr().out
