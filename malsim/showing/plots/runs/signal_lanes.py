"""Figure of signals over time: numbers as steps from tick to tick, bits as lanes, and events as marks."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.style import GREY, dress, event_lanes, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

DOTS_UP_TO = 120
LANE = 0.7
UNITS = dict.fromkeys(("eff", "conf", "curr", "sal"), "0 to 1") | dict.fromkeys(("support_mass", "challenge_mass"), "mass")


def signal_lanes(
    samples: pl.DataFrame,
    channels: pl.DataFrame,
    events: pl.DataFrame,
    *,
    title: str = "",
    unit: str = "days",
    until: float | None = None,
) -> Sheet:
    """Draw signals over time: numbers as steps with a dot for every sample, bits and events as lanes.

    `samples` has t (in `unit`), channel, value. `channels` has channel, address, digital; an optional column `panel`
    separates values of different magnitude. `events` has t, kind. The last sample lasts until `until`.
    """
    values, bits = (channels.filter(pl.col("digital") == bit) for bit in (False, True))
    parts = values.partition_by("panel", maintain_order=True) if "panel" in values.columns else [values]
    analog, digital = [part.to_dicts() for part in parts if part.height], bits.to_dicts()
    kinds = events["kind"].unique(maintain_order=True).to_list()
    heights = (
        [3.2 if len(analog) == 1 else 2.2] * len(analog)
        + [0.5 + 0.32 * len(digital)] * bool(digital)
        + [0.45 + 0.2 * len(kinds)] * bool(kinds)
    )
    figure = sheet(9.0, 1.0 + sum(heights))
    panels: list[Axes] = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
    rest = iter(panels)
    end = float(samples["t"].max()) if until is None else until  # type: ignore[arg-type]  # polars does not know the type of a column's maximum
    looks = dict(zip(channels["channel"], line_styles(channels.height), strict=True))
    for group in analog:
        _analog(next(rest), samples, group, looks, until)
    if digital:
        _lanes(next(rest), samples, digital, looks, end)
    if kinds:
        event_lanes(next(rest), events, kinds, color=GREY, markersize=8, markeredgewidth=1.4)
    panels[-1].set_xlabel(f"time ({unit})")
    figure.suptitle("\n".join(textwrap.wrap(title, 125)), fontsize=9, x=0.01, ha="left")
    return figure


def stairs(t: Sequence[float], values: Sequence[float | None], *, until: float) -> tuple[list[float], list[float | None]]:
    """Return the corners of a step line that holds each value until the next sample, and the last value until `until`.

    >>> stairs([0.0, 1.0], [5.0, 7.0], until=2.0)
    ([0.0, 1.0, 1.0, 2.0], [5.0, 5.0, 7.0, 7.0])
    """
    x = [day for pair in zip(t, [*t[1:], max(until, t[-1])], strict=True) for day in pair]
    return x, [value for value in values for _ in range(2)]


def _analog(
    axes: Axes, samples: pl.DataFrame, channels: list[dict[str, Any]], looks: dict[str, Any], until: float | None
) -> None:
    for channel in channels:
        line = samples.filter(pl.col("channel") == channel["channel"])
        values = line["value"].to_list()
        look = looks[channel["channel"]]
        if values:
            x, y = stairs(line["t"].to_list(), values, until=until or line["t"][-1])
            axes.plot(x, np.array(y, dtype=float), linewidth=1.5, label=channel["channel"], **look)
        if len(values) <= DOTS_UP_TO:
            axes.plot(line["t"], values, ".", color=look["color"], markersize=4)
    units = {UNITS.get(str(channel["address"]).rpartition("-")[2], "") for channel in channels}
    unit = f" ({units.pop()})" if len(units) == 1 and units != {""} else ""
    dress(axes, x="", y=f"value{unit}")
    axes.margins(y=0.12)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.03, 0.5), frameon=False)


def _lanes(axes: Axes, samples: pl.DataFrame, channels: list[dict[str, Any]], looks: dict[str, Any], until: float) -> None:
    """Draw one lane per bit, with the first at the top. A high line means true."""
    for lane, channel in enumerate(reversed(channels)):
        line = samples.filter(pl.col("channel") == channel["channel"])
        axes.axhline(lane, color="#cccccc", linewidth=0.6)
        if line.height:
            x, y = stairs(line["t"].to_list(), (LANE * line["value"] + lane).to_list(), until=until)
            colour = looks[channel["channel"]]["color"]
            axes.plot(x, np.array(y, dtype=float), color=colour, linewidth=1.3)
            axes.fill_between(x, lane, np.array(y, dtype=float), color=colour, alpha=0.2, linewidth=0)
    dress(axes, x="", y="")
    axes.grid(visible=False, axis="y")
    names = [channel["channel"] for channel in reversed(channels)]
    axes.set_yticks(np.arange(len(channels)) + LANE / 2, names, fontsize=8)
    axes.set_ylim(-0.2, len(channels))
