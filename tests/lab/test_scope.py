"""The scope shows what a run recorded and nothing else, where halscope's trigger would show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import AddressError, DataError, UsageError
from malsim.cli import main
from malsim.lab.scope import Capture, Channel, Recording, Trigger, capture
from malsim.lab.scope.trigger import fires
from malsim.netlist import parse
from malsim.netlist.wiring import link
from malsim.showing.plots.runs.scope_screen import stairs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

A, D = "obs_a1a1-scores-eff", "obs_d4d4-scores-eff"
NUMBERS = st.one_of(st.floats(-2, 2), st.just(float("nan")), st.sampled_from([0.5, -0.0, 0.0]))
EMPTY = {"t": pl.Float64, "rep": pl.Int32}


@pytest.fixture(scope="module")
def run() -> ms.Run:
    return ms.run("scenarios/mutual_dispute.toml", days=20.0)


def recorded(values: Sequence[float | None], bits: list[bool] | None = None) -> Recording:
    """A recording of a signal `x`, and of a flag of a cell, one sample a day."""
    days = [float(day) for day in range(len(values))]
    flags = bits or [False] * len(values)
    signals = pl.DataFrame({"t": days, "rep": 0, "row": None, "signal": "x", "value": values}, strict=False).cast(
        {"rep": pl.Int32, "row": pl.String, "value": pl.Float64}
    )
    cells = pl.DataFrame({"t": days, "rep": 0, "cell": "obs_a1a1", "annexed": flags}).cast({"rep": pl.Int32})
    events = pl.DataFrame(schema={**EMPTY, "kind": str, "subject": str, "detail": str, "cause": str})
    return Recording.of_frames(cells, signals, pl.DataFrame(schema=EMPTY), events, rep=0)


@given(st.lists(NUMBERS, max_size=30), st.floats(-1, 1), st.sampled_from(["rising", "falling"]), st.integers(0, 8))
def test_the_trigger_is_halscopes_state_machine(values: list[float], level: float, edge: str, before: int) -> None:
    expected, last = [], None
    for place, value in enumerate(values):
        if np.isnan(value):
            continue
        above = value > level
        turned = last is not None and above != last and above == (edge == "rising")
        expected += [place] if turned and place >= before else []
        last = above
    assert fires(np.array(values, dtype=float), level, edge, before=before).tolist() == expected


@given(st.lists(st.one_of(st.none(), st.floats(-9, 9)), min_size=1, max_size=20), st.integers(1, 25))
def test_it_shows_the_values_of_the_run_at_the_ticks_of_the_run(values: list[float | None], record: int) -> None:
    samples = capture(recorded(values), ["x"], record=record).samples
    assert samples.select("t", "value").rows() == [(float(day), value) for day, value in enumerate(values[:record])]


@given(st.lists(st.tuples(st.floats(0, 9), st.one_of(st.none(), st.floats(-9, 9))), min_size=1, unique_by=lambda p: p[0]))
def test_between_ticks_stands_the_value_of_the_tick_before(pairs: list[tuple[float, float | None]]) -> None:
    days, values = zip(*sorted(pairs, key=lambda pair: pair[0]), strict=True)
    x, y = stairs(days, values, until=10.0)
    assert set(y) == set(values)
    assert y[::2] == y[1::2] == list(values)
    assert (x[::2], x[1::2]) == (list(days), [*days[1:], 10.0])


def test_the_picture_has_no_slope(run: ms.Run) -> None:
    line = run.scope([D]).figure.axes[0].lines[0]
    x, y = np.array(line.get_xdata(), dtype=float), np.array(line.get_ydata(), dtype=float)
    assert not ((np.diff(x) != 0) & (np.diff(y) != 0)).any()
    assert set(y) == set(run.cells.filter(pl.col("cell") == "obs_d4d4")["effective"])


def test_a_channel_without_a_value_is_a_gap() -> None:
    screen = capture(recorded([1.0, None, None, 4.0]), ["x digital=no"], cursors=[2.5, 3.5])
    y = np.array(screen.figure.axes[0].lines[0].get_ydata(), dtype=float)
    assert np.isnan(y).tolist() == [False, False, True, True, True, True, False, False]
    assert screen.readings.rows() == [(3.5, "x", 3.0, 4.0)]


def test_the_record_stands_round_the_trigger(run: ms.Run) -> None:
    screen = run.scope([A], trigger={"on": A, "level": 0.15, "position": 0.25, "number": 2}, record=8)
    days = screen.samples["t"].to_list()
    values = dict(zip(days, screen.samples["value"].to_list(), strict=True))
    assert screen.triggered is not None
    assert days == [screen.triggered + k for k in range(-2, 6)]
    assert values[screen.triggered - 1] <= 0.15 < values[screen.triggered]
    falling = run.scope([A], trigger=Trigger(on=A, level=0.15, edge="falling"), record=4).triggered
    assert falling is not None
    assert falling % 2 != screen.triggered % 2


def test_gain_and_offset_change_the_screen_and_not_the_samples(run: ms.Run) -> None:
    plain, scaled = run.scope([A]), run.scope([f"{A} gain=2 offset=-.5"])
    assert plain.samples.equals(scaled.samples)
    low, high = (np.array(one.figure.axes[0].lines[0].get_ydata(), dtype=float) for one in (plain, scaled))
    assert np.allclose(high, 2 * low - 0.5)


def test_bits_are_lanes_and_numbers_are_not(run: ms.Run) -> None:
    screen = capture(recorded([0.0, 1.0, 0.0], [False, True, True]), ["x", "obs_a1a1-flags-annexed", "x digital=no label=n"])
    assert screen.channels["digital"].to_list() == [True, True, False]
    assert [label.get_text() for label in screen.figure.axes[1].get_yticklabels()] == ["obs_a1a1-flags-annexed", "x"]
    assert run.scope(["obs_a1a1-flags-annexed", A]).channels["digital"].to_list() == [True, False]


def test_a_capture_opens_as_it_was_kept(run: ms.Run, tmp_path: Path) -> None:
    trigger = {"on": A, "level": 0.1}
    screen = run.scope([f"{A} gain=3 label=α", D], trigger=trigger, record=9, cursors=[4.0, 6.5], events=["admitted"])
    again = Capture.open(screen.save(tmp_path / "ring.parquet"))
    for name in ("samples", "channels", "events", "readings"):
        assert getattr(again, name).equals(getattr(screen, name)), name
    assert (again.trigger, again.triggered, again.cursors, again.title) == (
        screen.trigger, screen.triggered, screen.cursors, screen.title,
    )  # fmt: skip
    assert str(again) == str(screen)
    assert pl.read_csv(screen.save(tmp_path / "ring.csv")).columns == screen.samples.columns


def test_events_stand_at_their_day(run: ms.Run) -> None:
    screen = run.scope([A], events=["admitted"])
    assert screen.events["t"].unique().to_list() == [0.0] or screen.events.is_empty()
    assert run.scope([A], events=[]).events.is_empty()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "fit no screen"),
        (["x"] * 2, "two channels of one name"),
        (["x gain=much"], "no such setting"),
        (["y"], "no such signal"),
        (["obs_a1a1"], "numbers and bits"),
        (["cell-flags-annexed"], "many values"),
    ],
)
def test_a_channel_that_is_none_is_refused(words: list[str], problem: str) -> None:
    with pytest.raises((UsageError, AddressError), match=problem):
        capture(recorded([1.0, 2.0]), words)


@pytest.mark.parametrize("change", [{"edge": "up"}, {"position": 1.5}, {"number": 0}, {"level": float("nan")}])
def test_a_trigger_that_is_none_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Trigger(on="x", **change)  # type: ignore[arg-type]


@given(st.floats(0, 1), st.integers(1, 12))
def test_the_trigger_lies_within_its_record(position: float, record: int) -> None:
    trigger = Trigger(on="x", level=0.5, position=position)
    screen = capture(recorded([0.0] * 15 + [1.0] * 15), ["x"], trigger=trigger, record=record)
    assert screen.triggered in screen.samples["t"]
    assert screen.samples.height == record


def test_a_trigger_that_never_fires_says_what_there_was() -> None:
    with pytest.raises(DataError, match="0 to 2"):
        capture(recorded([0.0, 2.0]), ["x"], trigger=Trigger(on="x", level=7.0))


def test_a_replication_that_was_not_recorded_is_named(run: ms.Run) -> None:
    with pytest.raises(AddressError, match="0"):
        Recording.of(run, 5)


def test_across_edges_only_where_they_were_kept(run: ms.Run) -> None:
    counted = run.scope(["count(obs_a1a1.~contradicts.*)"]).samples["value"]
    assert set(counted.to_list()) == {2.0}
    for address in ("count(obs_a1a1.~contradicts.*)", "obs_a1a1@v1-scores-eff"):
        with pytest.raises(AddressError, match="no edges to follow"):
            capture(recorded([1.0]), [address])


def test_a_pin_is_the_signal_that_is_on_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ms.run("scenarios/tripwire.toml")
    assert run.scenario.netlist is not None
    pins = run.scenario.netlist.pins
    assert {"weak.in", "alarm.out", "severity.bit-0", "reviewer.ack"} <= pins.keys()
    values = run.scope([*pins][:16]).samples
    for pin, signal in [*pins.items()][:16]:
        one, other = (run.scope([name]).samples["value"] for name in (pin, signal))
        assert one.equals(other)
        assert one.equals(values.filter(pl.col("channel") == pin)["value"])
    screen = run.scope(["alarm.out", "weak.in"], trigger={"on": "alarm.out"}, record=6)
    assert screen.channels["digital"].to_list() == [True, False]
    assert screen.triggered == run.events.filter(pl.col("kind") == "tripped")["t"].min()
    run.write(tmp_path)
    for source in (str(tmp_path), "scenarios/tripwire.toml"):
        assert main(["scope", source, "-c", "alarm.out", "--trigger", "alarm.out", "--record", "6"]) == 0
        assert f"^ trigger, day {screen.triggered:g}" in capsys.readouterr().out


def test_a_pin_that_is_only_reduced_has_no_signal() -> None:
    net = link(parse("loadrt watch names=load domain=cell\nnet busy < share(load.above)\nnet in load.in < cell-scores-eff"))
    assert net.pins == {"load.in": "in"}


@pytest.mark.parametrize(
    ("address", "row"),
    [("rich-er", "rich-er(obs_a1a1)"), ("p.in-1", "p.in-1(obs_a1a1)"), ("cell-annexed", "cell(obs_a1a1)-annexed")],
)
def test_of_many_rows_one_is_named_that_can_be_read(address: str, row: str) -> None:
    plain = recorded([1.0, 1.0]).frames
    assert plain.signals is not None
    many = [plain.signals.with_columns(signal=pl.lit("rich-er"), row=pl.lit(of)) for of in ("obs_a1a1", "obs_b2b2")]
    cells = pl.concat([plain.cells, plain.cells.with_columns(cell=pl.lit("obs_b2b2"))])
    events = recorded([1.0]).events
    screen = Recording.of_frames(cells, pl.concat(many), plain.writers, events, rep=0, pins={"p.in-1": "rich-er"})  # type: ignore[arg-type]
    with pytest.raises(AddressError) as error:
        screen.values(address)
    assert f"name one, as {row}, or" in str(error.value)
    assert screen.values(row).cast(pl.Float64).to_list() in ([1.0, 1.0], [0.0, 0.0])
    with pytest.raises(AddressError, match="no such"):
        screen.values(row.replace("obs_a1a1", "obs_ffff"))


def test_channels_read_their_settings() -> None:
    assert Channel.read("x gain=2 digital=off") == Channel(address="x", gain=2.0, digital=False)


def test_the_command_captures_opens_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, picture = tmp_path / "c.parquet", tmp_path / "c.png"
    run = ms.run("scenarios/mutual_dispute.toml", days=8.0)
    run.write(tmp_path / "out")
    words = ["scope", str(tmp_path / "out"), "-c", A, "--trigger", A, "--level", ".1", "--record", "4", "--position", "0.5"]
    assert main([*words, "--save", str(table)]) == 0
    assert main(["scope", str(table), "-o", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    capsys.readouterr()
    assert main(["scope", str(table)]) == 0
    assert "trigger, day" in capsys.readouterr().out
    assert main(["scope", str(tmp_path / "out")]) == 0
    assert main([*words, "--level", "7"]) == 2
    assert "did not fire" in capsys.readouterr().err
    for wrong, problem in ((["-o", "c.xyz"], "no picture"), (["--cursor", "nan"], "a cursor stands on a day")):
        assert main([*words, *wrong]) == 2
        assert problem in capsys.readouterr().err
    assert main(["scope", str(tmp_path)]) == 2
    assert "no run was kept" in capsys.readouterr().err
