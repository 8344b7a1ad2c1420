"""Tests of stores whose writers are killed or write concurrently, and of reads of past days."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import StoreError
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from tests.memory.test_admission import same
from tests.memory.test_store import claim

if TYPE_CHECKING:
    from collections.abc import Iterator

KILLS = 50


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


HANDLES = [f"obs_{i:04x}" for i in range(5)]
edges = st.fixed_dictionaries(
    {"relation": st.sampled_from(["supports", "contradicts", "supersedes"]), "target": st.sampled_from(HANDLES)}
)
claims = st.lists(
    st.fixed_dictionaries({
        "writer": st.sampled_from(["ann", "ben", "Ünal \U0001f600"]), "title": st.text(min_size=1, max_size=12),
        "body": st.text(max_size=20), "confidence": st.floats(0.01, 1.0),
        "topics": st.lists(st.text(min_size=1, max_size=5), max_size=2), "edges": st.lists(edges, max_size=1),
    }), max_size=4,
)  # fmt: skip


def numbered(batches: list[Any]) -> Iterator[list[Any]]:
    handles = iter(HANDLES)
    for day, batch in enumerate(batches):
        yield [claim | {"t": float(day)} | ({"handle": name} if (name := next(handles, None)) else {}) for claim in batch]


@settings(max_examples=20)
@given(st.lists(claims, min_size=1, max_size=3))
def test_opened_store_equals_the_memory_saved_on_each_day(batches: list[Any]) -> None:
    memory, days = Memory.empty(), []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.sqlite"
        for day, batch in enumerate(numbered(batches)):
            memory = tick(admit(memory, batch).memory, day + 0.5)
            memory.save(path, t=day + 0.5)
            days.append((day + 0.5, memory))
        opened = Memory.open(path)
        same(opened, memory)
        same(tick(opened, 99.0), tick(memory, 99.0))
        assert opened.scanned == memory.scanned
        for at, then in days:
            same(Memory.open(path, at=at + 0.25), then)


def test_write_is_dated_no_earlier_than_the_previous_write(path: Path) -> None:
    with Store(path) as store:
        store.admit([claim("aaaa", t=5.0)])
        store.tick(7.0)
        store.admit([claim("bbbb", t=6.0)])
        assert store.ticks["t"].to_list() == [5.0, 7.0, 7.0]
        assert store.at(6.5).cells["handle"].to_list() == ["obs_aaaa"]
        assert store.memory.cells["created"].to_list() == [5.0, 6.0]


def test_busy_store_is_reported_and_waiting_succeeds(path: Path) -> None:
    Memory.empty().save(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with Store(path, wait=0.05) as store, pytest.raises(StoreError, match="busy"):
        store.admit([claim("aaaa")])
    assert Memory.open(path).cells.is_empty()  # a pending write does not block readers
    turn = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
    turn.start()
    with Store(path, wait=30.0) as store:
        store.admit([claim("aaaa")])
    turn.join()
    other.close()
    assert Memory.open(path).cells.height == 1


def test_unrelated_memory_does_not_overwrite_the_store(path: Path) -> None:
    admit(Memory.empty(), [claim("aaaa")]).memory.save(path)
    ours, other = Memory.open(path), Memory.open(path)
    admit(ours, [claim("bbbb")]).memory.save(path)
    with pytest.raises(StoreError, match="holds data that this memory lacks"):
        admit(other, [claim("cccc")]).memory.save(path)
    with pytest.raises(StoreError, match="holds data that this memory lacks"):
        Memory.empty().save(path)
    assert Memory.open(path).cells["handle"].to_list() == ["obs_aaaa", "obs_bbbb"]


def test_reused_key_does_not_overwrite_a_stored_cell(path: Path) -> None:
    rules = Rules(reused_keys="accepted")
    with Store(path) as store:
        store.admit([claim("aaaa", key="k1")], rules)
        with pytest.raises(StoreError, match="holds data that this memory lacks"):
            store.admit([claim("bbbb", key="k1")], rules)
        assert store.memory.cells["handle"].to_list() == ["obs_aaaa"]


class Writers:
    """Client of `store_writer.py`, which starts processes that write to stores."""

    def __init__(self) -> None:
        program = [sys.executable, str(Path(__file__).with_name("store_writer.py"))]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self, name: str, path: Path, *, deeds: int, wait: float = 30.0) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{name} {wait} {deeds} {path}\n")
        self.process.stdin.flush()

    def line(self) -> tuple[str, str]:
        assert self.process.stdout
        name, _, message = self.process.stdout.readline().rstrip("\n").partition(" ")
        return name, message

    def pid(self) -> int:
        return int(self.line()[1].removeprefix("is "))

    def until_end(self, writers: int = 1) -> list[tuple[str, str]]:
        lines: list[tuple[str, str]] = []
        while sum(message == "ended" for _, message in lines) < writers:
            lines.append(self.line())
        return [(name, message) for name, message in lines if message != "ended" and not message.startswith("is ")]


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    writers = Writers()
    yield writers
    assert writers.process.stdin
    assert writers.process.stdout
    writers.process.stdin.close()
    writers.process.stdout.close()
    assert writers.process.wait(10) == 0


def whole(path: Path) -> Store:
    store = Store(path, write=False)
    with store._reading() as file:
        (verdict,) = file.execute("PRAGMA integrity_check").fetchone()
        (words,) = file.execute("SELECT count(*) FROM words").fetchone()
    last = store.ticks.tail(1).to_dicts()
    cells = store.memory.cells.height
    assert verdict == "ok"
    assert words == cells == (last[0]["cells"] if last else 0) == store.verdicts.height
    return store


def test_fifty_killed_writers_lose_no_commit(tmp_path: Path, writers: Writers) -> None:
    delays, done = random.Random(7), dict[Path, int]()  # noqa: S311  # not secrets
    for kill in range(KILLS):
        is_new = kill % 3 == 2  # every third writer is killed while or soon after it creates a new store
        path = tmp_path / (f"new{kill}.sqlite" if is_new else f"{kill % 3}.sqlite")
        writers.begin("ann", path, deeds=10_000)
        pid, committed = writers.pid(), 0
        if not is_new:
            committed += writers.line()[1].isdecimal()
        time.sleep(delays.uniform(0.0, 0.08))
        os.kill(pid, signal.SIGKILL)
        committed += sum(message.isdecimal() for _, message in writers.until_end())
        if path.exists():
            with whole(path) as store:
                assert 0 <= store.ticks.height - done.get(path, 0) - committed <= 1
        else:
            assert committed == 0
        with Store(path) as store:
            store.admit([claim(f"{kill:04x}", t=store.day or 0.0)])
            done[path] = store.ticks.height
    assert done[tmp_path / "0.sqlite"] > KILLS // 3


def test_two_processes_writing_at_once_wait_for_each_other(path: Path, writers: Writers) -> None:
    for name in ("ann", "ben"):
        writers.begin(name, path, deeds=12)
    messages = writers.until_end(2)
    assert sorted(messages) == sorted((name, str(deed)) for name in ("ann", "ben") for deed in range(12))
    with whole(path) as store:
        assert store.ticks.height == 24
        assert store.memory.cells["writer"].value_counts(sort=True)["count"].to_list() == [6, 6]
        assert store.memory.writers["writer"].sort().to_list() == ["ann", "ben"]


def test_busy_store_is_refused_without_partial_writes(path: Path, writers: Writers) -> None:
    for name in ("ann", "ben", "cyd"):
        writers.begin(name, path, deeds=12, wait=0.0)
    messages = [word for _, word in writers.until_end(3)]
    assert {word for word in messages if not word.isdecimal()} <= {"busy"}
    with whole(path) as store:
        assert store.ticks.height == sum(word.isdecimal() for word in messages)


def test_reopening_in_the_same_process_preserves_locks(path: Path) -> None:
    program = f"from malsim.memory import Memory; Memory.open({str(path)!r})"
    with Store(path) as store:
        store.admit([claim("aaaa")])
        assert is_store(path)
        # closing any handle of a file drops a process's POSIX locks on that file
        assert Memory.open(path).height == 1
        subprocess.run([sys.executable, "-c", program], check=True)
        store.admit([claim("bbbb", title="another")])
        assert Memory.open(path).height == 2
    assert Memory.open(path).height == 2
