"""Tests of per-tick signals against a slow reference, and of bands against the full signals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.sim import bench
from malsim.sim.context.snapshot import Snapshot, answer_signals, best_by_value
from malsim.sim.record import bands
from tests.bench.rows import loop


@pytest.fixture(scope="module")
def after_a_run() -> bench.Bench:
    """Return the benchmark scenario after a run of sixty days in three replications."""
    made = bench.Bench(replace(loop.scenario(3), days=60.0))
    made.calendar.run()
    return made


def slow(snapshot: Snapshot, truth: Any, fact: int, rep: int) -> tuple[float, float, float, float]:
    """Return a fact's answer and belief, and the highest confidence of its true and its false values; NaN if not claimed."""
    cell_index, best = snapshot.cell_index, (np.nan, -1.0)
    sides = {True: np.nan, False: np.nan}
    for row in np.flatnonzero(
        snapshot.active & (cell_index.fact == fact) & (cell_index.rep == rep) & (cell_index.value >= 0)
    ):
        value, worth = int(cell_index.value[row]), float(snapshot.worth[row])
        best = (value, worth) if worth > best[1] else best
        sides[value == truth[fact, rep]] = np.fmax(sides[value == truth[fact, rep]], worth)
    return best[0], best[1] if best[1] >= 0.0 else np.nan, sides[True], sides[False]


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_answer_is_the_active_claim_with_highest_confidence(after_a_run: bench.Bench, digits: int) -> None:
    snapshot = Snapshot(after_a_run.snapshot.view, after_a_run.cell_index)
    snapshot.worth = np.round(snapshot.worth, digits)  # rounding to fewer digits creates more ties
    best = best_by_value(snapshot, after_a_run.truth)
    frame, brief = (answer_signals(snapshot, after_a_run.truth, best, full=full) for full in (True, False))
    indices = [(fact, rep) for fact in range(10) for rep in range(3)]
    expected = [slow(snapshot, after_a_run.truth, fact, rep) for fact, rep in indices]
    for name, column in zip(("answer", "belief", "for_truth", "against_truth"), zip(*expected, strict=True), strict=True):
        np.testing.assert_array_equal(frame[name].ravel(), column)
    right = np.where(np.isnan(frame["answer"]), np.nan, frame["answer"] == after_a_run.truth)
    np.testing.assert_array_equal(frame["right"], right)
    assert set(frame) - set(brief) == {"truth", "answer"}
    for name, held in brief.items():
        np.testing.assert_array_equal(held, frame[name])


values = st.lists(st.lists(st.floats(-1.0, 1.0) | st.just(np.nan), min_size=4, max_size=4), min_size=1, max_size=9)


@given(values, st.integers(1, 40))
def test_bands_do_not_depend_on_the_buffer_size(ticks: list[list[float]], held: int) -> None:
    made = []
    for most in (held, 2**17):
        remaining = bands.Bands()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bands, "BUFFER", most)
            for t, tick in enumerate(ticks):
                remaining.add(float(t), {"a": np.array(tick), "b": -np.array(tick)}, (None,))
            made.append(remaining.frame())
    assert made[0].equals(made[1])
    frame = pl.DataFrame({"t": np.repeat(np.arange(float(len(ticks))), 4), "value": np.ravel(ticks)}).with_columns(
        row=pl.lit(None, pl.String), signal=pl.lit("a")
    )
    expected = bands.bands_of(frame.filter(pl.col("value").is_not_nan()))
    found = made[0].filter((pl.col("signal") == "a") & (pl.col("count") > 0))
    np.testing.assert_allclose(found.drop("row", "signal").to_numpy(), expected.drop("row", "signal").to_numpy(), atol=1e-12)
