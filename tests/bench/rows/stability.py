"""Benchmark of the stability analysis of a large loop, relative to one tick of the same memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from malsim.lab.stability import stability
from malsim.memory import tick
from tests.bench.rows.memory import full_tick, graph
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

CELLS = 100_000


def rows() -> Iterator[Ratio]:
    memory = tick(graph(CELLS, 5 * CELLS), 1.0)
    name = f"stability of {CELLS:,} cells / {5 * CELLS:,} edges, against one tick"
    yield compare(name, partial(stability, memory), partial(full_tick, memory), limit=100, repeats=7)
