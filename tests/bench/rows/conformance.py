"""Duties: the suite on a law beside the smallest memory that keeps all, and questions of another day beside plain ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from malsim.judging.duties.engine.assessment import assess_all, memory_of
from malsim.memory.push.ask import ask
from tests.bench.rows.memory import graph
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory import Memory
    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

CELLS, OBJECTS, DAY = 1_000_000, 1_000, 10.0


def rows() -> Iterator[Ratio]:
    law, reference = memory_of("mal"), memory_of("governed")
    whole, smallest = (partial(assess_all, [subject]) for subject in (law, reference))
    yield compare("54 duties of mal, against those of the reference governed", whole, smallest, limit=6.0, repeats=1)
    memory = _about_objects(graph(CELLS, 1))
    plain = partial(ask, memory, "object-7", now=DAY)
    dated = partial(ask, memory, "object-7", now=DAY, at=DAY / 2, as_of=DAY / 2)
    yield compare(f"asking {CELLS:,} cells at a day and as of one, against now", dated, plain, limit=2.0, repeats=5)


def _about_objects(memory: Memory) -> Memory:
    index = pl.int_range(pl.len()) % OBJECTS
    return memory.with_cells(memory.cells.with_columns(object=pl.format("object-{}", index)))
