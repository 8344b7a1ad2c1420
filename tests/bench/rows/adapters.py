"""Benchmark of users' memories: overhead per call, and a run with a dict as memory, relative to the published law."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.adapters.contract import Claim, Query
from malsim.adapters.engine.adapter import Adapter, Phrases
from malsim.adapters.engine.user_plant import UserPlant
from malsim.memory.port import Claims, Vocabulary
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from tests.bench.rows.ratios import Ratio, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["DictMemory", "rows"]

POISONER = Path("scenarios") / "poisoner.toml"
REPLICATIONS, DAYS = 100, 40
MOST = 20.0  # maximum overhead in µs per call
VALUES = ("A", "B", "C")


class DictMemory:
    """Memory that stores the last claim about each object and counts its calls."""

    belief = edges = False
    calls = 0

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def write(self, claims: Sequence[Claim], _: float) -> None:
        DictMemory.calls += 1
        for claim in claims:
            self._claims[claim.object] = claim

    def tick(self, _: float) -> None:
        DictMemory.calls += 1

    def peek(self, query: Query, _: float, __: int) -> list[dict[str, Any]]:
        DictMemory.calls += 1
        claim = self._claims.get(query.object)
        return [{"id": 1, "object": claim.object, "value": claim.value, "rank": 1.0}] if claim else []

    read = peek


def rows() -> Iterator[Ratio]:
    yield _a_call()
    if POISONER.is_file():
        scenario = read(POISONER).replace(days=60.0, replications=REPLICATIONS)
        adapted = scenario.replace(adapter=Adapter.of(DictMemory))
        name = f"60 days of {REPLICATIONS} replications of poisoner over a dict memory, against mal"
        yield compare(name, partial(bench.run, adapted), partial(bench.run, scenario), limit=3, repeats=3)


def _a_call() -> Ratio:
    DictMemory.calls = 0
    start = time.process_time()
    _through_the_harness()
    seconds, calls = time.process_time() - start, DictMemory.calls
    start = time.process_time()
    memory, query, claim = DictMemory(), Query("o"), Claim(0.0, "w", "o", "A")
    for _ in range(calls // 4):
        memory.write([claim], 0.0)
        memory.tick(0.0)
        memory.read(query, 0.0, 10)
        memory.peek(query, 0.0, 10)
    overhead = (seconds - (time.process_time() - start)) / calls
    name = f"CPU that the harness adds to each of {calls:,} calls of an adapter, against {MOST:g} µs"
    return Ratio(name=name, ours=overhead, theirs=MOST * 1e-6, limit=1.0)


def _through_the_harness() -> None:
    plant = UserPlant(Adapter.of(DictMemory, trusted=True), Phrases())
    state = plant.init(range(REPLICATIONS), Vocabulary(["w"], ["o"], [VALUES]))
    rep, none = np.arange(REPLICATIONS), np.zeros(REPLICATIONS, dtype=np.int64)
    for day in range(DAYS):
        now = float(day)
        claims = Claims(
            rep=rep, t=np.full(REPLICATIONS, now), writer=none, sequence=none + day, object=none,
            value=none + day % len(VALUES), stated=np.full(REPLICATIONS, 0.7),
        )  # fmt: skip
        state, _ = plant.admit(state, claims)
        state = plant.tick(plant.answer(state, rep, none, 10, now), now)
    plant.close(state)
