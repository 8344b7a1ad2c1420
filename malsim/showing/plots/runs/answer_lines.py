"""Figures of answers over time, which compare the best claim of the true value with the best claim of any other value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, dress, headline, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

MOST_PANELS = 6
TRUE, FALSE = COLOURS[0], COLOURS[5]
LINES = (
    ("for_truth", TRUE, "-", "best claim of the true value"),
    ("against_truth", FALSE, (0, (5, 1.5)), "best claim of another value"),
)
TURNS = (
    ("acted_false", FALSE, "-", "acted on a claim that was never true"),
    ("acted_stale", COLOURS[1], (0, (5, 1.5)), "acted on a claim no longer true"),
    ("declined", GREY, (0, (1, 1)), "declined to act"),
    ("withheld", COLOURS[6], (0, (5, 1, 1, 1)), "never released"),
)
COSTS = (
    ("expanded", COLOURS[0], "-", "cells opened"),
    ("blocks", COLOURS[5], (0, (5, 1.5)), "times refused by the stop hook"),
    ("lost", COLOURS[6], (0, (1, 1)), "lessons lost"),
)
WINDOW = 10  # number of turns in the moving average


def answers(bands: pl.DataFrame, *, title: str = "", changes: pl.DataFrame | None = None) -> Sheet:
    """Draw one panel per fact: median effective confidence for and against the true value, with 50 % and 90 % bands.

    `bands` has t (days), row (the fact), signal (`for_truth`, `against_truth`, `right`), count, mean, q05, q25, q50, q75,
    q95; `changes` has t and subject of each change of truth to mark, from a single replication.
    """
    facts = bands.filter(pl.col("signal") == "right")["row"].unique(maintain_order=True).to_list()
    rows = max(1, min(len(facts), MOST_PANELS))
    figure = sheet(8.6, 1.3 + 2.2 * rows)
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    for axes, fact in zip(panels, facts, strict=False):
        signals = bands.filter(pl.col("row") == fact)
        times = signals.select(pl.col("t").unique().sort())
        for signal, colour, dash, label in LINES:
            line = signals.filter(pl.col("signal") == signal)
            # the left join fills in ticks without a value, so that the line has gaps there
            _band(axes, times.join(line, on="t", how="left", maintain_order="left"), colour, dash, label)
        _right(axes, signals.filter(pl.col("signal") == "right"))
        if changes is not None:
            for day in changes.filter(pl.col("subject") == fact)["t"]:
                axes.axvline(day, color=GREY, linewidth=0.8, linestyle=(0, (5, 1, 1, 1)), label="the truth changes")
        axes.set_ylim(-0.03, 1.05)
        dress(axes, x="", y="effective (0 to 1)", title=fact)
    lines: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            lines.setdefault(label, handle)
    panels[0].legend(lines.values(), lines.keys(), fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    panels[-1].set_xlabel("time (days)")
    hidden = len(facts) - rows
    title += f" — {hidden} more facts not shown" if hidden > 0 else ""
    if title:
        headline(figure, title)
    return figure


def turns(bands: pl.DataFrame, *, title: str = "", compactions: Sequence[float] = ()) -> Sheet:
    """Draw the outcomes of the reader's turns and what they cost: cells opened, turns refused, and lessons lost.

    `bands` has the reader's signals, whose row is null. Each line is the mean over replications and the last ten turns. If
    the memory has initial cells, a third panel shows their share of the cells shown, and the days (`compactions`) on which
    the context is cleared.
    """
    signals = bands.filter(pl.col("row").is_null())
    cells = signals.filter(signal="shown").join(signals.filter(signal="shown_init"), on="t", suffix="_init")
    figure = sheet(8.6, 5.4 + 2.4 * bool(cells.height))
    upper, lower, *third = figure.subplots(2 + bool(cells.height), 1, sharex=True)
    for signal, colour, dash, label in TURNS:
        _mean(upper, signals.filter(pl.col("signal") == signal), colour, dash, label)
    for signal, colour, dash, label in COSTS:
        _mean(lower, signals.filter(pl.col("signal") == signal), colour, dash, label)
    upper.set_ylim(bottom=0.0)
    lower.set_ylim(bottom=0.0)
    dress(upper, x="", y="share of turns (0 to 1)", title=f"outcome of the reader's turns, mean of the last {WINDOW} turns")
    dress(lower, x="time (days)", y="number per turn", title=f"cost per turn, mean of the last {WINDOW} turns")
    for axes in third:
        for day in compactions:
            axes.axvline(day, color=GREY, linewidth=0.8, linestyle=(0, (5, 1, 1, 1)), label="_the context is cleared")
        share = cells.filter(pl.col("mean") > 0.0).with_columns(mean=pl.col("mean_init") / pl.col("mean"))
        _mean(axes, share, COLOURS[2], "-", "of cells pushed and opened")
        axes.set_ylim(-0.03, 1.05)
        initial = "share of initial cells; dashed: the context is cleared"
        dress(axes, x="time (days)", y="share (0 to 1)", title=initial)
    for axes in (upper, lower, *third):
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    if title:
        headline(figure, title)
    return figure


def _right(axes: Axes, right: pl.DataFrame) -> None:
    """Draw the share of replications with a true answer. For a single replication, shade the times of false answers."""
    if _replications(right) > 1:
        look: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "linestyle": (0, (1, 1)), "drawstyle": "steps-post"}
        axes.plot(right["t"], right["mean"], label="share of replications whose answer is true", **look)
    elif (right["mean"] < 1.0).any():
        wrong = (right["mean"] < 1.0).cast(pl.Float64)
        axes.fill_between(right["t"], wrong, step="post", color="#dddddd", linewidth=0, label="the answer is false")


def _replications(line: pl.DataFrame) -> int:
    return int(line["count"].max() or 0)  # type: ignore[arg-type]  # counts are whole numbers


def _band(axes: Axes, line: pl.DataFrame, colour: str, dash: object, label: str) -> None:
    many = _replications(line) > 1
    label = f"{label}, median of replications" if many else label
    axes.plot(line["t"], line["q50"], color=colour, linestyle=dash, linewidth=1.5, label=label, drawstyle="steps-post")
    if many:
        for low, high, alpha, share in (("q05", "q95", 0.12, "90 %"), ("q25", "q75", 0.22, "50 %")):
            axes.fill_between(line["t"], line[low], line[high], step="post", color=colour, alpha=alpha, linewidth=0)
            axes.fill_between([], [], color=GREY, alpha=2 * alpha, linewidth=0, label=f"the middle {share} of replications")


def _mean(axes: Axes, line: pl.DataFrame, colour: str, dash: object, label: str) -> None:
    if line.height:
        smooth = line["mean"].rolling_mean(min(WINDOW, line.height), min_samples=1).to_numpy()
        axes.plot(line["t"], np.asarray(smooth), color=colour, linestyle=dash, linewidth=1.5, label=label)
