"""Coverage of the interval that `records` reports for a writer's accuracy, on simulated writers of known accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import SHARE
from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Evidence
from malsim.laws.truth.log_odds import record_ends
from tests.bench.studies import mean_row

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array
    from tests.bench.studies import Row

DRAWS = 40
SIZES = ((4, 100, 3), (5, 100, 3), (10, 40, 3), (10, 100, 3), (10, 100, 5), (20, 100, 5), (20, 400, 5))


def rows(seed: int) -> list[Row]:
    held = {size: [held_share(draw, *size) for draw in range(seed, seed + DRAWS)] for size in SIZES}
    worlds = [mean_row(item, SHARE, world=", ".join(map(str, size))) for size, item in held.items()]
    return [*worlds, mean_row(np.mean([*held.values()], axis=0), SHARE, world="all")]


def held_share(seed: int, writers: int, facts: int, voices: int) -> float:
    evidence, good = world(seed, writers, facts, voices)
    low, high = record_ends(evidence, closed(evidence))
    return float(((low <= good) & (good <= high)).mean())


def world(seed: int, writers: int, facts: int, voices: int) -> tuple[Evidence, Array]:
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
