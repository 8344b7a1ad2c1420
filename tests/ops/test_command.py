"""Tests of the command `malsim op`: palette, data sheets, figures, truth tables and recorded frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import ops
from malsim.cli import main
from malsim.showing.plots.wiring.op_response import by_frequency, to_signal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    t = np.tile(np.arange(30) / 24, 4)
    frame = pl.DataFrame(
        {"t": t, "rep": np.repeat([0, 0, 1, 1], 30), "cell": ["a"] * 30 + ["b"] * 30 + ["a"] * 30 + ["b"] * 30}
    )
    path = tmp_path / "cells.parquet"
    frame.with_columns(effective=(pl.col("t") * 7).sin()).write_parquet(path)
    return path


def output_of(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_op_command_lists_the_palette(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op"]) == 0
    lines = output_of(capsys).splitlines()
    assert [line.split()[0] for line in lines] == ops.names()


def test_op_command_prints_the_data_sheet(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", "pid"]) == 0
    text = output_of(capsys)
    assert all(pin in text for pin in ops.load("pid").slots)
    assert main(["op", "quorum", "--param", "inputs=4"]) == 0
    assert "in-0 … 3" in output_of(capsys)


@pytest.mark.parametrize("signal", ["step", "ramp", "impulse", "sine", "frequency"])
def test_response_is_drawn(signal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.png"
    assert main(["op", "pid", f"--{signal}", "--param", "Pgain=2", "--tick", "10min", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert str(path) in output_of(capsys)


@pytest.mark.parametrize("name", ["watch", "oneshot", "record", "ladder", "latch", "trend", "to-int", "siggen"])
def test_every_kind_of_op_can_be_drawn(name: str, tmp_path: Path) -> None:
    assert main(["op", name, "--sine", "--calls", "30", "-o", str(tmp_path / "answer.png")]) == 0


def test_truth_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", "reflex", "--table", "0xe"]) == 0
    assert [line.split()[-1] for line in output_of(capsys).splitlines()] == ["out", "0", "1", "1", "1"]
    assert main(["op", "reflex", "--table", "0x80000000"]) == 0
    assert [line.split()[-1] for line in output_of(capsys).splitlines()] == ["out", *["0"] * 31, "1"]
    assert main(["op", "nor2", "--table"]) == 0
    assert [line.split()[-1] for line in output_of(capsys).splitlines()] == ["out", "1", "0", "0", "0"]


def test_recorded_frame_is_processed_and_written(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["op", "smooth", "--on", str(recorded), "--column", "effective", "--by", "rep,cell", "--param", "gain=0.5"]
    assert main(arguments) == 0
    assert "out" in output_of(capsys)
    expected = ops.over(pl.read_parquet(recorded), "smooth", x="effective", by=["rep", "cell"], gain=0.5)
    for suffix in ("parquet", "csv"):
        path = tmp_path / f"answer.{suffix}"
        assert main([*arguments, "-o", str(path)]) == 0
        read = pl.read_parquet(path) if suffix == "parquet" else pl.read_csv(path)
        assert read["out"].to_list() == expected["out"].to_list()
    assert main([*arguments, "-o", str(tmp_path / "answer.png")]) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["smooth", "--param", "gain=2"],
        ["smooth", "--param", "gain=nan"],
        ["smooth", "--param", "tau=1d"],
        ["smooth", "--param", "gain"],
        ["oneshot", "--param", "width=5"],
        ["quorum", "--param", "inputs=99"],
        ["clamp", "--frequency", "--param", "max=0.1"],
        ["smooth", "--step", "-o", "out.bmp"],
        ["smooth", "--step", "--tick", "5"],
        ["smooth", "--step", "--calls", "0"],
        ["latch", "--table"],
        ["smooth", "--table"],
        ["reflex", "--table", "0x1ffffffff"],
        ["reflex", "--table", "banana"],
        ["smooth", "--on", "missing.parquet", "--column", "x"],
        ["smooth", "--on", "missing.txt", "--column", "x"],
        ["smooth", "--on", "missing.parquet"],
        ["smooth", "--on", "missing.parquet", "--column", "x", "--param", "by=rep"],
    ],
)
def test_invalid_arguments_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", *arguments]) == 2
    assert capsys.readouterr().err.startswith("malsim: ")


def test_unreadable_frame_file_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in ("parquet", "ndjson"):
        path = tmp_path / f"junk.{suffix}"
        path.write_bytes(b"\x00\xffjunk{")
        assert main(["op", "smooth", "--on", str(path), "--column", "x"]) == 2
        assert str(path) in capsys.readouterr().err


def test_axes_of_responses_have_units() -> None:
    pid = ops.load("pid")
    units = {name: slot.pin.unit for name, slot in pid.slots.items()}
    answer = ops.respond(pid, "step", {"Pgain": 2, "Igain": 0.1}, tick="10min")
    figure = to_signal(answer, units, input_unit="1", title="pid")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert {"value (1)", "value (1·d)", "value (1/d)"} <= set(labels)
    assert figure.axes[-1].get_xlabel() == "time (hours)"
    lines = {line.get_label(): line for axes in figure.axes for line in axes.get_lines()}
    assert np.asarray(lines["output"].get_ydata())[-1] == answer["output"][-1]
    response = ops.frequency(ops.load("lag"), {"tau": "10d"})
    assert response is not None
    corner = response.filter(pl.col("gain") < np.sqrt(0.5))["frequency"][0]
    assert corner == pytest.approx(1 / (2 * np.pi * 10), rel=0.05)
    assert by_frequency(response).axes[1].get_xlabel() == "frequency (cycles per day)"


def test_response_of_a_linear_op_matches_its_formula() -> None:
    z = np.exp(2j * np.pi * np.geomspace(1 / 1000, 0.5, 200))
    for name, settings, expected in (
        ("smooth", {"gain": 0.2}, 0.2 / (1 - 0.8 / z)),
        ("ddt", {}, 1 - 1 / z),
        ("integ", {}, 1 / (1 - 1 / z)),
        ("scale", {"gain": 3.0}, 3.0 + 0 * z),
        ("pid", {"error-previous-target": False, "Igain": 0.5}, 1 + 0.5 / (1 - 1 / z)),
    ):
        response = ops.frequency(ops.load(name), settings)
        assert response is not None, name
        assert response["gain"].to_numpy() == pytest.approx(np.abs(expected), rel=1e-6)
        assert np.exp(1j * np.radians(response["phase"].to_numpy())) == pytest.approx(expected / np.abs(expected), abs=1e-6)


@pytest.mark.parametrize("name", ["watch", "latch", "deadzone", "minmax", "cusum", "slew2", "quorum", "near"])
def test_nonlinear_ops_have_no_frequency_response(name: str) -> None:
    assert ops.frequency(ops.load(name), {"maxv": 0.01} if name == "slew2" else {}) is None


def test_response_that_never_settles_is_refused() -> None:
    with pytest.raises(ops.OpError, match="does not decay"):
        ops.frequency(ops.load("smooth"), {"gain": 1e-7})
