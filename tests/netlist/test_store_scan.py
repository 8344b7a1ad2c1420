"""Tests of the netlist scans of a store: comparison with a run, export and import, and ticks that are killed or fail."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim import cli
from malsim.memory import Rules
from malsim.memory.gate.claims import as_claims
from malsim.memory.store import Store
from malsim.memory.store import store_file as stores
from malsim.netlist import NetlistError, parse, render
from malsim.netlist.shipped.store_wires import load_all
from malsim.sim import bench
from malsim.sim.settings.netlist_config import NetlistConfig
from malsim.sim.settings.scenario import Scenario

TRIPWIRE = (Path(__file__).parents[2] / "scenarios" / "tripwire.malnet").read_text(encoding="utf-8")
LINES = "addf task-staleness tick\n"
PROGRAMS = ("watch", "drift", "trend", "quorum")
DAYS = 4
RELATION = st.sampled_from(["contradicts", "supports"])
CLAIM = st.tuples(st.integers(0, DAYS - 1), st.sampled_from(["ann", "bob"]), RELATION, st.sampled_from([None, *PROGRAMS]))
COLUMNS = ["t", "kind", "subject", "detail", "cause"]
KINDS = ("tripped", "cleared", "flagged", "unflagged", "scheduled")


def claims_of(drawn: list[tuple[int, str, str, str | None]]) -> list[dict[str, Any]]:
    """Return the drawn claims as claims about the tripwire's decision, or as programs that watch the decision."""
    claims: list[dict[str, Any]] = []
    for number, (day, writer, relation, program) in enumerate(sorted(drawn, key=lambda event: event[0])):
        named = {"title": f"claim {number}", "handle": f"obs_{number:04x}", "source_refs": ["log:1"]}
        claim = {"t": day + 0.5, "writer": writer, "confidence": 0.6, **named}
        edges = [{"relation": relation, "target": "dec_a3ee", "weight": 1.0 if relation == "supports" else -1.0}]
        body = f"addf {program} tick [keys: dec_a3ee] [delta: 0.02]"
        more = {"kind": "prg", "body": body, "handle": f"prg_{number:04x}"} if program else {"edges": edges}
        claims.append(claim | more)
    return claims


def wired(path: Path, *texts: str) -> None:
    with Store(path) as store:
        store.wire(lambda memory, here: load_all(memory, here, [parse(text) for text in texts], Rules()))


def live(path: Path, claims: list[dict[str, Any]], first: int, last: int) -> None:
    for day in range(first, last + 1):
        if today := [claim for claim in claims if day - 1 <= claim["t"] < day]:
            with Store(path) as store:
                store.admit(today)
        with Store(path) as store:
            store.tick(float(day))


def tripped(claims: list[dict[str, Any]], path: Path) -> list[tuple[Any, ...]]:
    wired(path, TRIPWIRE)
    live(path, claims, 1, DAYS)
    with Store(path, write=False) as store:
        return store.events.filter(pl.col("kind").is_in(KINDS)).select(COLUMNS).rows()


def same_as_the_run(claims: list[dict[str, Any]], path: Path) -> list[tuple[Any, ...]]:
    facts = as_claims(claims)
    run = bench.run(Scenario(claims=facts, netlist=NetlistConfig.of(TRIPWIRE), days=float(DAYS), replications=1, seed=1))
    ours = tripped(claims, path)
    assert sorted(ours) == sorted(run.events.filter(pl.col("kind").is_in(KINDS)).select(COLUMNS).rows())
    with Store(path, write=False) as store:
        assert store.memory.cells["effective"].to_list() == run.memory.cells["effective"].to_list()
    return ours


def test_tripwire_trips_on_the_same_days_in_a_store_and_a_run(tmp_path: Path) -> None:
    drawn = [(0, "ann", "contradicts", None), (0, "bob", "supports", "drift"), (1, "bob", "contradicts", None),
             (1, "ann", "supports", "trend"), (2, "ann", "supports", None)]  # fmt: skip
    ours = same_as_the_run(claims_of(drawn), tmp_path / "memory.sqlite")
    assert {kind for _, kind, *_ in ours} == {"tripped", "flagged", "scheduled"}
    assert len({subject for _, kind, subject, *_ in ours if kind == "tripped"}) == 3


@pytest.mark.nightly
@settings(max_examples=20, deadline=None)
@given(drawn=st.lists(CLAIM, min_size=1, max_size=6))
def test_store_and_run_events_match_for_any_claims(tmp_path_factory: pytest.TempPathFactory, drawn: list[Any]) -> None:
    same_as_the_run(claims_of(drawn), tmp_path_factory.mktemp("life") / "memory.sqlite")


@pytest.mark.parametrize("name", ["away.json", "away.sqlite3"])
def test_exported_and_imported_store_continues_identically(tmp_path: Path, name: str) -> None:
    drawn = [(0, "ann", "contradicts", None), (0, "bob", "supports", "drift"), (2, "bob", "contradicts", None),
             (3, "ann", "contradicts", None)]  # fmt: skip
    claims, stays, moves = claims_of(drawn), tmp_path / "stays.sqlite", tmp_path / "moves.sqlite"
    wired(stays, TRIPWIRE + LINES)
    live(stays, claims, 1, 2)
    assert cli.main(["export", str(stays), "--as", "recall", "-o", str(tmp_path / name)]) == 0
    assert cli.main(["import", str(tmp_path / name), "-o", str(moves)]) == 0
    live(stays, claims, 3, DAYS)
    live(moves, claims, 3, DAYS)
    with Store(stays, write=False) as store, Store(moves, write=False) as other:
        assert store.standing.text == other.standing.text
        after = store.events.filter(pl.col("t") > 2.0, pl.col("kind").is_in(KINDS)).select(COLUMNS)
        assert after.height
        assert after.rows() == other.events.filter(pl.col("kind").is_in(KINDS)).select(COLUMNS).rows()
        assert store.memory.cells["effective"].to_list() == other.memory.cells["effective"].to_list()


@pytest.mark.nightly
def test_store_recovers_fully_if_tick_commands_are_killed(tmp_path: Path) -> None:
    drawn = [(0, "ann", "contradicts", None), (0, "bob", "supports", "drift"), (2, "bob", "contradicts", "watch")]
    claims, stays, dies = claims_of(drawn), tmp_path / "stays.sqlite", tmp_path / "dies.sqlite"
    for path in (stays, dies):
        wired(path, TRIPWIRE + LINES)
    live(stays, claims, 1, DAYS)
    moments = random.Random(3)  # noqa: S311  # reproducible, not secret
    for day in range(1, DAYS + 1):
        if today := [claim for claim in claims if day - 1 <= claim["t"] < day]:
            with Store(dies) as store:
                store.admit(today)
        for _ in range(3):
            command = [sys.executable, "-m", "malsim", "store", "tick", str(dies), "--now", str(day)]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0.5, 1.5))
            process.kill()
            process.wait()
            with Store(dies, write=False) as store:
                if store.day == float(day):
                    break
        else:
            with Store(dies) as store:
                store.tick(float(day))
    with Store(stays, write=False) as store, Store(dies, write=False) as other:
        assert store.events.rows() == other.events.rows()
        assert store.standing.state == other.standing.state
        assert store.memory.cells["effective"].to_list() == other.memory.cells["effective"].to_list()


def test_next_push_shows_a_firing_signal(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    wired(path, LINES)
    with Store(path) as store:
        task = {"writer": "ann", "kind": "tsk", "title": "mend the pump", "confidence": 0.6, "t": 0.0}
        store.admit([task])
        store.tick(90.0)
    with Store(path, write=False) as store:
        (line,) = store.mini_index().sections.signals
        assert line.startswith("task-staleness tsk_")


def test_tick_prints_alarms_and_render_includes_wiring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "memory.sqlite")
    (tmp_path / "trip.malnet").write_text(TRIPWIRE + LINES, encoding="utf-8")
    assert cli.main(["netlist", "load", str(tmp_path / "trip.malnet"), "-o", path]) == 0
    for number in range(4):
        edge = ["--edge", "contradicts dec_a3ee -1"]
        words = ["store", "write", path, "--writer", f"w{number}", "--title", f"no {number}", "--confidence", ".7", *edge]
        assert cli.main(words) == 0
    capsys.readouterr()
    assert cli.main(["store", "tick", path]) == 0
    assert "tripped tripped" in capsys.readouterr().out
    assert cli.main(["look", path, "dec_a3ee"]) == 0
    assert "requires_review" in capsys.readouterr().out
    assert cli.main(["netlist", "render", path]) == 0
    text = capsys.readouterr().out
    (tmp_path / "again.malnet").write_text(text, encoding="utf-8")
    assert cli.main(["netlist", "load", str(tmp_path / "again.malnet"), "-o", str(tmp_path / "again.sqlite")]) == 0
    with Store(tmp_path / "again.sqlite", write=False) as again, Store(path, write=False) as store:
        assert again.standing.text == store.standing.text
        assert render(again.memory) == render(store.memory)


def test_interrupted_tick_leaves_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.sqlite"
    wired(path, TRIPWIRE)
    with Store(path) as store:
        store.tick(1.0)
        before = (store.standing.state, store.events.rows(), store.memory.cells.rows())
        monkeypatch.setattr(stores, "write", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            store.tick(2.0)
    with Store(path, write=False) as store:
        assert (store.standing.state, store.events.rows(), store.memory.cells.rows()) == before


def test_unknown_op_fails_the_tick_but_not_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "memory.sqlite"
    wired(path, TRIPWIRE)
    with closing(sqlite3.connect(path)) as file:
        text = file.execute("SELECT value FROM standing WHERE name = 'text'").fetchone()[0]
        file.execute("UPDATE standing SET value = ? WHERE name = 'text'", (text + "loadrt nosuchop names=late\n",))
        file.commit()
    assert cli.main(["look", str(path)]) == 0
    assert cli.main(["netlist", "render", str(path)]) == 0
    assert cli.main(["store", "tick", str(path)]) == 2
    assert "nosuchop" in capsys.readouterr().err
    with Store(path, write=False) as store:
        assert store.ticks.height == 1


def test_wiring_loaded_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    wired(path, TRIPWIRE)
    with Store(path, write=False) as store:
        before = store.standing.text
    with pytest.raises(NetlistError):
        wired(path, "loadrt watch names=weak\n")
    with Store(path, write=False) as store:
        assert store.standing.text == before
        assert json.dumps(store.standing.lines) == "{}"
    wired(path, "loadrt watch names=more\nnet also more.in < dec_a3ee-scores-eff\naddf more tick\n")
    with Store(path) as store:
        store.tick(1.0)
        assert store.standing.text.startswith(before)
