"""Traces of a run as step lines over time, grouped by panel, with duplicates marked."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.plain_text import plain_text
from malsim.sim.record.bands import bands_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHOWN = 8
"""Number of lines per panel that are drawn by default."""
MOST = 300
"""Largest number of lines listed per panel."""
TITLES = {
    "effective": "effective confidence", "rank": "rank", "currency": "currency", "unit": "signals from 0 to 1",
    "bits": "bits", "belief": "belief",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TraceLine:
    """Step line in which each value holds from its day in `t` until the next day in `t`. NaN means no value.

    `low` and `high` are the 5th and 95th percentiles over replications; empty for a single replication. `same_as` names an
    earlier trace of the panel that has equal values.
    """

    name: str
    panel: str
    label: str
    t: tuple[float, ...]
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    same_as: str = ""

    def at(self, day: float) -> float | None:
        """Return the value that holds on a day, or None before the first day."""
        index = bisect_right(self.t, day) - 1
        return self.values[index] if index >= 0 else None

    @property
    def moved(self) -> float:
        finite = [value for value in self.values if value == value]  # noqa: PLR0124  # NaN
        return max(finite) - min(finite) if finite else 0.0


def traces_of(run: Any) -> dict[str, tuple[TraceLine, ...]]:
    """Return the traces of a run, grouped by panel in order of display.

    Several replications are reduced to mean and band. Randomly drawn writers write different cells in each replication, so
    the traces of cells are then those of the first replication.
    """
    several = run.scenario.replications > 1
    panels: dict[str, list[TraceLine]] = {}
    cells, labels = run.cells, dict[str, str]()
    for cell, *words in run.labels.select("cell", "object", "title").rows() if cells.height else ():
        labels.setdefault(cell, plain_text(": ".join(dict.fromkeys(filter(None, words)))))
    if several and run.scenario.writers:
        cells = cells.filter(pl.col("rep") == run.scenario.first)
    value = pl.col("value").cast(pl.Float64)
    for column in dict.fromkeys((run.score, "currency")):
        if column in cells.columns:
            frame = cells.select("t", pl.lit(column).alias("panel"), name="cell", value=column)
            if several and not run.scenario.writers:
                frame = frame.group_by("t", "name", "panel", maintain_order=True).agg(
                    value=value.mean(), low=value.quantile(0.05, "linear"), high=value.quantile(0.95, "linear")
                )
            _add(panels, frame, labels)
    signals = _signals(run, several=several)
    if signals.height:
        wires = run.scenario.netlist
        bits = {name for name, signal in wires.net.signals.items() if signal.type == "bit"} if wires else set()
        _add(panels, _with_panels(signals, bits), {})
    order = ("effective", "rank", "currency", "unit", "bits")
    ranked = sorted(panels, key=lambda panel: (order.index(panel) if panel in order else 3.5, panel))
    return {panel: tuple(_marked(panels[panel])) for panel in ranked}


def steps(t: tuple[float, ...], values: tuple[float, ...]) -> tuple[list[float], list[float]]:
    """Return the corner points of a step line that holds each value until the next day.

    >>> steps((0.0, 1.0), (5.0, 7.0))
    ([0.0, 1.0, 1.0], [5.0, 5.0, 7.0])
    """
    x, y = [], []
    for index, (day, value) in enumerate(zip(t, values, strict=True)):
        if index:
            x.append(day)
            y.append(values[index - 1])
        x.append(day)
        y.append(value)
    return x, y


def most_moved(traces: Sequence[TraceLine], count: int) -> list[TraceLine]:
    names = {trace.name for trace in sorted(traces, key=lambda trace: -trace.moved)[:count]}
    return [trace for trace in traces if trace.name in names]


def title_of(panel: str) -> str:
    return TITLES.get(panel, panel)


def _signals(run: Any, *, several: bool) -> pl.DataFrame:
    """Return a run's signals with the columns t, name, signal, value and, for several replications, low and high."""
    with_row = pl.format("{}({})", "signal", "row")
    name = pl.when(pl.col("row").is_null()).then("signal").otherwise(with_row).alias("name")
    if run.bands.height or several:
        bands: pl.DataFrame = run.bands if run.bands.height else bands_of(run.signals)
        return bands.select("t", name, "signal", value="mean", low="q05", high="q95")
    signals: pl.DataFrame = run.signals
    return signals.select("t", name, "signal", "value")


def _with_panels(signals: pl.DataFrame, bits: set[str]) -> pl.DataFrame:
    """Assign signals to panels: bits share one, signals within [0, 1] share another, and each other signal has its own."""
    value = pl.col("value")
    unit = value.is_between(0.0, 1.0).all().over("signal")
    bits_first = pl.when(pl.col("signal").is_in(sorted(bits)), unit).then(pl.lit("bits"))
    panel = bits_first.when(unit).then(pl.lit("unit")).otherwise("signal")
    return signals.filter(value.is_not_null()).with_columns(panel=panel)


def _add(panels: dict[str, list[TraceLine]], frame: pl.DataFrame, labels: Mapping[str, str]) -> None:
    bounds = [column for column in ("low", "high") if column in frame.columns]
    frame = frame.with_columns(pl.col("value", *bounds).cast(pl.Float64).fill_null(float("nan")))
    for (panel, name), rows in frame.group_by("panel", "name", maintain_order=True):
        if rows["value"].is_nan().all():
            continue
        low, high = (tuple(rows[bound].to_list()) for bound in bounds) if bounds else ((), ())
        trace = TraceLine(
            name=str(name), panel=str(panel), label=labels.get(str(name), ""),
            t=tuple(rows["t"].to_list()), values=tuple(rows["value"].to_list()), low=low, high=high,
        )  # fmt: skip
        panels.setdefault(str(panel), []).append(trace)


def _marked(traces: list[TraceLine]) -> list[TraceLine]:
    """Return the traces that moved most, in their original order, with duplicates marked."""
    first: dict[tuple[tuple[float, ...], ...], str] = {}
    marked = []
    for trace in most_moved(traces, MOST):
        key = (trace.t, tuple(round(value, 12) for value in trace.values))
        marked.append(replace(trace, same_as=first.get(key, "")))
        first.setdefault(key, trace.name)
    return marked
