"""Tests of how a cell's readers are found: by handle, key, version, edge, wildcard and signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import AddressError
from malsim.memory.explain import explain
from malsim.memory.schema import RELATIONS
from malsim.netlist.evaluate import cells_read, evaluate
from malsim.scenario.file.scenario_file import parse
from malsim.sim.bench import run

if TYPE_CHECKING:
    from malsim.sim.run import Run

WIRES = """
loadrt watch names=weak,other
loadrt latch names=alarm
net low weak.in < dec_a3ee-scores-eff
net is-weak weak.below > alarm.set
net tripped alarm.out
net by-key other.in < dec_beef-scores-eff
net helped < mean(dec_a3ee.~contradicts.*-scores-eff)
net oldest < obs_c0c1@v1-scores-eff
net all < max(cell-scores-eff)
net ann < writer(ann)-claims
setp weak.level 0.5
addf weak tick
addf alarm tick
addf watch tick [topics: store]
addf quorum tick [keys: obs_c0c1]
"""
BEGINNING = """
why = "x"
run = { days = 6 }
rules = { calibration = "none" }
check = [
  { name = "direct", property = "always eff(obs_b0b1) >= 0" },
  { name = "wired", property = "eventually low < 0.5" },
  { name = "downstream", property = "always alarm.out >= 0" },
  { name = "event", property = "always not at event(flagged, obs_c0c1)" },
  { name = "hop", property = "always mean(eff(obs_b0b1.contradicts.*)) >= 0" },
  { name = "metric", metric = "last", of = "eff(obs_c0c1)", within = [0, 1] },
  { name = "alarm", alarm = "alarm.out", expect = { "1" = "quiet" } },
]
baseline = { columns = ["cells.effective", "events"] }
goal = [{ name = "once", sometimes = "eventually eff(obs_c0c2) >= 0.5" }]
"""


def edge(relation: str, target: str) -> str:
    return f'edges = [{{ relation = "{relation}", target = "{target}" }}]'


CLAIMS = (
    'at = "0d", writer = "ann", handle = "dec_a3ee", key = "dec_beef", title = "a", confidence = 0.9, topics = ["store"]',
    'at = "1d", writer = "bob", handle = "obs_b0b1", title = "it locked", confidence = 0.8, '
    + edge("contradicts", "dec_a3ee"),
    'at = "0d", writer = "cat", handle = "obs_c0c1", title = "it is slow", confidence = 0.7, topics = ["store"]',
    'at = "3d", writer = "cat", handle = "obs_c0c2", title = "it is fast", confidence = 0.7, '
    + edge("supersedes", "obs_c0c1"),
    'at = "2d", writer = "b", handle = "prg_d0d1", title = "w", confidence = 0.6, body = "addf watch tick [keys: obs_b0b1]"',
)
TEXT = f"{BEGINNING}claim = [{', '.join(f'{{ {claim} }}' for claim in CLAIMS)}]\nnetlist.text = '''{WIRES}'''\n"


@pytest.fixture(scope="module")
def made() -> Run:
    return run(parse(TEXT))


def named(made: Run, cell: str, t: float | None = None) -> set[tuple[str, str]]:
    found = made.explain(cell, t).read_by
    assert found is not None
    return set(found.select("kind", "name").rows()) - {("check", "baseline"), ("signal", "all")}


def test_all_readers_of_a_cell_are_found(made: Run) -> None:
    read = {("check", name) for name in ("wired", "downstream", "hop", "alarm")}
    wired = {("signal", "low"), ("signal", "by-key"), ("alarm", "tripped"), ("program", "watch")}
    assert named(made, "dec_a3ee") == read | wired
    assert named(made, "obs_b0b1") == {("signal", "helped"), ("check", "direct"), ("program", "watch")}
    assert named(made, "obs_c0c2") == {("check", "once")}


def test_readers_of_a_cell_depend_on_the_day(made: Run) -> None:
    always = {("signal", "oldest"), ("check", "event"), ("check", "metric")}
    of_active = {("program", "watch"), ("program", "quorum"), ("signal", "all")}
    assert named(made, "obs_c0c1") == always  # programs do not read superseded cells
    assert named(made, "obs_c0c1", 2.0) == (always | of_active) - {("signal", "all")}
    assert ("program", "watch") not in named(made, "obs_b0b1", 2.0)  # the program is added only on day 2


def test_wildcard_in_a_reducer_matches_only_active_cells(made: Run) -> None:
    for cell, active in (("obs_b0b1", True), ("prg_d0d1", True), ("obs_c0c1", False)):
        found = made.explain(cell).read_by
        assert found is not None
        assert "baseline" in found["name"]
        assert ("all" in found["name"]) == active  # reducers read only active cells


def test_explanation_names_readers_with_their_lines(made: Run) -> None:
    last = str(made.explain("dec_a3ee")).splitlines()[-1]
    assert last.startswith("  read by: signal low (scenario:")
    assert 'check "wired"' in last or "more" in last
    line = int(last.partition("scenario:")[2].partition(")")[0])
    assert TEXT.splitlines()[line - 1] == "net low weak.in < dec_a3ee-scores-eff"
    # without its run, a memory does not know its readers
    assert "read by" not in str(explain(made.memory, "dec_a3ee", t=6.0))


def test_cell_without_checks_and_wires_has_no_readers() -> None:
    alone = run(parse(f"why = 'x'\nrun.days = 3\nclaim = [{{ {CLAIMS[0]} }}]\n"))
    assert str(alone.explain("dec_a3ee")).endswith("read by: no check and no wire")


HOPS = st.builds("{}{}.*".format, st.sampled_from([".", ".~"]), st.sampled_from([*RELATIONS]))
STARTS = st.sampled_from(["dec_a3ee", "obs_b0b1", "obs_c0c2", "obs_c0c1", "prg_d0d1"])


@given(where=st.one_of(st.just("cell"), st.builds("{}{}".format, STARTS, st.lists(HOPS, max_size=3).map("".join))))
def test_address_with_a_reducer_reads_all_its_cells(made: Run, where: str) -> None:
    frames = made.frames
    read = cells_read(f"sum({where}-scores-eff)", frames).join(frames.cells, on=["t", "rep", "cell"])
    total = read.group_by("t").agg(pl.col("effective").sum().alias("read"))
    summed = evaluate(f"sum({where}-scores-eff)", frames).join(total, on="t", how="left").fill_null(0.0)
    assert (summed["value"] - summed["read"]).abs().max() == pytest.approx(0.0, abs=1e-12)


def test_addresses_of_signals_and_writers_read_no_cells(made: Run) -> None:
    for where in ("low", "alarm.out", "writer(ann)-claims", "mean(writer-calibration)"):
        assert cells_read(where, made.frames).is_empty()
    with pytest.raises(AddressError, match="no such cell"):
        cells_read("dec_ffff-scores-eff", made.frames)
