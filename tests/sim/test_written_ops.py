"""Tests of readers that write ops to watch cells which they open repeatedly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from malsim.netlist.programs import fault_of
from malsim.sim import bench
from malsim.sim.agent.oversight.written_ops import MOVES
from malsim.sim.settings.netlist_config import READER_OPS, NetlistConfig, op_cell
from malsim.sim.settings.population import Population
from malsim.sim.settings.reader import Reader
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact

if TYPE_CHECKING:
    from malsim.sim.run import Run


def scenario(**reader: Any) -> Scenario:
    settings = {"behaviour": "writes_ops", "ops": 12, "watch_below": 0.7, "wants": 5, "observes": 0.1, **reader}
    honest = Population(behaviour="honest", count=2, rate=0.1, settings={"accuracy": 0.97}, verification="checked")
    sure = Population(behaviour="overconfident", rate=0.2, settings={"accuracy": 0.8}, verification="checked")
    return Scenario(
        facts=tuple(Fact(name=name) for name in ("tide", "wind")), writers=(honest, sure), days=50.0, replications=6, seed=5,
        reader=Reader(**settings),
    )  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Run:
    return bench.run(scenario())


def of(run: Run, *kinds: str) -> pl.DataFrame:
    return run.events.filter(pl.col("kind").is_in(kinds))


def test_reader_opens_a_watched_cell_only_after_its_op_fires(run: Run) -> None:
    wired = of(run, "wired")
    assert wired.height > 6
    ops = wired.with_columns(op=pl.col("detail").str.extract(r"^(reader-op-\d+):"))
    fires = pl.col("signal").str.extract(r"^(reader-op-\d+)-(?:low|moved|falls)$")
    fired = run.signals.filter(pl.col("value") == 1).select("rep", op=fires, t=pl.col("t") + 1)
    last = ops.unique(["rep", "op"], keep="last")  # a rewired op watches only its last cell
    opened = of(run, "expanded").filter(pl.col("detail") == "wanted").join(last, on=["rep", "subject"], suffix="_wired")
    opened = opened.filter(pl.col("t") > pl.col("t_wired"))
    assert opened.join(fired, on=["rep", "op", "t"], how="anti").is_empty()
    assert of(run, "flagged").height > 0
    before = bench.run(scenario(behaviour="obedient"))
    assert of(run, "expanded").height < 0.95 * of(before, "expanded").height
    assert before.scenario.netlist is None


def test_written_op_is_an_admitted_claim(run: Run) -> None:
    programs = run.memory.cells.filter((pl.col("kind") == "prg") & (pl.col("writer") == "reader"))
    wired = of(run, "wired").with_columns(said=pl.col("detail").str.extract(r": (\w+) ") + " " + pl.col("subject"))
    assert sorted(programs.select("rep", "created", "title").rows()) == sorted(wired.select("rep", "t", "said").rows())
    assert programs["body"].str.starts_with("addf ").all()
    assert [fault_of(body) for body in programs["body"].unique()] == [""] * programs["body"].n_unique()
    admitted = of(run, "admitted").join(programs, left_on=["rep", "subject"], right_on=["rep", "handle"], how="semi")
    assert admitted.height == programs.height
    assert set(programs["handle"]) <= set(run.cells["cell"])
    assert "scheduled" not in set(run.events["kind"])  # the ops are part of the netlist, so no program runs


def test_reader_writes_trend_ops_only_for_cells_that_moved(run: Run) -> None:
    wired = of(run, "wired").with_columns(kind=pl.col("detail").str.extract(r": (\w+) "))
    assert set(wired["kind"]) == set(READER_OPS)
    opened = of(run, "expanded").select("t", "rep", "subject", how="detail")
    found = wired.join(opened, on=["t", "rep", "subject"])
    assert found.filter((pl.col("kind") == "drift") & (pl.col("how") == "wanted")).is_empty()
    worth = run.cells.select("t", "rep", "cell", "effective").rename({"cell": "subject"})
    of_trends = wired.filter(pl.col("kind") == "trend").rename({"t": "day"}).select("day", "rep", "subject")
    moved = of_trends.join(worth, on=["rep", "subject"]).filter(pl.col("t") < pl.col("day"))
    spans = moved.group_by("day", "rep", "subject").agg(pl.col("effective").max() - pl.col("effective").min())
    assert (spans["effective"] >= MOVES).all()


def test_unparsable_op_is_refused() -> None:
    bad = bench.run(scenario(slips=1.0))
    assert of(bad, "wired").is_empty()
    refused = of(bad, "rejected")
    assert refused.height > 6
    assert refused["cause"].str.ends_with("of reader").all()
    assert refused["detail"].str.contains("body").all()
    assert bad.memory.cells.filter((pl.col("kind") == "prg") & (pl.col("writer") == "reader")).is_empty()
    half = bench.run(scenario(slips=0.5))
    assert of(half, "wired").height
    assert of(half, "rejected").height


def test_rewired_op_replaces_the_previous_op(run: Run) -> None:
    programs = run.memory.cells.filter((pl.col("kind") == "prg") & (pl.col("writer") == "reader"))
    few = bench.run(scenario(ops=2)).memory.cells.filter((pl.col("kind") == "prg") & (pl.col("writer") == "reader"))
    assert (few["status"] == "superseded").any()
    active = few.filter(pl.col("status") == "active").group_by("rep").len()
    assert (active["len"] <= 2).all()
    assert (programs.filter(pl.col("status") == "active").group_by("rep").len()["len"] <= 12).all()


def test_reader_never_exceeds_its_number_of_ops(run: Run) -> None:
    few = bench.run(scenario(ops=1))
    assert of(few, "refused").filter(pl.col("detail") == "no op: all 1 watch active cells").height > 0
    assert {word.partition(":")[0] for word in of(few, "wired")["detail"]} == {"reader-op-1"}
    assert of(run, "refused").is_empty()


def test_written_op_is_traced_to_its_cell(run: Run) -> None:
    for signal, handle in (("-low", "prg_reader"), ("-moved", "prg_drift")):
        flag = of(run, "flagged").filter(pl.col("cause").str.ends_with(signal)).row(0, named=True)
        assert f"from {handle}" in run.why(flag["cause"], t=flag["t"], rep=flag["rep"])
    assert run.why("reader-op-8-low").startswith("reader-op-8-low is 0 since the start")


def test_ops_are_removed_with_the_reader() -> None:
    """Require each op of the current reader exactly once in the netlist, and no op of an earlier reader."""
    named_own = scenario(ops=2).replace(netlist="loadrt watch names=own\nnet days own.in < clock.days\naddf own tick\n")
    assert named_own.netlist is not None
    assert named_own.replace(netlist=named_own.netlist.text).netlist == NetlistConfig.of(named_own.netlist.text)
    three = named_own.replace(reader=replace(named_own.reader, ops=3.0)) if named_own.reader else named_own
    assert three.netlist is not None
    assert three.netlist.text.count(f"{op_cell(2)}-scores-eff") == 1
    assert op_cell(3) not in three.netlist.text
    lazy = three.replace(reader=Reader(behaviour="lazy"))
    assert lazy.netlist is not None
    assert "reader-op" not in lazy.netlist.text
    assert "loadrt watch names=own" in lazy.netlist.text
