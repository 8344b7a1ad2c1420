"""Tests of netlists that run on recorded streams, and of traced causes, diagrams and netlist commands."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from malsim.base.errors import AddressError, DataError
from malsim.cli import main
from malsim.memory import tick
from malsim.netlist import evaluate, load, parse, read
from malsim.netlist.engine.stream import difference, run
from malsim.netlist.why import why
from malsim.netlist.wiring import link
from malsim.netlist.wiring.diagram import diagram
from malsim.scenario.file.scenario_file import read as read_scenario
from malsim.showing.plots.wiring.netlist import netlist
from malsim.sim import bench

HERE = Path(__file__).parent
TRIP = HERE / "trip.malnet"
STREAM = pl.DataFrame(
    {
        "t": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "low": [0.7, 0.4, 0.6, 0.6, 0.6, 0.6],
        "old": [0.9, 0.9, 0.9, 0.9, 0.3, 0.9],
        "reviewer.ack": [False, False, False, True, False, False],
    }
)


def test_stream_runs_through_a_netlist_row_by_row() -> None:
    result = run(link(read(TRIP)), STREAM)
    assert result["tripped"].to_list() == [False, True, True, False, True, True]
    assert result["t"].to_list() == STREAM["t"].to_list()
    assert difference(result, result).is_empty()
    assert difference(result, result.select("tripped").with_columns(~pl.col("tripped"))).height == 6
    assert difference(result, result[:5])["column"].to_list() == ["length"]


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (pl.DataFrame({"tripped": [1.0]}), "the netlist does not read this column"),
        (pl.DataFrame({"nope": [1.0]}), "the netlist does not read this column"),
        (pl.DataFrame({"low": ["high"]}), "wrong type for its signal"),
        (pl.DataFrame({"low": [None]}, schema={"low": pl.Float64}), "wrong type for its signal"),
        (pl.DataFrame({"reviewer.ack": [0.5]}), "wrong type for its signal"),
    ],
)
def test_invalid_stream_is_refused(stream: pl.DataFrame, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        run(link(read(TRIP)), stream)


def recorded(result: pl.DataFrame) -> pl.DataFrame:
    return result.unpivot(index="t", variable_name="signal", value_name="value").with_columns(rep=0)


def test_signal_is_traced_back_to_its_cause() -> None:
    net = link(read(TRIP))
    signals = recorded(run(net, STREAM))
    steps = why("alarm.out", net, signals, at=3.5)
    assert [(step.signal, step.since) for step in steps] == [("tripped", 2.0), ("bad", 2.0), ("is-weak", 2.0), ("low", 2.0)]
    assert str(steps[0]) == "tripped is 1 since t = 2, before 0, from alarm.out"
    assert [step.signal for step in why("tripped", net, signals)] == ["tripped", "bad", "is-stale", "old"]
    assert [step.signal for step in why("tripped", net, signals, at=4.0)] == ["tripped", "ack"]
    with pytest.raises(AddressError, match="no such signal"):
        why("nope", net, signals)
    with pytest.raises(AddressError, match="not recorded"):
        why("tripped", net, signals, at=0.5)


def test_trace_of_a_signal_ends_at_the_cell_that_a_wire_reads() -> None:
    wires = "loadrt watch\nnet x dec_a3ee-scores-eff > watch.in\nnet y watch.below\naddf watch tick"
    loaded = load('dec_a3ee "a" conf(.4)\n' + wires)
    signals = recorded(run(loaded.net, pl.DataFrame({"t": [1.0, 2.0]}), memory=loaded.memory))
    steps = why("y", loaded.net, signals, moved=lambda where, t: f"{where} moved at {t}")
    assert steps[-1].cause == "dec_a3ee-scores-eff moved at 1.0"


def test_trace_of_a_signal_visits_a_loop_once() -> None:
    net = link(parse("loadrt not\nnet x not.out > not.in\naddf not tick"))
    assert len(why("x", net, recorded(run(net, pl.DataFrame({"t": [1.0, 2.0, 3.0]}))))) == 1


def test_diagram_runs_left_to_right_except_for_delayed_wires() -> None:
    laid = diagram(link(read(TRIP)), hal=True)
    layer = dict(laid.boxes.select("name", "layer").rows())
    assert layer["weak"] < layer["either"] < layer["alarm"] < layer["severity"]
    assert not laid.wires["late"].any()
    assert "alarm: latch [flipflop]" in laid.boxes["title"].to_list()
    swapped = TRIP.read_text(encoding="utf-8").replace(
        "addf either tick\naddf alarm tick", "addf alarm tick\naddf either tick"
    )
    late = diagram(link(parse(swapped))).wires.filter("late")
    assert late["signal"].to_list() == ["bad"]
    assert len(netlist(laid.boxes, laid.wires, title="trip").axes[0].patches) >= laid.boxes.height
    empty = diagram(link(parse("")))
    assert netlist(empty.boxes, empty.wires).axes


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["netlist", *arguments])
    output = capsys.readouterr()
    return code, output.out + output.err


def test_netlist_commands_check_format_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, trip = tmp_path / "bad.malnet", str(TRIP)
    bad.write_text("net x\naddf waek tick\n", encoding="utf-8")
    stream = tmp_path / "s.csv"
    STREAM.with_columns(pl.col("reviewer.ack").cast(pl.Int8)).write_csv(stream)
    expect = tmp_path / "e.csv"
    pl.DataFrame({"tripped": [0, 1, 1, 0, 1, 1]}).write_csv(expect)
    assert said(capsys, "check", trip) == (0, f"{trip}: 5 ops, 7 signals, 0 programs\n")
    assert said(capsys, "check", trip, str(bad))[0] == 1
    assert said(capsys, "fmt", trip) == (0, TRIP.read_text(encoding="utf-8"))
    assert "nothing reads" in said(capsys, "lint", trip)[1]
    assert said(capsys, "diff", trip, trip) == (0, "")
    assert said(capsys, "diff", trip, str(HERE / "published.malnet"))[0] == 1
    outcome = said(capsys, "run", trip, "--on", str(stream), "--expect", str(expect))
    assert outcome == (0, "6 ticks, 0 of them not as expected\n")
    pl.DataFrame({"tripped": [0, 1, 1, 1, 1, 1]}).write_csv(expect)
    assert said(capsys, "run", trip, "--on", str(stream), "--expect", str(expect), "-o", str(tmp_path / "o.csv"))[0] == 1
    assert pl.read_csv(tmp_path / "o.csv").height == 6
    assert "because low is 0.4 since t = 2" in said(capsys, "why", "alarm.out", trip, "--on", str(stream), "--at", "3")[1]
    assert said(capsys, "draw", trip, "-o", str(tmp_path / "t.svg"), "--hal")[0] == 0
    assert (tmp_path / "t.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_graph_is_loaded_into_a_store_and_rendered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, store = tmp_path / "g.malnet", str(tmp_path / "m.sqlite")
    graph.write_text('dec_a3ee "a" conf(.7!)\ndec_b3ee "b" supports> dec_a3ee(.5)\n', encoding="utf-8")
    assert said(capsys, "load", str(graph), "-o", store) == (0, f"2 cells, 1 edges: {store}\n")
    code, text = said(capsys, "render", store)
    assert code == 0
    again, original = (load(source).memory for source in (text, graph.read_text(encoding="utf-8")))
    for table, columns in (("cells", ["handle", "title", "stated"]), ("edges", ["source", "relation", "target", "weight"])):
        assert getattr(again, table).select(columns).equals(getattr(original, table).select(columns))
    more = tmp_path / "more.malnet"
    more.write_text("net x dec_a3ee-scores-eff > watch.in\naddf watch tick\n", encoding="utf-8")
    assert said(capsys, "check", str(more), "--into", store)[0] == 0
    more.write_text("net x dec_ffff-scores-eff > watch.in\naddf watch tick\n", encoding="utf-8")
    assert said(capsys, "check", str(more), "--into", store)[0] == 1


def test_wrong_command_arguments_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["diff", str(TRIP)], ["run", str(TRIP)], ["load", str(TRIP)], ["fmt", "missing.malnet"], ["why", "x"]):
        assert said(capsys, *arguments)[0] == 2
    (tmp_path / "s.txt").write_text("x")
    assert said(capsys, "run", str(TRIP), "--on", str(tmp_path / "s.txt"))[0] == 2
    hal = tmp_path / "m.hal"
    hal.write_text("loadrt lowpass\nloadusr x\naddf lowpass.0 tick\n")
    assert ":2: this program is not supported" in said(capsys, "check", str(hal))[1]


def test_value_command_reads_graph_store_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "g.malnet"
    graph.write_text('dec_a3ee "a" conf(.7!)\ndec_b3ee "b" conf(.4!) supports> dec_a3ee(.5)\n', encoding="utf-8")
    where = "mean(dec_a3ee.~supports.*-scores-conf)"
    assert said(capsys, "value", where, str(graph)) == (0, "t,rep,value\n0.0,0,0.4\n")
    memory = load(graph.read_text(encoding="utf-8")).memory
    assert evaluate(where, memory)["value"].to_list() == [0.4]
    memory.save(tmp_path / "m.sqlite", t=1.0)
    tick(memory, 5.0).save(tmp_path / "m.sqlite", t=5.0)
    for day, held in ((2, 0.4), (5, 0.4)):
        assert said(capsys, "value", where, str(tmp_path / "m.sqlite"), "--at", str(day))[1].endswith(f"{day}.0,0,{held}\n")
    (tmp_path / "it.toml").write_text(
        f"why = 'x'\n[run]\ndays = 3\n[netlist]\ntext = '''\n{graph.read_text()}net day clock.days\n'''\n"
    )
    made = bench.run(read_scenario(tmp_path / "it.toml"))
    made.write(tmp_path / "out")
    assert said(capsys, "value", where, str(tmp_path / "out"), "--at", "2.5") == (0, "t,rep,value\n2.0,0,0.4\n")
    assert said(capsys, "value", "clock.days", str(tmp_path / "out"))[1] == "t,rep,value\n1.0,0,1.0\n2.0,0,2.0\n3.0,0,3.0\n"
    assert made.evaluate("dec_a3ee.~supports.*-scores-conf", t=3).columns == ["t", "rep", "row", "value"]
    assert said(capsys, "value", "dec_ffff-scores-eff", str(graph))[0] == 2


def test_check_refuses_what_load_would_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.malnet"
    bad.write_text(
        'dec_a3ee "one" conf(.7)\n  supersedes> dec_b3ee(0)\nfrobnicate this line\ndec_b3ee "two" conf(.7)\n'
        '  supersedes> dec_a3ee(0)\ndec_c3ee "x" conf(.5)\ndec_c3ee "x" conf(.5)\nloadrt watch names=w\nnet b w.nope\n'
    )
    code, out = said(capsys, "check", str(bad))
    indices = [line.removeprefix(f"{bad}:").split(":")[0] for line in out.splitlines()]
    assert (code, indices) == (1, ["1", "3", "4", "7", "9"])
    assert ["itself" in out, "not a statement" in out, "has this key" in out, "no such pin" in out] == [True] * 4


def test_check_lists_needed_cells_and_reports_missing_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, text = str(tmp_path / "held.sqlite"), tmp_path / "more.malnet"
    load('obs_9c1f "there" conf(.5)').memory.save(store)
    text.write_text(
        'dec_a3ee "x" conf(.5)\n  supports> obs_9c1f(.6)\ndec_a3ee supports> obs_9c1f (+.6)\n'
        "loadrt watch names=w\nnet s w.in < obs_ffff-scores-eff\ndec_eeee-flags-annexed = true\n"
    )
    code, out = said(capsys, "check", str(text))
    note = "note: this edge repeats an edge above and is merged with it; given: 'obs_9c1f'"
    needs, counts = "needs dec_eeee obs_9c1f obs_ffff", "1 ops, 1 signals, 0 programs"
    assert (code, out.splitlines()) == (0, [f"{text}:3:20: {note}", f"{text}: {needs}", f"{text}: {counts}"])
    code, out = said(capsys, "check", str(text), "--into", store)
    assert (code, out.count("no such cell"), "obs_9c1f" in out.partition("note")[0]) == (1, 2, False)
