"""Small scenarios and claim graphs used by several tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import connect_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

SMALL = """
why = "one fact, two writers"
seed = 3
run = { days = 2, replications = 2 }
facts = [{ name = "pump" }]
writers = [{ behaviour = "honest", count = 2, rate = 1.0, accuracy = 0.7 }]
"""
PLAIN = Rules(calibration="none", edge_weight_max=10.0)


def graph(stated: Iterable[float], edges: list[tuple[int, int, float]], rules: Rules = PLAIN) -> Memory:
    """Return a memory with one claim per writer. Edges are (source, target, weight); negative weights mean contradiction."""
    worths = list(stated)
    numbers = range(len(worths))
    claims = pl.DataFrame({
        "writer": [f"w{number:05d}" for number in numbers], "handle": [f"obs_{number:04x}" for number in numbers],
        "title": [f"claim {number}" for number in numbers], "confidence": worths, "verification": "external",
    })  # fmt: skip
    admission = admit(Memory.empty(), claims, rules)
    memory = admission.memory
    assert admission.verdicts["verdict"].unique().to_list() == ["admitted"]
    if not edges:
        return memory
    frame = pl.DataFrame(edges, schema=["source", "target", "weight"], orient="row").with_columns(
        relation=pl.when(pl.col("weight") > 0).then(pl.lit("supports")).otherwise(pl.lit("contradicts")),
        writer=pl.lit("judge"), t=pl.lit(0.0), mutual=pl.lit(value=False),
    )  # fmt: skip
    return connect_rows(memory, frame, rules)


def clique(size: int, weight: float = 1.0, first: int = 0) -> list[tuple[int, int, float]]:
    """Return edges by which each of `size` claims contradicts every other claim."""
    return [(first + i, first + j, -weight) for i in range(size) for j in range(size) if i != j]
