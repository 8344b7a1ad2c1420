"""Figure of a memory's beliefs over time, with a panel per object, a line per cell, and marks for events at the top."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.showing.plots.style import COLOURS, DASHES, GREY, NARROW, dress, footnote, headline, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

DAYS = "time (days)"
MOST_PANELS = 6
MOST_LINES = 8
WRAP = 24  # maximum number of characters per legend line
UNIT = ("effective", "currency", "salience")
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
    note: str = "",
    x: str = DAYS,
) -> Sheet:
    """Draw one column of recorded cells over time. Cells with equal values share a line, and its label counts them.

    `cells` has t (days), rep, cell and the column; multiple replications are drawn as a median and a band from 5 % to 95 %.
    `events` has t, kind, subject; admissions, refusals and supersessions are marked above the lines. `labels` has rep,
    cell, object, title; there is a panel per object and a legend entry per cell.
    """
    names = labels.filter(pl.col("cell").is_in(cells["cell"].unique().implode()))
    names = names.unique("cell", keep="first", maintain_order=True).with_columns(pl.col("object").fill_null(""))
    objects = names["object"].unique(maintain_order=True).to_list()[:MOST_PANELS]
    rows = max(1, len(objects))
    figure = sheet(NARROW, 1.4 + 2.0 * rows)
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    legend_kinds = set[str]()  # kinds of events that already have a legend entry
    for axes, name in zip(panels, objects, strict=False):
        of_object = names.filter(pl.col("object") == name)
        _panel(axes, cells, of_object, column)
        # a refused claim has no cell and no panel of its own, so it is marked in every panel
        is_refusal = pl.col("kind") == "rejected"
        _marks(axes, events.filter(pl.col("subject").is_in(of_object["cell"].implode()) | is_refusal), legend_kinds)
        dress(axes, x="", y=AXES.get(column, column))
        axes.set_title(name, loc="left", fontsize=10, pad=11)  # the padding leaves room for event marks
    panels[-1].set_xlabel(x)
    more = names["object"].n_unique() - len(objects)
    footnote(figure, "; ".join(filter(None, (note, f"{more} more objects not shown" if more > 0 else ""))))
    if title:
        headline(figure, title)
    return figure


def _panel(axes: Axes, cells: pl.DataFrame, labels: pl.DataFrame, column: str) -> None:
    lines = _distinct(cells, labels, column)
    many = len(lines) > MOST_LINES
    for style, (line, names, title) in zip(line_styles(len(lines)), lines, strict=True):
        middle = middle_of(line, column)
        look = {"color": GREY, "linewidth": 0.6, "alpha": 0.5} if many else style | {"linewidth": 1.5}
        label = None if many else _label(names, title)
        short = middle.height < 2 and not many  # noqa: PLR2004  # a single tick makes no line
        axes.plot(middle["t"], middle["middle"], label=label, marker="o" if short else None, drawstyle="steps-post",
                  clip_on=False, **look)  # fmt: skip
        if not many and "status" in line.columns and (line["status"] != "active").any():
            inactive = line.filter((pl.col("status") != "active") & (pl.col("rep") == pl.col("rep").min()))
            axes.plot(inactive["t"], inactive[column], color=GREY, linewidth=0.6, alpha=0.6, drawstyle="steps-post")
        if line["rep"].n_unique() > 1:
            shade: dict[str, Any] = {"step": "post", "color": look["color"], "alpha": 0.18, "linewidth": 0}
            axes.fill_between(middle["t"], middle["low"], middle["high"], **shade)
    if many:
        _medians(axes, cells.filter(pl.col("cell").is_in(labels["cell"].implode())), column, labels.height)
    axes.set_ylim(0.0, 1.0) if column in UNIT else axes.margins(y=0.15)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _distinct(cells: pl.DataFrame, labels: pl.DataFrame, column: str) -> list[tuple[pl.DataFrame, list[str], str]]:
    """Return the distinct lines, each with its first cell's rows and title, and the names of all cells that share it."""
    groups: dict[bytes, tuple[pl.DataFrame, list[str], str]] = {}
    for row in labels.to_dicts():
        line = cells.filter(pl.col("cell") == row["cell"])
        group = groups.setdefault(line_key(line, column), (line, [], row["title"] or ""))
        group[1].append(row["cell"])
    return list(groups.values())


def line_key(line: pl.DataFrame, column: str) -> bytes:
    """Return a key that is the same for equal lines: the bytes of times, values (to nine digits) and statuses."""
    names = [name for name in ("t", "rep", column, "status") if name in line.columns]
    rounded = line.select(names).with_columns(pl.col(column).round(9))
    return b"".join(rounded[name].to_physical().fill_null(-1).to_numpy().tobytes() for name in names)


def _label(names: Sequence[str], title: str) -> str:
    if len(names) > 1:
        head = [*names[:3], *(["…"] if len(names) > 3 else [])]  # noqa: PLR2004  # more names would crowd the legend
        return "\n".join(textwrap.wrap(f"{', '.join(head)} ({len(names)} equal lines)", WRAP))
    short = textwrap.shorten(title, 2 * WRAP, placeholder="…")
    return "\n".join([names[0], *textwrap.wrap(f'"{short}"', WRAP)])


def _medians(axes: Axes, cells: pl.DataFrame, column: str, count: int) -> None:
    """Draw the median over many active cells or, if the truth is known, separate medians over true and over false cells."""
    groups = [(pl.lit(value=True), COLOURS[0], "-", f"median of {count} cells")]
    if "truth" in cells.columns and cells["truth"].null_count() < cells.height:
        groups = [
            (pl.col("truth"), COLOURS[0], "-", "median of the true claims"),
            (~pl.col("truth"), COLOURS[5], DASHES[1], "median of the false claims"),
        ]
        axes.plot([], [], color=GREY, linewidth=0.6, label=f"one of {count} claims, while active")
    times = cells.select(pl.col("t").unique().sort())
    for group, colour, dash, label in groups:
        # the left join fills in ticks without a value, so that the line has gaps there
        middle = times.join(middle_of(cells.filter(group), column), on="t", how="left", maintain_order="left")
        look: dict[str, Any] = {"color": colour, "linestyle": dash, "linewidth": 2, "drawstyle": "steps-post"}
        axes.plot(middle["t"], middle["middle"], label=label, **look)


def middle_of(line: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return t, middle, low and high: the median and 90 % band over replications, at each tick with an active cell."""
    live = line.filter(pl.col("status") == "active") if "status" in line.columns else line
    values = pl.col(column)
    return live.group_by("t", maintain_order=True).agg(
        middle=values.median(), low=values.quantile(0.05), high=values.quantile(0.95)
    )


def _marks(axes: Axes, events: pl.DataFrame, legend_kinds: set[str]) -> None:
    across = axes.get_xaxis_transform()
    for kind, (marker, name) in MARKS.items():
        times = events.filter(pl.col("kind") == kind)["t"].unique()
        if times.len():
            label, top = None if kind in legend_kinds else name, [1.04] * times.len()
            axes.plot(times, top, marker, color=GREY, markersize=5, clip_on=False, label=label, transform=across)
            legend_kinds.add(kind)
    if events.height:
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
