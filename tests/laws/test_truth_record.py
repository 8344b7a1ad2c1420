"""Intervals of writers' records contain the true accuracy as often as they should, although the law sees no truth."""

from __future__ import annotations

import numpy as np
import pytest

from malsim.laws.truth.evidence import Evidence
from malsim.laws.truth.log_odds import record_ends
from malsim.laws.truth.own_values import own_values
from tests.bench.studies.writers_records import held_share, world


@pytest.mark.parametrize("size", [(10, 40, 3), (10, 100, 3), (10, 100, 5), (5, 100, 3)])
def test_intervals_contain_the_true_accuracy(size: tuple[int, int, int]) -> None:
    assert np.mean([held_share(seed, *size) for seed in range(1000, 1030)]) >= 0.92


def test_interval_of_each_writer_contains_its_estimated_record() -> None:
    evidence, _ = world(7, 8, 60, 4)
    keys, value = np.unique(2 * evidence.object + evidence.value, return_inverse=True)
    parts = {name: getattr(evidence, name) for name in ("writer", "object", "weight", "bin", "writer_rep", "object_rep")}
    items = Evidence(**parts, value=value, reps=1, pinned=evidence.pinned, item_object=keys // 2)
    estimate = own_values(items)
    low, high = record_ends(items, estimate)
    assert ((low < estimate.record) & (estimate.record < high)).all()
