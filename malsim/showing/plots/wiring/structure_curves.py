"""Proposed tripwires drawn: how fast each structure is once its level gives the run length asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.showing.plots.style import COLOURS, dress, line_styles, sheet

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet

MARKS = "osD^v"


def design(candidates: pl.DataFrame, *, gain: float, hold: int, delay: float, title: str = "") -> Sheet:
    """Draw ARL1 over the smoothing, a line a hold, with the target and the structure taken.

    Parameters
    ----------
    candidates
        gain, hold, arl1.
    gain, hold
        Of the structure taken.
    delay
        The target ARL1, in ticks.
    """
    figure = sheet(7.0, 4.2)
    label = "smoothing gain, share of the gap closed each tick (1 is none)"
    axes = dress(figure.subplots(), x=label, y="ARL1, ticks to detect", title=title)
    holds = candidates["hold"].unique(maintain_order=True).to_list()
    for item, mark, style in zip(holds, MARKS, line_styles(len(holds)), strict=False):
        line = candidates.filter(pl.col("hold") == item).sort("gain")
        name = f"held {item} tick{'s' if item > 1 else ''}"
        axes.plot(line["gain"], line["arl1"], marker=mark, ms=5, lw=1.3, label=name, **style)
    axes.axhspan(0, delay, color=COLOURS[2], alpha=0.12, lw=0)
    axes.axhline(delay, color=COLOURS[2], lw=1.0)
    axes.annotate(f"asked: at most {delay:g}", (1.0, delay), xytext=(0, -11), textcoords="offset points", ha="right",
                  fontsize=8, color=COLOURS[2])  # fmt: skip
    speed = candidates.filter(pl.col("gain") == gain, pl.col("hold") == hold)["arl1"][0]
    axes.plot(gain, speed, "o", ms=15, mfc="none", mec=COLOURS[5], mew=2)
    axes.annotate(f"taken: {speed:.2g}", (gain, speed), xytext=(12, 12), textcoords="offset points", fontsize=8,
                  color=COLOURS[5])  # fmt: skip
    axes.set_ylim(0, None)
    axes.legend(fontsize=8, frameon=False)
    return figure
