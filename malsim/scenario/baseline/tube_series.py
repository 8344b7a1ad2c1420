"""Series of a frame against recorded ones: every series and column that leaves its tube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.errors import ScenarioError
from malsim.scenario.baseline.tube_band import Band
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from malsim.scenario.baseline.tube import Tube

__all__ = ["series_differences", "series_label"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Side:
    """One side's ticks in milliseconds, and where its rows stand in an array of ticks × series."""

    times: Rows
    ticks: Rows
    series: Rows
    frame: pl.DataFrame
    count: int

    @staticmethod
    def of(side: str, frame: pl.DataFrame, names: pl.DataFrame, keys: tuple[str, ...]) -> _Side:
        rows = frame.join(names, on=keys, nulls_equal=True, maintain_order="left")
        moments = np.rint(rows["t"].to_numpy() * DAY).astype(np.int64)
        times, ticks = np.unique(moments, return_inverse=True)
        places = ticks * names.height + rows["series"].to_numpy()
        if len(np.unique(places)) != len(places):
            raise ScenarioError(f"two rows of the {side} are for one tick of one series", hint="keep one of them")
        return _Side(times, ticks, rows["series"].to_numpy().astype(np.int64), rows, names.height)

    def array(self, column: str, words: list[str] | None) -> Array:
        """The column's numbers, or the places of its words in a list; NaN where there is no row or null."""
        values = self.frame[column]
        if words is not None:
            values = values.cast(pl.String).replace_strict(words, range(len(words)), return_dtype=pl.Float64)
        array = np.full((len(self.times), self.count), np.nan)
        array[self.ticks, self.series] = values.cast(pl.Float64).to_numpy()
        return array


def series_differences(
    then: pl.DataFrame, now: pl.DataFrame, keys: tuple[str, ...], tube_of: Callable[[str, Mapping[str, Any]], Tube]
) -> Iterator[dict[str, Any]]:
    """One row for each series and column that is somewhere outside its tube."""
    names = pl.concat([then.select(keys), now.select(keys)]).unique(maintain_order=True).with_row_index("series")
    baseline, run = _Side.of("baseline", then, names, keys), _Side.of("run", now, names, keys)
    for column in (each for each in now.columns if each not in ("t", *keys)):
        words = _words(then[column], now[column])
        values = baseline.array(column, words), run.array(column, words)
        members: dict[Tube, list[int]] = {}
        for number, series in enumerate(names.to_dicts()):
            members.setdefault(tube_of(column, series), []).append(number)
        for tube, numbers in members.items():
            band = Band(baseline.times, run.times, values[0][:, numbers], values[1][:, numbers], tube, words)
            for place in band.fails:
                yield {"series": series_label(names.row(numbers[place], named=True)), "column": column, **band.report(place)}


def _words(then: pl.Series, now: pl.Series) -> list[str] | None:
    """The words of a column that holds no numbers, each once."""
    if then.dtype.is_numeric() and now.dtype.is_numeric():
        return None
    return pl.concat([then.cast(pl.String), now.cast(pl.String)]).drop_nulls().unique(maintain_order=True).to_list()


def series_label(series: Mapping[str, Any]) -> str:
    """What a series is called in a report."""
    name = series.get("cell") or series.get("writer") or series.get("signal")
    row = f"({series['row']})" if series.get("row") is not None else ""
    return f"{name}{row}, replication {series['rep']}"
