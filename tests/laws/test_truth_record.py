"""A writer's record holds the accuracy it was planted with as often as its interval says: truths are not known."""

from __future__ import annotations

import numpy as np
import pytest

from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Evidence
from malsim.laws.truth.log_odds import record_ends
from malsim.laws.truth.own_values import own_values


def world(seed: int, writers: int, facts: int, voices: int) -> tuple[Evidence, np.ndarray]:
    """Facts of two values by some writers each, who are right as often as was drawn for them, .55 to .95."""
    draw = np.random.default_rng(seed)
    good, truth = draw.uniform(0.55, 0.95, writers), draw.integers(0, 2, facts)
    writer = np.concatenate([draw.choice(writers, voices, replace=False) for _ in range(facts)])
    about = np.repeat(np.arange(facts), voices)
    value = np.where(draw.random(len(writer)) < good[writer], truth[about], 1 - truth[about])
    return Evidence(
        writer=writer, object=about, value=value, weight=np.ones(len(writer)), bin=np.full(len(writer), -1), reps=1,
        writer_rep=np.zeros(writers, dtype=np.int64), object_rep=np.zeros(facts, dtype=np.int64),
        pinned=np.full(facts, -1), values=2,
    ), good  # fmt: skip


@pytest.mark.parametrize("size", [(10, 40, 3), (10, 100, 3), (10, 100, 5), (5, 100, 3)])
def test_the_planted_accuracy_is_held(size: tuple[int, int, int]) -> None:
    held = []
    for seed in range(1000, 1030):
        evidence, good = world(seed, *size)
        low, high = record_ends(evidence, closed(evidence))
        held.append(((low <= good) & (good <= high)).mean())
    assert np.mean(held) >= 0.92


def test_the_open_form_has_the_same_intervals() -> None:
    evidence, _ = world(7, 8, 60, 4)
    keys, value = np.unique(2 * evidence.object + evidence.value, return_inverse=True)
    parts = {name: getattr(evidence, name) for name in ("writer", "object", "weight", "bin", "writer_rep", "object_rep")}
    items = Evidence(**parts, value=value, reps=1, pinned=evidence.pinned, item_object=keys // 2)
    estimate = own_values(items)
    low, high = record_ends(items, estimate)
    assert ((low < estimate.record) & (estimate.record < high)).all()
