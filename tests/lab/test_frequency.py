"""Margins and frequency response of a loop, against python-control, and the damping that cures complex eigenvalues."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.lab.stability.frequency import damping_bound, gain_margin, phase_margin, response

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import control

REAL = [-0.3, -0.9, -1.2, -1.5, -2.5, -4.0]


def open_loop(value: float, damping: float) -> control.TransferFunction:
    return control.tf([-damping * value], [1.0, damping - 1.0], 1.0)


@pytest.mark.parametrize("damping", [1.0, 0.7, 0.5, 0.2])
@pytest.mark.parametrize("value", REAL)
def test_margins_match_python_control(value: float, damping: float) -> None:
    """Its `margin` leaves out the crossing at z = −1 exactly, so the gain margin is held against its closed loop's poles."""
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
def test_damping_bound_separates_decay_from_growth(modes: list[complex]) -> None:
    values = np.array(modes)
    bound = damping_bound(values)

    def worst_growth(damping: float) -> float:
        return float(np.abs(1.0 - damping + damping * values).max())

    if bound > 1e-3:
        assert worst_growth(0.99 * bound) < 1.0
    assert bound >= 2.0 or worst_growth(max(1.01 * bound, 1e-3)) >= 1.0 - 1e-12


@given(st.complex_numbers(max_magnitude=3.0, min_magnitude=0.3), st.floats(0.05, 0.95))
def test_mode_is_marginal_at_the_phase_margin(value: complex, damping: float) -> None:
    phase = phase_margin(np.array([value]), damping)
    if phase is not None:
        turned = [abs(1.0 - damping + damping * value * np.exp(1j * side * np.radians(phase))) for side in (1.0, -1.0)]
        assert min(abs(item - 1.0) for item in turned) < 1e-6
