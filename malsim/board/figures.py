"""What stands in a cell of the board, what a column is, and how much of each family is run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.intervals import ANY, mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.base.intervals import Bounds
    from malsim.memory.graph.arrays import Array

DIGITS = 6


@dataclass(frozen=True)
class Metric:
    """A column: its name, its unit, whether more or less is better, what it says in a sentence, and its bounds.

    `ranked` says that it is a mean over replications that all memories met, so that memories can be ranked by it.
    """

    name: str
    unit: str
    better: str
    sentence: str
    bounds: Bounds = ANY
    ranked: bool = False


@dataclass(frozen=True)
class BoardSize:
    """How much is run: replications of what is drawn (half of them of poisoning), the seed, folders of real claims."""

    replications: int = 16
    seed: int = 0
    claims: tuple[str, ...] = ()
    limit: float = 10.0


@dataclass(frozen=True)
class CellWitness:
    """Something that a cell opens: its name, why it is there, and the smallest stream, as events or as Python."""

    name: str
    why: str
    stream: str


@dataclass(frozen=True)
class Figure:
    """A cell: the value with its interval, or `text` alone where there is none, and what it was counted from.

    `parts` has by condition (a scenario, a world, a duty) a number a replication, None where there was none; the value is
    the mean over conditions of their means, or the count of ones.
    """

    metric: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    text: str = ""
    parts: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    witnesses: Sequence[CellWitness] = ()

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "witnesses": [asdict(each) for each in self.witnesses]}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Figure:
        """From plain data."""
        return cls(**{**data, "witnesses": [CellWitness(**each) for each in data["witnesses"]]})


def replication_means(parts: Mapping[str, Sequence[float | None]]) -> Array:
    """The mean over conditions of each replication, NaN where one has none; shape (replications,)."""
    table = np.array(list(parts.values()), dtype=np.float64)
    return table.mean(axis=0) if len(table) else np.empty(0)


def figure_of_parts(metric: Metric, parts: Mapping[str, Sequence[float]]) -> Figure:
    """The mean over replications with its 95 % interval; where some have no number, of those that have one."""
    rounded = {name: [_rounded(value) for value in values] for name, values in parts.items()}
    each = replication_means(rounded)
    there = int(np.isfinite(each).sum())
    if not there:
        return Figure(metric.name, text="no number", parts=rounded)
    mean, low, high = (_rounded(value) for value in mean_interval(each, metric.bounds))
    return Figure(metric.name, mean, low, high, there, f"{mean:.3g}", rounded)


def _rounded(value: float) -> float | None:
    return round(float(value), DIGITS) if np.isfinite(value) else None
