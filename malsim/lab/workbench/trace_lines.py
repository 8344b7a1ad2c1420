"""Traces of a run as lines over time, with their panels and duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.plain_text import plain_text
from malsim.sim.record.bands import bands_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHOWN = 8
"""Lines of a panel that are shown until others are picked."""
MOST = 300
"""Lines of a panel that can be picked."""
TITLES = {
    "effective": "effective confidence", "rank": "rank", "currency": "currency", "unit": "signals from 0 to 1",
    "bits": "bits", "belief": "belief",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TraceLine:
    """Step line: `values` hold from each day of `t` to the next; NaN for no value.

    `low` and `high` are the 5th and 95th percentile over replications, empty for one replication. `same_as` names an
    earlier trace of the panel with the same values.
    """

    name: str
    subject: str
    panel: str
    label: str
    t: tuple[float, ...]
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    same_as: str = ""

    def at(self, day: float) -> float | None:
        """Return the value that holds on a day, None before the first."""
        from bisect import bisect_right

        index = bisect_right(self.t, day) - 1
        return self.values[index] if index >= 0 else None

    @property
    def moved(self) -> float:
        finite = [value for value in self.values if value == value]  # noqa: PLR0124  # NaN
        return max(finite) - min(finite) if finite else 0.0


def traces_of(run: Any) -> dict[str, tuple[TraceLine, ...]]:
    """Return the traces of a run by panel, in order of appearance.

    Cells of several replications are joined to a mean with a band where every replication has the same ones; drawn
    writers make others in each, so there the first replication is shown.
    """
    several = run.scenario.replications > 1
    panels: dict[str, list[TraceLine]] = {}
    cells = run.cells
    if several and run.scenario.writers:
        cells, joined = cells.filter(pl.col("rep") == run.scenario.first), False
    else:
        joined = several
    labels = _labels(run)
    for column in dict.fromkeys((run.score, "currency")):
        if column in cells.columns:
            frame = cells.select(
                "t", pl.col("cell").alias("name"), pl.lit(column).alias("panel"), pl.col(column).alias("value")
            )
            _add(panels, _joined(frame) if joined else frame, labels)
    signals = _signals(run, several=several)
    if signals.height:
        _add(panels, _with_panels(signals, _bits(run)), {})
    order = ("effective", "rank", "currency", "unit", "bits")
    ranked = sorted(panels, key=lambda panel: (order.index(panel) if panel in order else 3.5, panel))
    return {panel: tuple(_marked(panels[panel])) for panel in ranked}


def steps(t: tuple[float, ...], values: tuple[float, ...]) -> tuple[list[float], list[float]]:
    """Return the corner points of a line that holds each value until the next day.

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


def _labels(run: Any) -> dict[str, str]:
    if not run.cells.height:
        return {}
    about = run.labels.unique("cell", keep="first", maintain_order=True).select("cell", "object", "title").rows()
    return {cell: plain_text(": ".join(dict.fromkeys(filter(None, (object_, title))))) for cell, object_, title in about}


def _joined(frame: pl.DataFrame) -> pl.DataFrame:
    """Reduce the replications of each line to mean, 5th and 95th percentile."""
    value = pl.col("value").cast(pl.Float64)
    return frame.group_by("t", "name", "panel", maintain_order=True).agg(
        value=value.mean(), low=value.quantile(0.05, "linear"), high=value.quantile(0.95, "linear")
    )


def _signals(run: Any, *, several: bool) -> pl.DataFrame:
    """Return the signals as t, name, signal, value, with low and high for several replications."""
    with_row = pl.format("{}({})", "signal", "row")
    name = pl.when(pl.col("row").is_null()).then("signal").otherwise(with_row).alias("name")
    if run.bands.height or several:
        bands: pl.DataFrame = run.bands if run.bands.height else bands_of(run.signals)
        return bands.select("t", name, "signal", value="mean", low="q05", high="q95")
    signals: pl.DataFrame = run.signals
    return signals.select("t", name, "signal", "value")


def _bits(run: Any) -> set[str]:
    wires = run.scenario.netlist
    return {name for name, signal in wires.net.signals.items() if signal.type == "bit"} if wires else set()


def _with_panels(signals: pl.DataFrame, bits: set[str]) -> pl.DataFrame:
    """Add the panel of each signal: bits together, signals from 0 to 1 together, each other one alone."""
    value = pl.col("value")
    unit = value.is_between(0.0, 1.0).all().over("signal")
    panel = pl.when(pl.col("signal").is_in(sorted(bits)), unit).then(pl.lit("bits"))
    named = panel.when(unit).then(pl.lit("unit")).otherwise("signal")
    return signals.filter(value.is_not_null()).with_columns(panel=named)


def _add(panels: dict[str, list[TraceLine]], frame: pl.DataFrame, labels: Mapping[str, str]) -> None:
    edges = [column for column in ("low", "high") if column in frame.columns]
    frame = frame.with_columns(pl.col("value", *edges).cast(pl.Float64).fill_null(float("nan")))
    for (panel, name), rows in frame.group_by("panel", "name", maintain_order=True):
        if rows["value"].is_nan().all():
            continue
        low, high = (tuple(rows[edge].to_list()) for edge in edges) if edges else ((), ())
        trace = TraceLine(
            name=str(name), subject=str(name), panel=str(panel), label=labels.get(str(name), ""),
            t=tuple(rows["t"].to_list()), values=tuple(rows["value"].to_list()), low=low, high=high,
        )  # fmt: skip
        panels.setdefault(str(panel), []).append(trace)


def _marked(traces: list[TraceLine]) -> list[TraceLine]:
    """Return the traces that moved most in their original order, with duplicates marked."""
    from dataclasses import replace

    first: dict[tuple[tuple[float, ...], ...], str] = {}
    marked = []
    for trace in most_moved(traces, MOST):
        key = (trace.t, tuple(round(value, 12) for value in trace.values))
        marked.append(replace(trace, same_as=first.get(key, "")))
        first.setdefault(key, trace.name)
    return marked
