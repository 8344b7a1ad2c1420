"""Recorded history in the frames of a run, so that checks read both alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from malsim.sim.record.recorder import EVENTS, SIGNALS, WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.memory import Memory
    from malsim.sim.settings.scenario import Scenario

STATE = 200  # measured bytes of an item at an instant while a history is read


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """Frames of a recorded history; each tick is an instant at which something was written.

    `scenario` holds the checks and the netlist. `snapshots` holds the day and the memory of each instant that the netlist
    scans.
    """

    scenario: Scenario
    cells: pl.DataFrame
    events: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EVENTS))
    writers: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=WRITERS))
    signals: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SIGNALS))
    memory: Memory | None = None
    snapshots: tuple[tuple[float, Memory], ...] = ()

    @property
    def day(self) -> float | None:
        return max((float(t) for t in self._instants()), default=None)

    def _instants(self) -> Iterator[float]:
        for frame in (self.cells, self.signals, self.events):
            if frame.height:
                yield frame["t"].max()  # type: ignore[misc]  # a column of floats


def as_columns(frame: pl.DataFrame, kinds: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.DataFrame:
    return frame.select(list(kinds)).cast(pl.Schema(kinds))


def about_objects(cells: pl.DataFrame) -> pl.DataFrame:
    """Return signals per object: `belief` of its best active item, and `rivals`, active items with another value.

    `cells` has the columns t, rep, object, says, score, status.
    """
    active = cells.filter(
        pl.col("status").cast(pl.String) == "active", pl.col("object").is_not_null(), pl.col("score").is_not_null()
    )
    best = active.sort("score", descending=True, maintain_order=True).group_by("t", "rep", "object", maintain_order=True)
    beliefs = best.agg(
        pl.col("score").first().alias("belief"),
        (pl.col("says") != pl.col("says").first()).sum().cast(pl.Float64).alias("rivals"),
    )
    long = beliefs.unpivot(["belief", "rivals"], index=["t", "rep", "object"], variable_name="signal", value_name="value")
    return as_columns(long.rename({"object": "row"}), SIGNALS)
