"""People's time: what a review avoids under each policy, and the load on them against the reader's autonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.showing.plots.style import dress, intervals, mark, sheet

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet


def review_load(frame: pl.DataFrame, *, avoided: str, load: str, autonomy: str) -> Sheet:
    """Draw the rows of a triage table: a row a scenario, its last budget on the left and in the middle.

    In the middle is the paired difference from the first policy: it may be sure where the intervals on the left overlap. On
    the right a line a policy over the budgets: reviews per 100 actions against the share of turns that ended in a right
    action; empty where there is no reader.
    """
    names = frame["scenario"].unique(maintain_order=True).to_list()
    policies = frame["policy"].unique(maintain_order=True).to_list()
    figure = sheet(13.0, 0.9 + 2.9 * len(names))
    panels = np.atleast_2d(figure.subplots(len(names), 3, width_ratios=[1, 1, 1.3]))
    for (left, middle, right), name in zip(panels, names, strict=True):
        own = frame.filter(scenario=name)
        last = own.filter(metric=avoided, weekly=own["weekly"][-1])
        _bars(left, last.select("value", "low", "high"), policies)
        dress(left, x=f"{avoided} (95 %)", y="", title=name)
        _bars(middle, last.select("difference", "difference_low", "difference_high"), policies)
        middle.axvline(0.0, color="0.4", linewidth=1, linestyle="--")
        dress(middle, x=f"the same less that of {policies[0]}, paired (95 %)", y="", title=f"against {policies[0]}")
        for number, policy in enumerate(policies):
            line = own.filter(policy=policy)
            x, y = (line.filter(metric=metric)["value"] for metric in (load, autonomy))
            right.plot(x, y, markersize=5, linewidth=1, label=policy, **mark(number))
        dress(right, x=load, y="right actions per turn (1)", title="load on people against autonomy")
    panels[0, 2].legend(frameon=False, fontsize=8, ncols=2)
    return figure


def _bars(axes: Axes, rows: pl.DataFrame, policies: list[str]) -> None:
    places = np.arange(len(policies))[::-1]
    for number, place in enumerate(places):
        intervals(axes, rows[number], [place], number)
    axes.set_yticks(places, policies, fontsize=9)
    axes.set_ylim(-0.6, len(policies) - 0.4)
