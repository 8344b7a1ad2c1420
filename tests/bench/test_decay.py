"""Tests that 95 % intervals cover the time constants of simulated runs. The tests take minutes and are off by default.

`pytest tests/bench/test_decay.py -n 0 -s` prints the table.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import pytest

import malsim as ms
from malsim.lab.decay.rates import rates
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    import polars as pl

RUNS, BATCH, DAYS = 200, 50, 200
LEAST = 0.92
TAUS = (5, 20, 50, 200)
WRITERS = {
    "honest": 'count = 4\nevery = "1d"\naccuracy = 1.0',
    "restating": 'count = 4\nevery = "8h"\naccuracy = 1.0',
    "noisy": 'count = 4\nevery = "1d"\naccuracy = 0.75',
    "slow": 'count = 1\nevery = "10d"\naccuracy = 0.95',
}
STORY = """
why = "Facts whose truth changes at a known rate, and writers who speak of them."
seed = {seed}
[run]
days = {days}
record = "bands"
[[facts]]
name = "fact"
count = {facts}
values = [1, 2, 3]
hazard = {hazard}
[[writers]]
behaviour = "honest"
{writers}
"""


def logs_of(tau: float, writers: str, *, seed: int, days: int, count: int, facts: int) -> list[pl.DataFrame]:
    story = STORY.format(seed=seed, days=days, hazard=1.0 / tau, writers=writers, facts=facts)
    results: list[pl.DataFrame] = []
    for first in range(0, count, BATCH):
        log = ms.histories(ms.run(parse(story), first=first, replications=min(BATCH, count - first)))
        results += log.partition_by("rep", maintain_order=True)
    return results


@pytest.mark.parametrize("writers", WRITERS)
@pytest.mark.parametrize("tau", TAUS)
def test_intervals_cover_the_true_time_constant(tau: float, writers: str) -> None:
    results = [rates(log).tau for log in logs_of(tau, WRITERS[writers], seed=71, days=DAYS, count=RUNS, facts=4)]
    covered = sum(low <= tau <= high for _, low, high in results)
    untold = sum(low == 0.0 and high == float("inf") for _, low, high in results)
    width = statistics.median(high / low if low else float("inf") for _, low, high in results)
    print(f"\n| {tau} | {writers} | {covered / RUNS:.3f} | {untold / RUNS:.3f} | {width:.2f} |")
    assert covered >= LEAST * RUNS


@pytest.mark.parametrize("tau", [20, 50])
def test_perfect_daily_writers_yield_the_true_time_constant(tau: float) -> None:
    covered = 0
    for log in logs_of(tau, WRITERS["honest"], seed=2026, days=400, count=24, facts=8):
        low, high = ms.fit_decay(log).constants.row(0)[3:5]
        covered += low <= tau <= high
    assert covered >= 20
