"""What is made of each fact over time: the best claim of the true value against the best of any other, with its bands."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.plot.style import COLOURS, GREY, dress, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.plot.style import Sheet

__all__ = ["answers", "turns"]

MOST_PANELS = 6
TRUE, FALSE = COLOURS[0], COLOURS[5]
LINES = (
    ("for_truth", TRUE, "-", "best claim of the true value"),
    ("against_truth", FALSE, (0, (5, 1.5)), "best claim of another value"),
)
TURNS = (
    ("acted_false", FALSE, "-", "on a claim that was never true"),
    ("acted_stale", COLOURS[1], (0, (5, 1.5)), "on a claim no longer true"),
    ("declined", GREY, (0, (1, 1)), "declined"),
    ("withheld", COLOURS[6], (0, (5, 1, 1, 1)), "never released"),
)
SMOOTHED = 10  # turns averaged, so that single turns of 0 and 1 make a line


def answers(bands: pl.DataFrame, *, title: str = "", changes: pl.DataFrame | None = None) -> Sheet:
    """Draw a panel a fact: median over replications, with bands of 25 % to 75 % and 5 % to 95 %.

    Parameters
    ----------
    bands
        t (days), row (the fact), signal (`for_truth`, `against_truth`, `right`), count, mean, q05, q25, q50, q75, q95.
    changes
        t and subject of the changes of truth to mark, of one replication.
    """
    facts = bands.filter(pl.col("signal") == "right")["row"].unique(maintain_order=True).to_list()
    shown = facts[:MOST_PANELS]
    figure = sheet(8.6, 1.3 + 2.2 * max(1, len(shown)))
    panels = figure.subplots(max(1, len(shown)), 1, sharex=True, squeeze=False)[:, 0]
    for axes, fact in zip(panels, shown, strict=False):
        here = bands.filter(pl.col("row") == fact)
        for signal, colour, dash, label in LINES:
            _band(axes, here.filter(pl.col("signal") == signal), colour, dash, label)
        right = here.filter(pl.col("signal") == "right")
        axes.plot(right["t"], right["mean"], color=GREY, linewidth=1.0, linestyle=(0, (1, 1)), label="share of lives right")
        if changes is not None:
            for at in changes.filter(pl.col("subject") == fact)["t"]:
                axes.axvline(at, color=GREY, linewidth=0.8, linestyle=(0, (5, 1, 1, 1)))
        axes.set_ylim(-0.03, 1.05)
        dress(axes, x="", y="effective (0 to 1)", title=fact)
    panels[0].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    panels[-1].set_xlabel("time (days)")
    left = len(facts) - len(shown)
    _titled(figure, title + (f" — {left} more facts not shown" if left > 0 else ""))
    return figure


def turns(bands: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw the reader's turns: how many did harm, declined or were withheld, and how much was opened and blocked.

    `bands` has the reader's signals, whose row is null; each line is the mean over replications, averaged over ten turns.
    """
    mine = bands.filter(pl.col("row").is_null())
    figure = sheet(8.6, 5.4)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for signal, colour, dash, label in TURNS:
        _mean(upper, mine.filter(pl.col("signal") == signal), colour, dash, label)
    _mean(lower, mine.filter(pl.col("signal") == "expanded"), COLOURS[0], "-", "cells opened")
    _mean(lower, mine.filter(pl.col("signal") == "blocks"), COLOURS[5], (0, (5, 1.5)), "times refused by the stop hook")
    _mean(lower, mine.filter(pl.col("signal") == "lost"), COLOURS[6], (0, (1, 1)), "lessons lost")
    upper.set_ylim(bottom=0.0)
    lower.set_ylim(bottom=0.0)
    dress(upper, x="", y="share of turns", title="what became of the reader's turns")
    dress(lower, x="time (days)", y="a turn", title="what they cost")
    for axes in (upper, lower):
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    _titled(figure, title)
    return figure


def _band(axes: Axes, line: pl.DataFrame, colour: str, dash: object, label: str) -> None:
    axes.plot(line["t"], line["q50"], color=colour, linestyle=dash, linewidth=1.5, label=label, drawstyle="steps-post")
    if line.height and int(line["count"].max() or 0) > 1:  # type: ignore[arg-type]  # counts are whole numbers
        for low, high, alpha in (("q05", "q95", 0.12), ("q25", "q75", 0.22)):
            axes.fill_between(line["t"], line[low], line[high], step="post", color=colour, alpha=alpha, linewidth=0)


def _mean(axes: Axes, line: pl.DataFrame, colour: str, dash: object, label: str) -> None:
    if line.height:
        smooth = line["mean"].rolling_mean(min(SMOOTHED, line.height), min_samples=1).to_numpy()
        axes.plot(line["t"], np.asarray(smooth), color=colour, linestyle=dash, linewidth=1.5, label=label)


def _titled(figure: Sheet, title: str) -> None:
    if title:
        figure.suptitle("\n".join(textwrap.wrap(title, 100)), fontsize=10, x=0.01, ha="left")
