"""Survival of claims: observed, by each fitted law, and the intervals of the constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import GREY, NARROW, dress, headline, line_styles, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet


def decay(curves: pl.DataFrame, labels: dict[str, str], at_risk: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw the share of claims still true over their age, as observed and by each law; below, how many were in sight.

    Parameters
    ----------
    curves
        law ("observed" among them), t (days), survival (0 to 1), low, high (null but where observed).
    labels
        Text next to the name of each law.
    at_risk
        t (days), standing: how many claims were neither over nor out of sight at that age.
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
    upper.legend(frameon=False, fontsize=8, loc="lower left" if step["survival"][-1] > 0.5 else "upper right")  # noqa: PLR2004  # half way up
    _in_sight(lower, at_risk)
    return figure


def currency_band(lines: pl.DataFrame, labels: dict[str, str], *, title: str = "") -> Sheet:
    """Draw currency over a claim's age: under the fitted constant with its interval as a band, and under the rules' own.

    Parameters
    ----------
    lines
        age (days); fitted, low, high and shipped: currency (0 to 1).
    labels
        Of the lines fitted and shipped.
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


def _in_sight(axes: Axes, at_risk: pl.DataFrame) -> None:
    axes.fill_between(at_risk["t"], at_risk["standing"], step="post", color=GREY, alpha=0.5, linewidth=0)
    axes.set_ylim(0, None)
    axes.set_title("in sight", loc="right", fontsize=8)
    dress(axes, x="age of the claim (days)", y="claims")
