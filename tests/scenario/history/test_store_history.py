"""Tests that a store's history matches the store at every instant, and that checks are judged on this history."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from malsim.cli import main
from malsim.memory.gate.edit import annex, update
from malsim.memory.law_steps import present
from malsim.memory.store import Store
from malsim.scenario.history.store_history import store_history
from malsim.scenario.properties import check
from malsim.sim.settings.scenario import Scenario

ROOT = Path(__file__).parents[3]
WRITER = """
import sys
from malsim.memory.store import Store
with Store(sys.argv[1]) as file:
    file.admit([{"handle": "obs_aaaa", "title": "it runs", "writer": "ann", "confidence": 0.9}])
    file.tick(1.0)
    print("begun", flush=True)
    sys.stdin.readline()
"""


def claim(name: str, t: float, writer: str = "ann", **more: Any) -> dict[str, Any]:
    return {"handle": f"obs_{name}", "writer": writer, "t": t, "title": f"claim {name}", "confidence": 0.9,
            "verification": "external", **more}  # fmt: skip


def against(name: str, t: float, target: str = "obs_aaaa", **more: Any) -> dict[str, Any]:
    return claim(name, t, "bob", edges=[{"relation": "contradicts", "target": target}], **more)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the path of a store in which a claim is read once and contradicted twice, with ticks in between."""
    path = tmp_path / "memory.sqlite"
    with Store(path) as file:
        file.admit([claim("aaaa", 0.0, object="pump", value=1.0)])
        file.tick(1.0)
        file.expand("obs_aaaa", now=1.5)
        file.admit([against("bbbb", 2.0, object="pump", value=2.0)])
        file.tick(3.0)
        file.tick(4.0)
        file.admit([against("cccc", 4.5, object="pump", value=2.0)])
        file.tick(5.0)
    return path


DEEDS = st.lists(st.sampled_from(["claim", "dispute", "tick", "expand", "update", "annex", "supersede"]), max_size=8)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=DEEDS)
def test_snapshot_equals_the_store_on_that_day(deeds: list[str], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("store") / "memory.sqlite"
    with Store(path) as file:
        file.admit([claim("aaaa", 0.0)])
        for day, deed in enumerate(deeds, 1):
            now, name = float(day), f"b{day:03d}"
            if deed == "claim":
                file.admit([claim(name, now)])
            elif deed == "dispute":
                file.admit([against(name, now)])
            elif deed == "supersede":
                file.admit([claim(name, now, edges=[{"relation": "supersedes", "target": "obs_aaaa"}])])
            elif deed == "tick":
                file.tick(now)
            elif deed == "expand":
                file.expand("obs_aaaa", now=now)
            elif deed == "update":
                file.save(update(file.memory, "obs_aaaa", now=now, body=f"day {day}", topics=[name], writer="ann"), t=now)
            else:
                file.save(annex(file.memory, "obs_aaaa"), t=now)
        history = store_history(path, Scenario(), snapshots=True)
        ticked = "tick" in deeds
        assert len(history.snapshots) == (deeds.count("tick") if ticked else len(deeds) + 1)
        for t, memory in history.snapshots:
            then = file.at(t)
            assert memory.cells.equals(then.cells)
            assert memory.edges.equals(then.edges)
        for (t,), cells in history.cells.group_by("t"):
            expected = present(file.at(t)).memory.cells.sort("handle")
            for name in ("effective", "body", "status"):
                assert cells.sort("cell")[name].equals(expected[name])


def test_checks_judge_past_and_present_values(store: Path) -> None:
    history = store_history(store, Scenario(), cells=frozenset({"obs_aaaa"}))
    assert history.cells["cell"].unique().to_list() == ["obs_aaaa"]
    verdict = check("always (eff(obs_aaaa) >= 0.5)", history)
    assert not verdict.passed
    assert verdict.margin.witness.day == 4.5
    assert check("eventually[0d:1d] (eff(obs_aaaa) >= 0.9)", history).passed
    assert check("at event(admitted, obs_aaaa)", history).passed


def test_imported_cells_appear_on_the_day_of_their_claim(tmp_path: Path) -> None:
    with Store(tmp_path / "one.sqlite") as file:
        file.admit([claim("aaaa", 0.0), claim("bbbb", 3.0, edges=[{"relation": "supersedes", "target": "obs_aaaa"}])])
        memory = file.memory
    with Store(tmp_path / "two.sqlite") as file:
        file.save(memory)
    history = store_history(tmp_path / "two.sqlite", Scenario())
    assert history.cells.select("t", "cell", pl.col("status").cast(pl.String)).rows() == [
        (0.0, "obs_aaaa", "active"), (3.0, "obs_aaaa", "superseded"), (3.0, "obs_bbbb", "active"),
    ]  # fmt: skip
    assert history.events.select("t", "kind", "subject").rows() == [
        (0.0, "admitted", "obs_aaaa"), (3.0, "admitted", "obs_bbbb"), (3.0, "superseded", "obs_aaaa"),
    ]  # fmt: skip


CHECKS = """
why = "The pump's memory."
[[check]]
name = "believed"
property = "always (eff(obs_aaaa) >= {level})"
[[check]]
name = "contradicted"
property = "always[0d:1d] (eff(obs_aaaa) >= 0.9) or eventually (belief(pump) >= 0.5)"
"""
NET = """
[netlist]
text = '''
loadrt watch names=weak
loadrt latch names=alarm
net low weak.in < obs_aaaa-scores-eff
net is-weak weak.below > alarm.set
net tripped alarm.out
setp weak.level 0.5
addf weak tick
addf alarm tick
'''
[[check]]
name = "silent"
property = "always not at event(tripped)"
"""


def test_store_is_judged_by_a_checks_file(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks, junit = tmp_path / "checks.toml", tmp_path / "report.xml"
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    checks.write_text(CHECKS.format(level=0.3), encoding="utf-8")
    assert main(["test", "--on", str(store), str(checks)]) == 0
    checks.write_text(CHECKS.format(level=0.5) + NET, encoding="utf-8")
    assert main(["test", "--on", str(store), str(checks), "--junit", str(junit), "--html", str(tmp_path / "r.html")]) == 1
    out = capsys.readouterr().out
    assert f"{checks}:5: fail: believed: replication 0, day 4.5: expected eff(obs_aaaa) >= 0.5, got" in out
    assert f"alone: malsim test {checks} --check believed --on {store}" in out
    assert "silent: replication 0, day 3" in out
    assert 'failures="2"' in junit.read_text(encoding="utf-8")
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before
    assert [path.name for path in tmp_path.iterdir() if "memory" in path.name] == ["memory.sqlite"]


@pytest.mark.parametrize(
    ("text", "flags", "message"),
    [
        (CHECKS.format(level=0.5).replace("obs_aaaa", "obs_ffff"), [], "no such cell"),
        (CHECKS.format(level=0.5), ["--seed", "3"], "--seed changes simulations"),
        (CHECKS.format(level=0.5), ["LIMITS", "cells=1"], "too many ticks × cells"),
    ],
)
def test_history_that_cannot_be_judged_is_refused(
    text: str, flags: list[str], message: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if flags[:1] == ["LIMITS"]:
        monkeypatch.setenv("MALSIM_LIMITS", flags[1])
        flags = []
    (tmp_path / "checks.toml").write_text(text, encoding="utf-8")
    assert main(["test", "--on", str(store), str(tmp_path / "checks.toml"), *flags]) == 2
    assert message in "".join(capsys.readouterr())


def test_log_of_a_killed_process_is_read_but_not_changed(tmp_path: Path) -> None:
    path, checks = tmp_path / "memory.sqlite", tmp_path / "checks.toml"
    text = 'why = "w"\n[[check]]\nname = "there"\nproperty = "always (eff(obs_aaaa) >= 0.3)"\n'
    checks.write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == "begun\n"
        os.kill(writer.pid, signal.SIGKILL)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    assert f"{path.name}-wal" in before
    assert main(["test", "--on", str(path), str(checks)]) == 0
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")} == before


def test_foreign_memory_is_imported_and_judged(tmp_path: Path) -> None:
    log, checks = tmp_path / "log.jsonl", tmp_path / "checks.toml"
    log.write_text('{"t": 1, "event": "write", "item": "m1", "object": "pump", "value": "runs", "belief": 0.7}\n')
    for level, code in ((0, 0), (-1, 1)):
        text = f'why = "w"\n[[check]]\nname = "undisputed"\nproperty = "always (rivals(pump) <= {level})"\n'
        checks.write_text(text, encoding="utf-8")
        assert main(["test", "--on", str(log), str(checks)]) == code


def test_check_fails_on_a_contradiction_before_any_tick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, checks = tmp_path / "m.sqlite", tmp_path / "checks.toml"
    with Store(path) as store:
        store.admit([claim("aaaa", 0.0)])
        store.tick(1.0)
        store.admit([against("bbbb", 2.0, confidence=1.0)])
    text = 'why = "x"\n[[check]]\nname = "credible"\nproperty = "always (eff(obs_aaaa) >= 0.8)"\n'
    checks.write_text(text, encoding="utf-8")
    assert main(["test", str(checks), "--on", str(path)]) == 1
    assert "fail" in capsys.readouterr().out
    with Store(path) as store:
        assert store.memory.cells["effective"][0] == pytest.approx(0.443, abs=1e-3)
