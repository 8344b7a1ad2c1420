"""Benchmark of the laws: growth with the number of claims, and times of a price, of `records` and of a year's run."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.judging.prices.pricing import price
from malsim.laws import plant_of
from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import BINS, Evidence, stated_bins
from malsim.memory.port import Claims, Vocabulary
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from tests.bench.rows.ratios import Ratio, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.sim.settings.scenario import Scenario

__all__ = ["rows"]

LINEAR = ("last_write", "graphiti", "hindsight")
YEARLY = {"last_write": 1.5, "graphiti": 1.5, "membrane": 1.5, "records": 4.0}  # maximum ratio to the time that `mal` takes
OBJECTS, WRITERS, VALUES, SWEEPS = 1_000, 50, 5, 20
FEW, MANY = 10_000, 100_000
POISONER = Path("scenarios") / "poisoner.toml"


def rows() -> Iterator[Ratio]:
    for law in LINEAR:
        name = f"{law}, {MANY:,} claims of {OBJECTS:,} objects, against {FEW:,}"
        yield compare(name, partial(_replay, law, _claims(MANY)), partial(_replay, law, _claims(FEW)), limit=14)
    name = "price of mal, three honest writers, against that of majority"
    yield compare(name, partial(price, "mal"), partial(price, "majority"), limit=40, repeats=1)
    evidence = _evidence(MANY)
    name = f"records, {MANY:,} claims and {SWEEPS} sweeps, against the bare bincounts"
    yield compare(name, partial(closed, evidence), _sums(evidence), limit=12)
    if POISONER.is_file():
        yield from _years(read(POISONER).replace(days=365.0, replications=1_000, record="bands"))


def _claims(count: int) -> Claims:
    draws = np.random.Generator(np.random.Philox(key=1))
    indices: dict[str, Any] = {
        name: draws.integers(0, size, count) for name, size in (("writer", WRITERS), ("object", OBJECTS), ("value", VALUES))
    }
    t, stated = np.sort(draws.uniform(0.0, 365.0, count)), draws.uniform(0.3, 0.95, count)
    return Claims(**indices, rep=np.zeros(count, dtype=np.int64), sequence=np.arange(count), t=t, stated=stated)


def _replay(law: str, claims: Claims) -> None:
    writers, objects = ([str(n) for n in range(size)] for size in (WRITERS, OBJECTS))
    plant = plant_of(law)
    state = plant.init([0], Vocabulary(writers, objects, [list("ABCDE")] * OBJECTS))
    state, _ = plant.admit(state, claims)
    _ = plant.view(plant.tick(state, 366.0), 366.0).rank


def _evidence(count: int) -> Evidence:
    claims = _claims(count)
    return Evidence(
        writer=claims.writer, object=claims.object, value=claims.value % 3, values=3, weight=np.ones(count),
        bin=stated_bins(claims.stated), reps=1, pinned=np.full(OBJECTS, -1),
        writer_rep=np.zeros(WRITERS, dtype=np.int64), object_rep=np.zeros(OBJECTS, dtype=np.int64),
    )  # fmt: skip


def _sums(evidence: Evidence) -> Callable[[], None]:
    cell, weight = evidence.writer * evidence.values + evidence.value, evidence.weight

    def sums() -> None:
        for _ in range(SWEEPS):
            for _ in range(evidence.values):
                np.bincount(cell, weights=weight, minlength=WRITERS * evidence.values)
                np.bincount(evidence.object, weights=weight, minlength=OBJECTS)
            np.bincount(evidence.bin, weights=weight, minlength=len(BINS) + 1)

    return sums


def _years(scenario: Scenario) -> Iterator[Ratio]:
    seconds = {law: _seconds(scenario.replace(law=law)) for law in ("mal", *YEARLY)}
    for law, limit in YEARLY.items():
        name = f"365 days of 1,000 replications of poisoner under {law}, against mal"
        yield Ratio(name=name, ours=seconds[law], theirs=seconds["mal"], limit=limit)


def _seconds(scenario: Scenario) -> float:
    start = time.perf_counter()
    bench.run(scenario)
    return time.perf_counter() - start
