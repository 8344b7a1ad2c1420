"""Cures of an oscillating loop: each settles it, with the reaction times of python-control."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import control
import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import connect_rows

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Rules(calibration="none")


def graph(stated: list[float], edges: list[tuple[int, int, float]]) -> Memory:
    claims = pl.DataFrame(
        {
            "writer": [f"w{number:03d}" for number in range(len(stated))],
            "kind": ["obs"] * len(stated),
            "title": [f"claim {number}" for number in range(len(stated))],
            "confidence": stated,
            "verification": ["external"] * len(stated),
        }
    )
    memory, _ = admit(Memory.empty(), claims, PLAIN)
    source, target, weight = ([edge[index] for edge in edges] for index in range(3))
    frame = pl.DataFrame({"source": source, "target": target, "weight": weight}, strict=False).with_columns(
        relation=pl.when(pl.col("weight") > 0).then(pl.lit("supports")).otherwise(pl.lit("contradicts")),
        writer=pl.lit("judge"), t=pl.lit(0.0), mutual=pl.lit(value=False),
    )  # fmt: skip
    return connect_rows(memory, frame, PLAIN) if edges else memory


def clique(size: int, stated: float) -> Memory:
    return graph([stated] * size, [(i, j, -1.0) for i in range(size) for j in range(size) if i != j])


def test_every_cure_settles_an_oscillating_loop() -> None:
    comparison = ms.cures(clique(3, 0.3), PLAIN)
    table = {row["cure"]: row for row in comparison.table.to_dicts()}
    assert table["present"]["verdict"] == "period-2"
    assert table["present"]["settling_time"] is None
    assert table["present"]["moving"] == 1.0
    for cure in ("lower ceiling", "damping", "masses from stated"):
        assert table[cure]["verdict"] == "settled"
        assert table[cure]["amplitude"] == 0.0
        assert table[cure]["settling_time"] is not None
    assert table["damping"]["before"] == pytest.approx(table["present"]["before"], abs=1e-6)


def test_reaction_times_match_python_control() -> None:
    comparison = ms.cures(clique(3, 0.3), PLAIN)
    for row in comparison.table.filter(pl.col("verdict") == "settled").to_dicts():
        answer = comparison.response.filter(pl.col("cure") == row["cure"])["effective"].to_numpy()
        way = answer - answer[0]
        theirs = control.step_info(way, np.arange(len(way), dtype=float), yfinal=way[-1])
        assert row["rise_time"] == pytest.approx(theirs["RiseTime"])
        assert row["settling_time"] == pytest.approx(theirs["SettlingTime"])
        assert row["overshoot"] == pytest.approx(theirs["Overshoot"], abs=1e-6)


def test_a_settled_memory_needs_no_cure() -> None:
    comparison = ms.cures(graph([0.5, 0.6], []), PLAIN)
    assert comparison.table["verdict"].unique().to_list() == ["settled"]
    assert comparison.table["setting"][1] == "challenge ceiling 0.6"  # nothing to lower


def test_push_can_contradict_a_named_cell() -> None:
    memory = clique(3, 0.7)
    name = memory.cells["handle"][2]
    comparison = ms.cures(memory, PLAIN, cell=name, push="contradicts")
    assert comparison.cell == name
    assert (comparison.table["after"] < comparison.table["before"]).all()
    assert "contradicts" in str(comparison)


def test_bad_arguments_of_cures_are_refused() -> None:
    memory = clique(2, 0.5)
    with pytest.raises(UsageError, match="no such push"):
        ms.cures(memory, PLAIN, push="nudges")
    with pytest.raises(MalsimError, match="no such cell"):
        ms.cures(memory, PLAIN, cell="obs_none")
    with pytest.raises(UsageError, match="without cells"):
        ms.cures(Memory.empty())
    inactive = memory.with_cells(memory.cells.with_columns(status=pl.lit("superseded", memory.cells["status"].dtype)))
    with pytest.raises(UsageError, match="no active cell"):
        ms.cures(inactive, PLAIN)


def test_the_command_compares_the_cures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["stability", "scenarios/mutual_dispute.toml", "--cures", "--json", "-o", str(tmp_path)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in report["cures"]] == ["period-2", *["settled"] * 3]
    assert (tmp_path / "cures.png").is_file()
