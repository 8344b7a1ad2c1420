"""Reliability diagram: share of right answers against stated probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import wilson
from malsim.showing.plots.style import COLOURS, GREY, dress, sheet

if TYPE_CHECKING:
    import polars as pl

    from malsim.showing.plots.style import Sheet

BINS = 15


def reliability(answers: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw, for each of 15 equal bins, the mean probability against the share that was right, with a 95 % Wilson interval.

    `answers` has probability (0 to 1) and right (true or false), one row a question. The lower panel counts the answers of
    each bin.
    """
    probability, right = answers["probability"].to_numpy(), answers["right"].to_numpy()
    bin_of = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(bin_of, minlength=BINS)
    some = count > 0
    mean = np.bincount(bin_of, weights=probability, minlength=BINS)[some] / count[some]
    share = np.bincount(bin_of, weights=right, minlength=BINS)[some] / count[some]
    low, high = wilson(share, count[some])
    figure = sheet(5.6, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    upper.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", label="perfectly calibrated")
    upper.errorbar(
        mean,
        share,
        yerr=[share - low, high - share],
        fmt="o",
        color=COLOURS[0],
        capsize=2,
        label="answers of a bin, 95 % interval",
    )
    upper.legend(frameon=False, fontsize=8, loc="upper left")
    upper.set_ylim(-0.02, 1.02)
    dress(upper, x="", y="share that was right (0 to 1)", title=title)
    lower.bar((np.arange(BINS) + 0.5) / BINS, count, width=0.9 / BINS, color=COLOURS[0])
    dress(lower, x="effective of the answer, read as a probability (0 to 1)", y="answers")
    lower.set_xlim(0, 1)
    return figure
