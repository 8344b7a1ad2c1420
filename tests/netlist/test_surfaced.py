"""Tests that surfaced signals appear as lines in the next push."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim import api
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.memory.push.sections import REMINDERS, sections
from malsim.memory.rules import Rules
from malsim.netlist.shipped import SurfacedLines, catalogue, signal_named, surfaced_names

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.api import Run

SCENARIO = """why = "A volatile fact, and nobody tells its changes."
seed = 3
[run]
days = 60
turn_every = "1d"
replications = 2
[[facts]]
name = "host"
class = "ephemeral"
count = 3
[[writers]]
behaviour = "honest"
rate = 0.05
[reader]
behaviour = "obedient"
"""
SIGNALS = """[netlist]
signals = ["time-to-stale", "triage-rank"]
"""


def run_with(folder: Path, more: str = SIGNALS) -> Run:
    path = folder / "thin.toml"
    path.write_text(SCENARIO + more, encoding="utf-8")
    return api.run(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_with(tmp_path_factory.mktemp("thin"))


@given(
    words=st.lists(st.lists(st.integers(1, 9), max_size=5), min_size=1, max_size=4),
    budget=st.lists(st.integers(0, 40), min_size=4, max_size=4),
)
def test_surfaced_lines_fit_the_budget_and_the_rest_are_counted(words: list[list[int]], budget: list[int]) -> None:
    rep = np.repeat(np.arange(len(words)), [len(lengths) for lengths in words])
    flat = [count for lengths in words for count in lengths]
    size, none = np.array(flat, dtype=np.int64), np.zeros(len(words), dtype=np.int64)
    read = pl.DataFrame({"signal": [0] * len(flat), "label": ["x"] * len(flat), "value": 1.0, "others": 0})
    lines = SurfacedLines((signal_named("dependency-rot"),), rep, np.full(len(flat), -1), size, read, none)
    within = lines.within(np.array(budget[: len(words)]))
    assert (within.cost <= budget[: len(words)]).all()
    for index, lengths in enumerate(words):
        count = int((within.rep == index).sum())
        assert count + within.more[index] == len(lengths)
        assert count == len(lengths) or sum(lengths[: count + 1]) > budget[index]
        assert len(within.of(index)) == count + bool(within.more[index])


def test_push_shows_only_surfaced_signals(run: Run) -> None:
    lines = run.events.filter(pl.col("kind") == "surfaced")
    assert lines["cause"].str.starts_with("time-to-stale.fires(").all()
    assert lines["detail"].str.contains("queue for a refresh before it goes stale").all()
    assert lines.group_by("t", "rep").len()["len"].max() == 1
    event = lines.row(-1, named=True)
    assert event["subject"] in event["detail"]
    assert run.why(event["cause"], t=event["t"], rep=event["rep"])


def test_surfaced_words_count_against_the_budget(run: Run, tmp_path: Path) -> None:
    words = run.signals.filter(pl.col("signal") == "words")
    plain = run_with(tmp_path, "").signals.filter(pl.col("signal") == "words")
    more = words.join(plain, on=["t", "rep"]).with_columns(more=pl.col("value") - pl.col("value_right"))
    lines = run.events.filter(pl.col("kind") == "surfaced").select("t", "rep", pl.col("detail").str.split(" ").list.len())
    first = more.join(lines, on=["t", "rep"]).filter(pl.col("t") == pl.col("t").min())
    assert (first["more"] == first["detail"]).all()
    assert "surfaced" not in set(run_with(tmp_path, "").events["kind"])


def test_reader_opens_cells_named_in_surfaced_lines(run: Run) -> None:
    lines = run.events.filter(pl.col("kind") == "surfaced").select("t", "rep", "subject")
    opened = run.events.filter(pl.col("kind") == "expanded").select("t", "rep", "subject")
    assert lines.join(opened, on=["t", "rep", "subject"], how="semi").height


def test_replication_has_the_same_events_alone_and_in_a_batch(run: Run) -> None:
    alone = run.replication(1).events
    both = run.events.filter(pl.col("rep") == 1)
    kinds = pl.col("kind").is_in(["surfaced", "expanded", "pushed"])
    assert alone.filter(kinds).equals(both.filter(kinds))


def test_run_and_store_print_the_same_push(run: Run) -> None:
    for day, rep in ((9, 0), (30, 1), (60, 0)):
        push = run.push(day, rep)
        event = run.events.filter((pl.col("t") == day) & (pl.col("rep") == rep))
        row = event.filter(pl.col("kind") == "pushed").row(0, named=True)
        assert row["cause"] == f"task: {push.task}"
        marks = sum(line.startswith("^") for line in push.lines)
        assert row["detail"].startswith(f"{len(push.lines)} lines, ")
        assert row["detail"].endswith(f", {marks} marked ^")
        assert push.sections.signals == tuple(event.filter(pl.col("kind") == "surfaced")["detail"])
        assert str(push).startswith(f"day {day}, turn {day}, about {push.task}")


def test_push_needs_a_graph_and_a_reader(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="from 1 to 60"):
        run.push(0)
    nobody = SCENARIO[: SCENARIO.index("[reader]")]
    path = tmp_path / "nobody.toml"
    path.write_text(nobody, encoding="utf-8")
    with pytest.raises(UsageError, match=r"add a \[reader\]"):
        api.run(path).push(3)
    with pytest.raises(UsageError, match="needs a claim graph"):
        api.run(run.scenario, law="majority", netlist=None).push(3)


def test_user_signal_is_surfaced_when_declared(tmp_path: Path) -> None:
    text = signal_named("time-to-stale").text.replace("time-to-stale", "going-stale")
    text = text.replace("derived-refresh", "derived-again")
    (tmp_path / "going-stale.malnet").write_text(text, encoding="utf-8")
    (tmp_path / "own.malnet").write_text("addf going-stale tick\n", encoding="utf-8")
    lines = run_with(tmp_path, '[netlist]\nfile = "own.malnet"\n').events.filter(pl.col("kind") == "surfaced")
    assert lines["detail"].str.starts_with("going-stale obs_").all()
    assert lines.height
    (tmp_path / "going-stale.malnet").write_text(text.replace("shown: surfaced", "shown: silent"), encoding="utf-8")
    assert "surfaced" not in set(run_with(tmp_path, '[netlist]\nfile = "own.malnet"\n').events["kind"])


def test_surfaced_section_comes_first_in_the_push() -> None:
    none = sections([], [], [], 0.0, Rules(), budget=6, surfaced=["one two three", "four five six"])
    assert none.signals == ("one two three",)
    assert none.words == len(["signals:", "one", "two", "three", "remember:"]) + len(REMINDERS.split())
    assert str(none).splitlines()[:2] == ["signals:", "  one two three"]


def test_signal_that_cannot_be_surfaced_is_refused() -> None:
    assert set(surfaced_names("all")) == {item.name for item in catalogue().values() if item.surfaced}
    with pytest.raises(UsageError, match="silent"):
        surfaced_names("triage-rank")


def test_signals_command_reads_store_and_scenario(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "memory.sqlite"
    run.replication(0).memory.save(store)
    assert main(["look", str(store), "--at", "60", "--signals", "time-to-stale"]) == 0
    assert "signals:\n  time-to-stale obs_" in capsys.readouterr().out
    assert main(["look", str(run.scenario.path), "--at", "30"]) == 0
    assert capsys.readouterr().out == f"{run.push(30)}\n"
    cell = run.push(30).cells["handle"][0]
    assert main(["look", str(run.scenario.path), cell, "--at", "30"]) == 0
    assert f"{cell} " in capsys.readouterr().out
    assert main(["look", str(run.scenario.path), "--query", "host"]) == 2
