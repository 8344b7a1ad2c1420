"""Tests of VCD files, read back with pyvcd as an independent reader."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl
import pytest
from vcd.reader import TokenKind, tokenize

import malsim as ms
from malsim.base.files.vcd import vcd_text
from malsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def read_back(text: str) -> tuple[str, str, dict[str, list[tuple[int, object]]]]:
    """Return the comment of a VCD text, its time unit, and the changes of each variable."""
    comment = unit = ""
    names: dict[str, str] = {}
    changes: dict[str, list[tuple[int, object]]] = {}
    time = 0
    for token in tokenize(io.BytesIO(text.encode())):
        if token.kind is TokenKind.COMMENT:
            comment = token.comment
        elif token.kind is TokenKind.TIMESCALE:
            unit = f"{int(token.timescale.magnitude)} {token.timescale.unit.value}"
        elif token.kind is TokenKind.VAR:
            names[token.var.id_code] = token.var.reference
            changes[token.var.reference] = []
        elif token.kind is TokenKind.CHANGE_TIME:
            time = token.time_change
        elif token.kind is TokenKind.CHANGE_SCALAR:
            changes[names[token.scalar_change.id_code]].append((time, token.scalar_change.value))
        elif token.kind is TokenKind.CHANGE_REAL:
            changes[names[token.real_change.id_code]].append((time, token.real_change.value))
    return comment, unit, changes


def test_vcd_file_contains_every_change(tmp_path: Path) -> None:
    path = tmp_path / "signals.vcd"
    command = ["run", "scenarios/tripwire.toml", "-o", str(tmp_path / "out"), "--no-plots", "--vcd", str(path)]
    assert main(command) == 0
    comment, unit, changes = read_back(path.read_text(encoding="utf-8"))
    assert (comment, unit) == ("one tick is 86400 s", "100 s")
    run = ms.run("scenarios/tripwire.toml")
    for name in ("tripped", "low"):
        series = run.signals.filter((pl.col("rep") == 0) & (pl.col("signal") == name)).sort("t")
        changed = series.filter(pl.col("value").ne_missing(pl.col("value").shift()))
        expected = [(round(t * 864), value) for t, value in changed.select("t", "value").rows()]
        assert [(t, float(value)) for t, value in changes[name]] == expected  # type: ignore[arg-type] # a digit or a number


@pytest.mark.parametrize(
    ("tick", "unit"),
    [(86_400_000.0, "100 s"), (3_600_000.0, "100 s"), (90_000.0, "10 s"), (1000.0, "1 s"), (1.0, "1 ms"), (1e-3, "1 us")],
)
def test_time_unit_is_the_largest_that_divides_all_times(tick: float, unit: str) -> None:
    frame = pl.DataFrame({"t": [tick / 864e5 * n for n in range(4)], "channel": ["x"] * 4, "value": [0.0, 1.0, 1.0, 0.5]})
    comment, read, changes = read_back(vcd_text(frame, tick=tick))
    assert read == unit
    assert comment == f"one tick is {tick / 1000:.15g} s"
    assert [value for _, value in changes["x"]] == [0.0, 1.0, 0.5]


def test_run_without_signals_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = ["-o", str(tmp_path / "out"), "--no-plots", "--vcd", str(tmp_path / "x.vcd")]
    assert main(["run", "scenarios/worked_example.toml", *output]) == 2
    assert "add a [netlist] table" in capsys.readouterr().err
