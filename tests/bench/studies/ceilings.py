"""Whether the critical ceiling that is computed is the one at which simulated ticks begin to ring, on a hundred graphs.

The graphs are random and asymmetric, some damped, some with support, some with clamped cells; each is simulated for 4,000
ticks at ceilings 2 % apart, without code of the lab's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import malsim as ms
from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import connect_rows
from tests.bench.studies import share_row

if TYPE_CHECKING:
    from malsim.lab.stability import Stability
    from tests.bench.studies import Row

GRAPHS, TICKS, APART, HIGHEST = 100, 4_000, 1.02, 2.0


def rows(seed: int) -> list[Row]:
    """The shares that ring, whose ceiling is near the simulated one or above it, and that eigenvalues decide."""
    found = [ms.stability(*drawn(seed, graph)) for graph in range(GRAPHS)]
    ringing = [(one.critical_ceiling or np.inf, first) for one in found if (first := onset(one)) is not None]
    return [
        share_row([len(ringing) > graph for graph in range(GRAPHS)], figure="rings"),
        share_row([0.98 / APART <= claimed / first <= 1.02 for claimed, first in ringing], figure="within 2 %"),
        share_row([claimed / first > 1.02 for claimed, first in ringing], figure="claimed higher"),
        share_row(
            [one.verdict != "settled" and (one.gain_margin or 0.0) > 1.0 for one in found], figure="rings with a margin"
        ),
        share_row([one.criterion == "linear" for one in found], figure="by eigenvalues"),
    ]


def drawn(seed: int, graph: int) -> tuple[Memory, Rules]:
    """Asymmetric, sometimes damped and supported, with stated confidences low enough for the clamp to hold cells."""
    draws = np.random.default_rng([seed, graph])
    size = int(draws.integers(3, 25))
    degree = draws.uniform(1.0, 5.0)
    rules = Rules(calibration="none", edge_weight_max=10.0).replace(damping=float(draws.choice([1.0, 1.0, 0.7, 0.4])))
    pairs = sorted({(i, j) for i, j in draws.integers(0, size, (int(size * degree), 2)).tolist() if i != j})
    backed = draws.uniform(0.0, 0.4)
    weight = [float(draws.uniform(0.3, 1.5)) * (1.0 if draws.random() < backed else -1.0) for _ in pairs]
    stated = draws.uniform(0.05, draws.uniform(0.2, 1.0), size)
    claims = pl.DataFrame(
        {
            "writer": [f"w{number:03d}" for number in range(size)],
            "handle": [f"obs_{number:04x}" for number in range(size)],
            "title": [f"claim {number}" for number in range(size)],
            "confidence": stated,
            "verification": ["external"] * size,
        }
    )
    memory = admit(Memory.empty(), claims, rules).memory
    edges = pl.DataFrame(
        {"source": [i for i, _ in pairs], "target": [j for _, j in pairs], "weight": weight},
        schema={"source": pl.Int64, "target": pl.Int64, "weight": pl.Float64},
    ).with_columns(
        relation=pl.when(pl.col("weight") > 0).then(pl.lit("supports")).otherwise(pl.lit("contradicts")),
        writer=pl.lit("judge"),
        t=pl.lit(0.0),
        mutual=pl.lit(value=False),
    )
    return connect_rows(memory, edges, rules), rules


def onset(found: Stability) -> float | None:
    """The least ceiling, 2 % apart, at which 4,000 plain ticks of the written formula still move."""
    loop = found.loop
    support, challenge = loop.support.toarray(), loop.challenge.toarray()
    ceilings = np.geomspace(0.02, HIGHEST, int(np.log(HIGHEST / 0.02) / np.log(APART)) + 1)
    anchor = (loop.stated * loop.factor)[:, None]
    worth = np.repeat(loop.start[:, None], len(ceilings), axis=1)
    peak = np.zeros((2, len(ceilings)))
    for number in range(TICKS):
        raw = anchor + loop.support_ceiling * np.tanh(support @ worth) - ceilings * np.tanh(challenge @ worth)
        fresh = worth + loop.damping * (np.clip(raw, 0.0, 1.0) - worth)
        late = number * 4 // TICKS - 2
        if late >= 0:
            peak[late] = np.maximum(peak[late], np.abs(fresh - worth).max(axis=0))
        worth = fresh
    ringing = np.flatnonzero((peak[1] > 1e-8) & (peak[1] >= 0.98 * peak[0]))
    return float(ceilings[ringing[0]]) if ringing.size else None
