"""Tests of an op that runs over a frame or a halsampler file, compared with a loop over the rows of each group."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ops
from malsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("aßc"), st.floats(-5, 5) | st.just(float("nan")), st.booleans()),
    min_size=0,
    max_size=40,
)
CASES = [("smooth", {"gain": 0.3}), ("watch", {"level": 0.5}), ("trend", {"window": 3}), ("lag", {"tau": "6h"})]
CASES += [("record", {"depth": 2}), ("drift", {"limit": 0.5, "adapt": 0.1})]


def looped(frame: pl.DataFrame, name: str, settings: dict[str, Any], tick: str) -> dict[str, list[Any]]:
    """Call an op row by row, with one state per group, and return its outputs."""
    sizes = {key: settings[key] for key in settings if key in ops.load(name).sizes}
    sheet = ops.load(name, **sizes)
    rest = {key: value for key, value in settings.items() if key not in sizes}
    states: dict[Any, Any] = {}
    columns: dict[str, list[Any]] = {pin: [] for pin, slot in sheet.slots.items() if slot.key in sheet.outs}
    for rep, cell, x in frame.select("rep", "cell", "x").rows():
        state = states.get((rep, cell), ops.start(sheet, 1, rest))
        states[rep, cell] = after = ops.step(sheet, {**state, "in_": np.array([x])}, sheet.length(tick))
        for pin, values in columns.items():
            key, row, _ = sheet.slots[pin]
            values.append(after[key][0 if row is None else (row, 0)].item())
    return columns


@pytest.mark.parametrize(("name", "settings"), CASES)
@given(rows=ROWS)
def test_op_over_a_frame_equals_a_loop_over_groups(name: str, settings: dict[str, Any], rows: list[Any]) -> None:
    frame = pl.DataFrame(rows, schema={"rep": pl.Int64, "cell": pl.String, "x": pl.Float64, "_": pl.Boolean}, orient="row")
    answer = ops.over(frame, name, x="x", by=["rep", "cell"], tick="1h", **settings)
    assert answer.select(frame.columns).equals(frame)
    for pin, values in looped(frame, name, settings, "1h").items():
        assert np.array_equal(answer[pin].to_numpy(), np.array(values), equal_nan=answer[pin].dtype.is_float())


@given(rows=ROWS, order=st.randoms())
def test_rows_in_any_order_are_processed_in_order_of_t(rows: list[Any], order: Any) -> None:
    frame = pl.DataFrame(rows, schema={"rep": pl.Int64, "cell": pl.String, "x": pl.Float64, "_": pl.Boolean}, orient="row")
    frame = frame.with_columns(t=pl.int_range(pl.len()).over("rep", "cell") / 144)
    mixed = list(range(frame.height))
    order.shuffle(mixed)
    straight = ops.over(frame, "smooth", x="x", by=["rep", "cell"])
    assert ops.over(frame[mixed], "smooth", x="x", by=["rep", "cell"]).equals(straight[mixed])


def test_tick_is_the_spacing_of_t_in_whole_milliseconds() -> None:
    t = np.arange(100) * (600_000 / 86_400_000)
    frame = pl.DataFrame({"t": t, "x": np.sin(t)})
    by_tick = ops.over(frame, "ddt", x="x", tick="10min")
    assert ops.over(frame, "ddt", x="x")["out"].equals(by_tick["out"])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    dated = frame.with_columns(t=pl.Series([start + timedelta(minutes=10 * n) for n in range(100)]))
    assert ops.over(dated, "ddt", x="x")["out"].equals(by_tick["out"])


@pytest.mark.parametrize(
    "t", [[0.0, 1.0, 3.0], [0.0, 1.0, None], [0.0, 1.0, float("nan")], ["a", "b", "c"], [0.0, 1.0, 1.0]]
)
def test_irregular_times_are_refused(t: list[Any]) -> None:
    with pytest.raises(ops.OpError, match=r"tick|time column|same time"):
        ops.over(pl.DataFrame({"t": t, "x": [1.0, 2.0, 3.0]}), "ddt", x="x")


def test_time_dependent_op_requires_a_tick() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(ops.OpError, match="set the tick: tick"):
        ops.over(frame, "ddt", x="x")
    assert ops.over(frame, "smooth", x="x", gain=1.0)["out"].to_list() == [1.0, 2.0]
    with pytest.raises(ops.OpError, match="not a duration"):
        ops.over(frame, "ddt", x="x", tick=5)


def test_two_rows_with_the_same_time_are_refused() -> None:
    frame = pl.DataFrame({"t": [0.0, 0.0], "rep": [0, 1], "cell": ["a", "a"], "x": [1.0, 2.0]})
    with pytest.raises(ops.OpError, match="add a key"):
        ops.over(frame, "smooth", x="x", by="cell")
    assert ops.over(frame, "smooth", x="x", by=["rep", "cell"]).height == 2


def test_inputs_accept_columns_and_constants() -> None:
    frame = pl.DataFrame({"wanted": [1.0, 1.0, 1.0], "seen": [0.0, 0.25, 0.5]})
    settings: dict[str, Any] = {"feedback": pl.col("seen"), "enable": True, "Pgain": 2, "error_previous_target": False}
    assert ops.over(frame, "pid", x="wanted", tick="1d", **settings)["output"].to_list() == [2.0, 1.5, 1.0]
    assert ops.over(frame, "pid", x="wanted", tick="1d", outs=["output"], **settings).columns[2:] == ["output"]


def test_pins_of_any_type_adopt_the_type_of_the_column() -> None:
    for values in ([True, False], [1, 2], [0.5, 1.5]):
        answer = ops.over(pl.DataFrame({"x": values}), "snapshot", x="x")
        assert answer["out"].to_list() == values


@pytest.mark.parametrize(
    ("column", "name", "problem"),
    [
        ([1.0, None], "smooth", "nulls"),
        (["a", "b"], "smooth", "wrong type"),
        ([True, False], "smooth", "wrong type"),
        ([0.0, 1.0], "latch", "wrong type"),
        ([0.5, 1.0], "ladder", "wrong type"),
        ([[1.0], [2.0]], "smooth", "wrong type"),
    ],
)
def test_column_of_wrong_type_is_refused(column: list[Any], name: str, problem: str) -> None:
    with pytest.raises(ops.OpError, match=problem):
        ops.over(pl.DataFrame({"x": column}), name, x="x")


def test_missing_and_clashing_columns_are_refused() -> None:
    frame = pl.DataFrame({"eff": [1.0], "out": [1.0]})
    with pytest.raises(ops.OpError, match="did you mean eff"):
        ops.over(frame, "smooth", x="efff")
    with pytest.raises(ops.OpError, match="no such column"):
        ops.over(frame, "smooth", x="eff", by=["rep"])
    with pytest.raises(ops.OpError, match="rename the column"):
        ops.over(frame, "smooth", x="eff")
    with pytest.raises(ops.OpError, match="no such output"):
        ops.over(frame, "smooth", x="eff", outs=["in"])
    with pytest.raises(ops.OpError, match="no such input"):
        ops.over(frame, "smooth", x="eff", nope=pl.col("eff"))


def test_empty_and_very_unequal_groups_are_computed() -> None:
    empty = pl.DataFrame({"x": []}, schema={"x": pl.Float64})
    assert ops.over(empty, "smooth", x="x").schema == {"x": pl.Float64, "out": pl.Float64}
    assert ops.over(empty, "ddt", x="x", tick="1d").height == 0
    cells = pl.concat([pl.Series([0] * 3000), pl.Series(range(1, 30_000))])
    frame = pl.DataFrame({"cell": cells, "x": np.ones(len(cells))})
    answer = ops.over(frame, "smooth", x="x", by="cell", gain=0.5)
    assert answer["out"].to_list()[:3] == [0.5, 0.75, 0.875]
    assert answer["out"].to_list()[-1] == 0.5


def test_keys_may_be_null_and_columns_may_have_any_name() -> None:
    frame = pl.DataFrame({"row": [None, "a", None], "step": [1.0, 1.0, 1.0], "": [0, 0, 0]})
    assert ops.over(frame, "smooth", x="step", by=["row", ""], gain=0.5)["out"].to_list() == [0.5, 0.5, 0.75]


def test_inputs_of_different_shapes_are_refused() -> None:
    sheet = ops.load("sum2")
    for inputs in ({"in-0": np.ones((2, 1)), "in-1": np.ones((3, 1))}, {"in-0": np.ones(2)}, {}):
        with pytest.raises(ops.OpError, match="the same shape"):
            ops.run(sheet, ops.start(sheet), inputs)


SCRIPT = """loadrt threads name1=servo period1=1000000
loadrt sampler cfg=fb depth=64
loadrt siggen
setp siggen.0.frequency 50
net wave siggen.0.sine => sampler.0.pin.0
net pulse siggen.0.square
addf siggen.0.update servo
addf sampler.0 servo
start
loadusr -w halsampler -t -n 20
"""


def test_op_reads_a_halsampler_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "machine.hal").write_text(SCRIPT, encoding="utf-8")
    assert main(["hal", "-f", str(tmp_path / "machine.hal")]) == 0
    (tmp_path / "samples.txt").write_text(capsys.readouterr().out, encoding="utf-8")
    frame = ops.read_samples(tmp_path / "samples.txt", "fb", ["wave", "on"], tagged=True)
    assert frame.columns == ["sample", "wave", "on"]
    assert frame["sample"].to_list() == list(range(frame["sample"][0], frame["sample"][0] + 20))
    smooth = ops.over(frame, "smooth", x="wave", t="sample", gain=0.5, tick="1ms")["out"]
    value = 0.0
    for sample, out in zip(frame["wave"], smooth, strict=True):
        value += (sample - value) * 0.5
        assert out == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "cfg", "problem"),
    [
        ("1 2.0\n1\n", "sf", ":2: wrong number of values in the row"),
        ("1 x\n", "sf", ":1: a value has the wrong type"),
        ("2 2.0\n", "bf", ":1: a value has the wrong type"),
        ("1\noverrun\n2\n", "s", ":2: samples were lost"),
        ("1\n", "q", "the types do not match the pins"),
        ("1\n", "", "the types do not match the pins"),
    ],
)
def test_invalid_row_is_reported_with_its_line(text: str, cfg: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "samples.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ops.OpError, match=problem):
        ops.read_samples(tmp_path / "samples.txt", cfg)


def test_empty_file_is_read_as_an_empty_frame(tmp_path: Path) -> None:
    (tmp_path / "samples.txt").write_text("", encoding="utf-8")
    assert ops.read_samples(tmp_path / "samples.txt", "f").is_empty()
