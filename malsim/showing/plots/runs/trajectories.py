"""What a memory believes over time: one panel an object, one line a cell, event marks above."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import polars as pl

from malsim.showing.plots.style import COLOURS, DASHES, GREY, dress, headline, line_styles, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

DAYS = "time (days)"
MOST_PANELS = 6
MOST_LINES = 8
MARKS = {"admitted": ("v", "claim admitted"), "rejected": ("x", "claim refused"), "superseded": ("s", "cell superseded")}
AXES = {
    "effective": "effective confidence (0 to 1)",
    "currency": "currency (0 to 1)",
    "salience": "salience (0 to 1)",
    "support_mass": "support mass",
    "challenge_mass": "challenge mass",
}


def trajectories(
    cells: pl.DataFrame,
    events: pl.DataFrame,
    labels: pl.DataFrame,
    *,
    column: str = "effective",
    title: str = "",
    x: str = DAYS,
) -> Sheet:
    """Draw a column of recorded cells over time.

    Parameters
    ----------
    cells
        t (days), rep, cell and the column. Several replications are drawn as a median and a band of 5 % to 95 %.
    events
        t, kind, subject: admissions, refusals and supersessions are marked above the lines.
    labels
        rep, cell, object, title: a panel for each object, a legend entry for each cell.
    x
        What the time axis counts.
    """
    names = labels.filter(pl.col("cell").is_in(cells["cell"].unique().implode())).unique(
        "cell", keep="first", maintain_order=True
    )
    names = names.with_columns(pl.col("object").fill_null(""))
    objects = names["object"].unique(maintain_order=True).to_list()[:MOST_PANELS]
    rows = max(1, len(objects))
    figure = sheet(8.6, 1.2 + 2.2 * rows)
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    legend_kinds = set[str]()  # kinds of events that a legend above names already
    for axes, name in zip(panels, objects, strict=False):
        here = names.filter(pl.col("object") == name)
        _panel(axes, cells, here, column)
        is_refusal = pl.col("kind") == "rejected"  # of no recorded cell, so it stands over every panel
        _marks(axes, events.filter(pl.col("subject").is_in(here["cell"].implode()) | is_refusal), legend_kinds)
        dress(axes, x="", y=AXES.get(column, column), title=name)
    panels[-1].set_xlabel(x)
    more = names["object"].n_unique() - len(objects)
    note = f" — {more} more objects not shown" if more > 0 else ""
    if title or note:
        headline(figure, title + note)
    return figure


def _panel(axes: Axes, cells: pl.DataFrame, labels: pl.DataFrame, column: str) -> None:
    many = labels.height > MOST_LINES
    for style, row in zip(line_styles(labels.height), labels.to_dicts(), strict=True):
        line = cells.filter(pl.col("cell") == row["cell"])
        middle = _middle(line, column)
        look = {"color": GREY, "linewidth": 0.6, "alpha": 0.5} if many else style | {"linewidth": 1.5}
        label = None if many else f'{row["cell"]} "{textwrap.shorten(row["title"], 40, placeholder="…")}"'
        short = middle.height < 2 and not many  # noqa: PLR2004  # a single tick has no line
        axes.plot(middle["t"], middle["middle"], label=label, marker="o" if short else None, drawstyle="steps-post", **look)
        if not many:
            _fade(axes, line, column)
        if line["rep"].n_unique() > 1:
            axes.fill_between(
                middle["t"], middle["low"], middle["high"], step="post", color=look["color"], alpha=0.18, linewidth=0
            )
    if many:
        _medians(axes, cells.filter(pl.col("cell").is_in(labels["cell"].implode())), column, labels.height)
    axes.set_ylim(-0.03, 1.12) if column in ("effective", "currency", "salience") else axes.margins(y=0.15)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _medians(axes: Axes, cells: pl.DataFrame, column: str, count: int) -> None:
    """The middle of many cells while they are active: of the true and of the false ones, where that is known."""
    groups = [(pl.lit(value=True), COLOURS[0], "-", f"median of {count} cells")]
    if "truth" in cells.columns and cells["truth"].null_count() < cells.height:
        groups = [
            (pl.col("truth"), COLOURS[0], "-", "median of the true claims"),
            (~pl.col("truth"), COLOURS[5], DASHES[1], "median of the false ones"),
        ]
        axes.plot([], [], color=GREY, linewidth=0.6, label=f"one of {count} claims, while active")
    times = cells.select(pl.col("t").unique().sort())
    for which, colour, dash, label in groups:
        middle = times.join(
            _middle(cells.filter(which), column), on="t", how="left", maintain_order="left"
        )  # gaps stay gaps
        axes.plot(
            middle["t"], middle["middle"], color=colour, linestyle=dash, linewidth=2, drawstyle="steps-post", label=label
        )


def _middle(line: pl.DataFrame, column: str) -> pl.DataFrame:
    """Median and band over the replications, tick by tick; of a cell that was replaced or annexed, while it was active."""
    live = line.filter(pl.col("status") == "active") if "status" in line.columns else line
    return live.group_by("t", maintain_order=True).agg(
        pl.col(column).median().alias("middle"),
        pl.col(column).quantile(0.05).alias("low"),
        pl.col(column).quantile(0.95).alias("high"),
    )


def _fade(axes: Axes, line: pl.DataFrame, column: str) -> None:
    """Go on in thin grey where a cell is no longer active in the first replication."""
    if "status" in line.columns and (line["status"] != "active").any():
        inactive = line.filter((pl.col("status") != "active") & (pl.col("rep") == pl.col("rep").min()))
        axes.plot(inactive["t"], inactive[column], color=GREY, linewidth=0.6, alpha=0.6, drawstyle="steps-post")


def _marks(axes: Axes, events: pl.DataFrame, legend_kinds: set[str]) -> None:
    top = axes.get_ylim()[1]
    for kind, (marker, says) in MARKS.items():
        times = events.filter(pl.col("kind") == kind)["t"].unique()
        if times.len():
            label = None if kind in legend_kinds else says
            axes.plot(times, [top] * times.len(), marker, color=GREY, markersize=5, clip_on=False, label=label)
            legend_kinds.add(kind)
    if events.height:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
