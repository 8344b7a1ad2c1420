"""Tests for cures of oscillating loops, with margins and responses compared with python-control."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.lab.stability.frequency import damping_bound, gain_margin, phase_margin, response
from malsim.memory import Memory
from tests.lab.small_worlds import PLAIN, clique, graph

if TYPE_CHECKING:
    from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import control


def test_every_cure_settles_an_oscillating_loop() -> None:
    comparison = ms.cures(graph([0.3] * 3, clique(3)), PLAIN)
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
    comparison = ms.cures(graph([0.3] * 3, clique(3)), PLAIN)
    for row in comparison.table.filter(pl.col("verdict") == "settled").to_dicts():
        answer = comparison.response.filter(pl.col("cure") == row["cure"])["effective"].to_numpy()
        response = answer - answer[0]
        expected = control.step_info(response, np.arange(len(response), dtype=float), yfinal=response[-1])
        assert row["rise_time"] == pytest.approx(expected["RiseTime"])
        assert row["settling_time"] == pytest.approx(expected["SettlingTime"])
        assert row["overshoot"] == pytest.approx(expected["Overshoot"], abs=1e-6)


def test_settled_memory_needs_no_cure() -> None:
    comparison = ms.cures(graph([0.5, 0.6], []), PLAIN)
    assert comparison.table["verdict"].unique().to_list() == ["settled"]
    assert comparison.table["setting"][1] == "challenge ceiling 0.6"  # the default, because no lower ceiling is needed


def test_new_claim_can_contradict_a_named_cell() -> None:
    memory = graph([0.7] * 3, clique(3))
    name = memory.cells["handle"][2]
    comparison = ms.cures(memory, PLAIN, cell=name, push="contradicts")
    assert comparison.cell == name
    assert (comparison.table["after"] < comparison.table["before"]).all()
    assert "contradicts" in str(comparison)


def test_bad_arguments_for_cures_are_refused() -> None:
    memory = graph([0.5] * 2, clique(2))
    with pytest.raises(UsageError, match="no such relation"):
        ms.cures(memory, PLAIN, push="nudges")
    with pytest.raises(MalsimError, match="no such cell"):
        ms.cures(memory, PLAIN, cell="obs_none")
    with pytest.raises(UsageError, match="without cells"):
        ms.cures(Memory.empty())
    inactive = memory.with_cells(memory.cells.with_columns(status=pl.lit("superseded", memory.cells["status"].dtype)))
    with pytest.raises(UsageError, match="no active cell"):
        ms.cures(inactive, PLAIN)


def test_cures_command_compares_the_cures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["stability", "scenarios/mutual_dispute.toml", "--cures", "--json", "-o", str(tmp_path)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in report["cures"]] == ["period-2", *["settled"] * 3]
    assert (tmp_path / "cures.png").is_file()


REAL = [-0.3, -0.9, -1.2, -1.5, -2.5, -4.0]


def open_loop(value: float, damping: float) -> control.TransferFunction:
    return control.tf([-damping * value], [1.0, damping - 1.0], 1.0)


@pytest.mark.parametrize("damping", [1.0, 0.7, 0.5, 0.2])
@pytest.mark.parametrize("value", REAL)
def test_margins_match_python_control(value: float, damping: float) -> None:
    """Use closed-loop poles to check the gain margin, because `control.margin` misses the crossing at z = −1."""
    loop, values = open_loop(value, damping), np.array([value + 0j])
    gain = gain_margin(values, damping)
    assert gain is not None
    sizes = [np.abs(control.feedback(scale * gain * loop, 1).poles()).max() for scale in (0.99, 1.0, 1.01)]
    assert sizes[0] < 1.0 < sizes[2]
    assert sizes[1] == pytest.approx(1.0, abs=1e-9)
    margin, (_, phase, *_) = phase_margin(values, damping), control.margin(loop)
    if damping < 1.0:
        assert (margin is None) == (not np.isfinite(phase))
        assert margin is None or margin == pytest.approx(phase, abs=1e-4)


@pytest.mark.parametrize("damping", [1.0, 0.5])
@pytest.mark.parametrize("value", REAL)
def test_response_matches_python_control(value: float, damping: float) -> None:
    answer = response(value, damping, points=50)
    expected = open_loop(value, damping)(np.exp(1j * answer["omega"].to_numpy()))
    np.testing.assert_allclose(answer["real"].to_numpy() + 1j * answer["imaginary"].to_numpy(), expected, rtol=1e-9)
    np.testing.assert_allclose(answer["decibels"], 20.0 * np.log10(np.abs(expected)), atol=1e-9)


@given(st.lists(st.complex_numbers(max_magnitude=6.0, min_magnitude=0.01), min_size=1, max_size=6))
def test_modes_decay_below_the_damping_bound_and_grow_above(modes: list[complex]) -> None:
    values = np.array(modes)
    bound = damping_bound(values)

    def worst_growth(damping: float) -> float:
        return float(np.abs(1.0 - damping + damping * values).max())

    if bound > 1e-3:
        assert worst_growth(0.99 * bound) < 1.0
    assert bound >= 2.0 or worst_growth(max(1.01 * bound, 1e-3)) >= 1.0 - 1e-12


@given(st.complex_numbers(max_magnitude=3.0, min_magnitude=0.3), st.floats(0.05, 0.95))
def test_mode_is_marginally_stable_at_the_phase_margin(value: complex, damping: float) -> None:
    phase = phase_margin(np.array([value]), damping)
    if phase is not None:
        turned = [abs(1.0 - damping + damping * value * np.exp(1j * side * np.radians(phase))) for side in (1.0, -1.0)]
        assert min(abs(item - 1.0) for item in turned) < 1e-6
