"""Figures of replications: intervals that narrow, and two scenarios compared in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.showing.plots.style import COLOURS, GREY, dress, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from malsim.showing.plots.style import Sheet


def narrowing(rounds: pl.DataFrame, *, labels: Mapping[str, str], title: str = "") -> Sheet:
    """Draw each metric's interval at every look (replications, metric, value, low, high, asked), a panel a metric.

    `labels` maps each metric to the label of its axis, with the unit.
    """
    groups = rounds.partition_by("metric", maintain_order=True)
    figure = sheet(7.6, 0.9 + 2.3 * len(groups))
    panels = figure.subplots(len(groups), squeeze=False, sharex=True)[:, 0]
    for axes, group, look in zip(panels, groups, line_styles(len(groups)), strict=True):
        count, value = group["replications"].to_numpy(), group["value"].to_numpy()
        last, precision = float(value[-1]), float(group["asked"][0])
        axes.fill_between(
            count, last - precision, last + precision, color="#dddddd", label="last mean ± requested half-width"
        )
        below, above = value - group["low"].to_numpy(), group["high"].to_numpy() - value
        axes.errorbar(
            count, value, [below, above], fmt="o", capsize=4, color=look["color"], label="mean with its 95 % interval"
        )
        axes.set_xscale("log")
        axes.set_xticks(count, [str(number) for number in count])
        axes.minorticks_off()
        dress(axes, x="", y=labels[group["metric"][0]])
    panels[-1].set_xlabel("replications (log scale)")
    panels[-1].legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    panels[0].set_title(title, loc="left", fontsize=10)
    return figure


def paired(replications: pl.DataFrame, intervals: pl.DataFrame, *, label: str, title: str = "") -> Sheet:
    """Draw two scenarios replication by replication (rep, a, b, difference), and their difference paired and unpaired.

    `intervals` has what, value, low, high; `label` says what is measured, with its unit.
    """
    figure = sheet(9.2, 4.3)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    pairs = replications.drop_nulls()
    a, b = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    ends = float(min(a.min(), b.min())), float(max(a.max(), b.max()))
    left.plot(ends, ends, color=GREY, linewidth=1, linestyle="--", label="no difference")
    left.plot(a, b, "o", color=COLOURS[0], markersize=4, alpha=0.7, label="one replication")
    left.legend(frameon=False, fontsize=8, loc="upper left")
    left.set_aspect("equal", adjustable="datalim")
    dress(left, x=f"a: {label}", y=f"b: {label}", title=title)
    rows = intervals.filter(intervals["what"].str.starts_with("b − a"))
    value, low, high = (rows[name].to_numpy() for name in ("value", "low", "high"))
    rows_at = np.arange(rows.height)[::-1]
    for n, (mark, colour) in enumerate((("o", COLOURS[0]), ("s", COLOURS[1]))):
        reach = [[value[n] - low[n]], [high[n] - value[n]]]
        right.errorbar([value[n]], [rows_at[n]], xerr=reach, fmt=mark, capsize=5, color=colour)
    right.axvline(0.0, color=GREY, linewidth=1, linestyle="--")
    right.set_yticks(rows_at, ["paired: the same\nrandom numbers", "unpaired: as many\nruns each of its own"])
    right.set_ylim(-0.6, rows.height - 0.4)
    dress(right, x=f"b − a, mean with its 95 % interval: {label}", y="")
    return figure
