"""Benchmark of a temporal property over many replications, relative to one pass of arithmetic over the same array."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from malsim.scenario.properties import Property, Trace
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

TICKS = REPLICATIONS = 1_000


def rows() -> Iterator[Ratio]:
    draws = np.random.default_rng(7)
    x, y = draws.normal(size=(2, TICKS, REPLICATIONS))
    trace = Trace.of_arrays(range(TICKS), {"x": x})
    for inner, outer in ((3, 5), (50, 100), (500, 400)):
        formula = Property(f"always[0:{outer}] eventually[0:{inner}] (x > 0.5)")
        name = f"always[0:{outer}] eventually[0:{inner}] against one np.minimum"
        yield compare(name, partial(formula.margin, trace), partial(np.minimum, x, y), limit=40)
