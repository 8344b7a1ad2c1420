"""Series of a frame against recorded ones: every series and column that leaves its tube, and how far it is shifted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.base.errors import ScenarioError
from malsim.scenario.properties.windows import extrema
from malsim.sim.world.clock import DAY, days

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from malsim.scenario.checks.tube import Tube

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]
MOST_SHIFTS = 400  # tried on a series
MOST_SHIFTED = 50  # series tried; of more, one cause is to be found first
RECORDED, RUN = 0, 1
NOTHING = "nothing"


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
            band = _Band(baseline.times, run.times, values[0][:, numbers], values[1][:, numbers], tube, words)
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


class _Band:
    """The recorded values of some series, `then`, and the run's, `now`, at their own ticks; NaN is no value.

    A window of lag and lead that is cut by the first or last tick of the other side says nothing of what it cannot see: what
    fits none of the values in it is passed over, unless the window lies outside altogether.
    """

    def __init__(
        self, then_times: Rows, now_times: Rows, then: Array, now: Array, tube: Tube, words: list[str] | None
    ) -> None:
        self.times, self.tube, self.words = (then_times, now_times), tube, words
        for times in self.times:
            if len(times) > 1 and tube.ahead + tube.behind >= times[-1] - times[0]:
                raise ScenarioError(
                    "lead and lag span the whole series, so nothing is compared",
                    given=f"{tube.lead} and {tube.lag}",
                    hint="allow less time, or run more days",
                )
        slack = np.zeros_like(then) if words is not None else tube.absolute + tube.relative * np.abs(then)
        with np.errstate(over="ignore"):
            self.low, self.high = (then - slack, now), (then + slack, now)
        self.outside = self._outside(RECORDED), self._outside(RUN)
        self.fails = np.flatnonzero(np.concatenate(self.outside).any(axis=0)).tolist()

    def report(self, series: int) -> dict[str, Any]:
        """What is wrong with one series: the fault, its first tick, what was expected and got, the shift, how many ticks."""
        flags = [outside[:, series] for outside in self.outside]
        ticks = [int(np.argmax(each)) if each.any() else None for each in flags]
        moments = [np.inf if tick is None else self.times[side][tick] for side, tick in enumerate(ticks)]
        side = RUN if moments[RUN] <= moments[RECORDED] else RECORDED
        tick = ticks[side] or 0
        own = self._text(self.low[side][tick, series], self.high[side][tick, series])
        other = self._other(side, tick, series)
        shift = self._shift(series) if series in self.fails[:MOST_SHIFTED] else None
        fault = "value" if other != NOTHING else "unexpected" if side == RUN else "missing"
        if shift:
            fault = "late" if shift > 0 else "early"
        return {
            "fault": fault,
            "t": days(int(self.times[side][tick])),
            "expected": other if side == RUN else own,
            "got": own if side == RUN else other,
            "shift": days(shift) if shift else None,
            "ticks": len(np.union1d(self.times[RECORDED][flags[RECORDED]], self.times[RUN][flags[RUN]])),
        }

    def _outside(self, side: int) -> Flags:
        """Where a side has a value that the other comes nowhere near within its time."""
        low, high, other = self.low[side], self.high[side], 1 - side
        first, last, cut = self._window(side)
        if self.words is None:
            lowest = extrema(_filled(self.low[other], np.inf), first, last, largest=False)
            highest = extrema(_filled(self.high[other], -np.inf), first, last, largest=True)
            near = (lowest <= high) & (low <= highest)
        else:
            near = np.zeros(low.shape, dtype=bool)
            for word in np.unique(low[~np.isnan(low)]):
                near |= (low == word) & (extrema((self.low[other] == word) * 1.0, first, last, largest=True) > 0)
        return ~np.isnan(low) & ~near & ~cut[:, None]

    def _window(self, side: int) -> tuple[Rows, Rows, Flags]:
        """The other side's first and last tick within each tick's time, and whether its first or last tick cuts it."""
        times, others = self.times[side], self.times[1 - side]
        ahead, behind = self.tube.ahead, self.tube.behind
        opens, closes = (times - behind, times + ahead) if side == RUN else (times - ahead, times + behind)
        cut = ((opens < others[0]) & (others[0] <= closes)) | ((opens <= others[-1]) & (others[-1] < closes))
        return np.searchsorted(others, opens, "left"), np.searchsorted(others, closes, "right") - 1, cut

    def _other(self, side: int, tick: int, series: int) -> str:
        """What the other side had within a tick's time."""
        first, last, _ = self._window(side)
        rows = slice(first[tick], last[tick] + 1)
        low, high = self.low[1 - side][rows, series], self.high[1 - side][rows, series]
        there = ~np.isnan(low)
        return self._text(low[there].min(), high[there].max()) if there.any() else NOTHING

    def _text(self, low: float, high: float) -> str:
        if self.words is not None:
            return self.words[int(low)]
        shortest = f"{(low + high) / 2:.9g}"
        narrow = high - low <= 4e-8 * abs(high)
        return shortest if narrow else f"{low:.6g} … {high:.6g}"

    def _shift(self, series: int) -> int | None:
        """The shortest time by which the run is the recorded series, later (or earlier); None if by none."""
        then, now = self.times
        shifts = np.unique(np.concatenate([now - then[0], now[0] - then]))
        for shift in sorted(shifts[shifts != 0].tolist(), key=abs)[:MOST_SHIFTS]:
            places = np.minimum(np.searchsorted(now, then + shift), len(now) - 1)
            both = now[places] == then + shift
            if 2 * both.sum() >= min(len(then), len(now)) and self._equal(both, places[both], series):
                return int(shift)
        return None

    def _equal(self, recorded: Flags, run: Rows, series: int) -> bool:
        low, high = self.low[RECORDED][recorded, series], self.high[RECORDED][recorded, series]
        values = self.low[RUN][run, series]
        equal = ((low <= values) & (values <= high)) | (np.isnan(low) & np.isnan(values))
        moves = np.isnan(low).any() or low.min() != low.max()  # a constant is equal to itself at any shift
        return bool(equal.all() and moves and not np.isnan(low).all())


def _filled(values: Array, neutral: float) -> Array:
    return np.where(np.isnan(values), neutral, values)
