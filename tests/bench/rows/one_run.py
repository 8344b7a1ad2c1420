"""Benchmark of a user's waiting time for a claim, a push or a scenario run, relative to ticks alone on 88 cells."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import malsim as ms
from malsim.memory import admit
from tests.bench.rows.memory import bare_tick
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory import Memory
    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

CLAIM = {"writer": "ann", "kind": "obs", "title": "the pump is down", "confidence": 0.6, "t": 61.0}
SCENARIOS = {"mutual_dispute": 2_100, "tripwire": 2_600}


def rows() -> Iterator[Ratio]:
    poisoner = partial(ms.run, "scenarios/poisoner.toml", replications=1)
    memory = poisoner(record="all").memory
    tick = bare_tick(memory)
    memory.mini_index("pump")
    calls = {
        "admit one claim to 88 cells": (partial(admit, memory, [CLAIM]), 15),
        "mini-index of 88 cells, warm": (partial(memory.mini_index, "pump"), 60),
        "mini-index of 88 cells, first after a change": (partial(_first_push, memory), 500),
        **{name: (partial(ms.run, f"scenarios/{name}.toml"), limit) for name, limit in SCENARIOS.items()},
        "poisoner, one replication, bands": (partial(poisoner, record="bands"), 6_500),
        "poisoner, one replication, all recorded": (partial(poisoner, record="all"), 9_500),
    }
    for name, (call, limit) in calls.items():
        yield compare(f"{name}, against one bare tick", call, tick, limit=limit, repeats=15)


def _first_push(memory: Memory) -> None:
    admit(memory, [CLAIM]).memory.mini_index("pump")
