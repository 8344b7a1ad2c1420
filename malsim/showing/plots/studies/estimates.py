"""Figures of estimates: intervals over replications, paired comparisons, and survival of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, NARROW, dress, headline, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.showing.plots.style import Sheet


def narrowing(rounds: pl.DataFrame, *, labels: Mapping[str, str], title: str = "") -> Sheet:
    """Draw how each metric's interval narrows as replications are added, with one panel per metric.

    `rounds` has one row per metric and interim analysis: replications, metric, value, low, high, asked. `labels` maps each
    metric to its axis label, including the unit.
    """
    groups = rounds.partition_by("metric", maintain_order=True)
    figure = sheet(7.6, 0.9 + 2.3 * len(groups))
    panels = figure.subplots(len(groups), squeeze=False, sharex=True)[:, 0]
    for axes, group, look in zip(panels, groups, line_styles(len(groups)), strict=True):
        count, value = group["replications"].to_numpy(), group["value"].to_numpy()
        low, high = (float(value[-1]) + sign * float(group["asked"][0]) for sign in (-1.0, 1.0))
        axes.fill_between(count, low, high, color="#dddddd", label="last mean ± requested half-width")
        reach, label = [value - group["low"].to_numpy(), group["high"].to_numpy() - value], "mean with its 95 % interval"
        axes.errorbar(count, value, reach, fmt="o", capsize=4, color=look["color"], label=label)
        axes.set_xscale("log")
        axes.set_xticks(count, [str(number) for number in count])
        axes.minorticks_off()
        dress(axes, x="", y=labels[group["metric"][0]])
    panels[-1].set_xlabel("replications (log scale)")
    panels[-1].legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    panels[0].set_title(title, loc="left", fontsize=10)
    return figure


def paired(replications: pl.DataFrame, intervals: pl.DataFrame, *, label: str, title: str = "") -> Sheet:
    """Draw two scenarios replication by replication (rep, a, b, difference), with their paired and unpaired differences.

    `intervals` has what, value, low, high; `label` is the metric, with its unit.
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
    right.set_yticks(rows_at, ["paired: common\nrandom numbers", "unpaired: separate\nrandom numbers"])
    right.set_ylim(-0.6, rows.height - 0.4)
    dress(right, x=f"b − a, mean with its 95 % interval: {label}", y="")
    return figure


def decay(curves: pl.DataFrame, labels: dict[str, str], at_risk: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw the share of claims still true against their age, observed and under each law, with the number at risk below.

    `curves` has law ("observed" or a law), t (days), survival (0 to 1), low, high (observed only); `labels` has the legend
    label of each law; `at_risk` has t (days) and standing, the number of claims neither ended nor censored at that age.
    """
    figure = sheet(8.6, 5.2)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[5, 1])
    observed = curves.filter(pl.col("law") == "observed")
    t = np.append(0.0, observed["t"].to_numpy())
    step = {name: np.append(1.0, observed[name].to_numpy()) for name in ("survival", "low", "high")}
    upper.fill_between(t, step["low"], step["high"], step="post", color=GREY, alpha=0.25, linewidth=0, label="95 % interval")
    upper.plot(t, step["survival"], color="black", linewidth=1.2, drawstyle="steps-post", label="observed (Kaplan-Meier)")
    for look, (law, label) in zip(line_styles(len(labels)), labels.items(), strict=True):
        line = curves.filter(pl.col("law") == law)
        upper.plot(line["t"], line["survival"], linewidth=1.8, label=label, **look)
    upper.set_ylim(-0.02, 1.03)
    dress(upper, x="", y="share still true (0 to 1)", title=title)
    upper.legend(frameon=False, fontsize=8, loc="lower left" if step["survival"][-1] > 0.5 else "upper right")  # noqa: PLR2004  # the lower left corner is free
    lower.fill_between(at_risk["t"], at_risk["standing"], step="post", color=GREY, alpha=0.5, linewidth=0)
    lower.set_ylim(0, None)
    lower.set_title("at risk", loc="right", fontsize=8)
    dress(lower, x="age of the claim (days)", y="claims")
    return figure


def currency_band(lines: pl.DataFrame, labels: dict[str, str], *, title: str = "") -> Sheet:
    """Draw currency against a claim's age, under the fitted time constant (its interval as a band) and under the rules.

    `lines` has age (days) and four columns of currency (0 to 1): fitted, low, high and shipped. `labels` has the legend
    labels of fitted and shipped.
    """
    figure = sheet(NARROW, 3.6)
    axes = figure.subplots()
    for look, (name, label) in zip(line_styles(len(labels)), labels.items(), strict=True):
        axes.plot(lines["age"], lines[name], linewidth=1.8, label=label, **look)
    axes.fill_between(lines["age"], lines["low"], lines["high"], color=line_styles(1)[0]["color"], alpha=0.2, linewidth=0)
    axes.set_ylim(0.0, 1.0)
    dress(axes, x="age of the claim (days)", y="currency (0 to 1)")
    axes.legend(frameon=False, fontsize=9)
    headline(figure, title)
    return figure
