"""A loop's frequency response: Nyquist's curve and Bode's diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.showing.plots.style import COLOURS, dress, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from malsim.showing.plots.style import Sheet


def nyquist(responses: Mapping[str, pl.DataFrame], *, gain: float | None, phase: float | None, title: str = "") -> Sheet:
    """Plot the open loop of each mode in the complex plane, its mirror image dashed; encircling −1 means oscillation."""
    figure = sheet(6.0, 6.0)
    axes = figure.add_subplot()
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), color="0.7", linewidth=1.0, label="|L| = 1")
    for colour, (mode, response) in zip(COLOURS, responses.items(), strict=False):
        real, imaginary = response["real"].to_numpy(), response["imaginary"].to_numpy()
        axes.plot(real, imaginary, color=colour, label=f"L of {mode}, 0 < ω ≤ π")
        axes.plot(real, -imaginary, color=colour, linestyle="--", label="−π ≤ ω < 0")
    axes.plot([-1.0], [0.0], marker="+", markersize=14, markeredgewidth=2.5, color="black", linestyle="none", label="−1")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(loc="best", fontsize="small")
    dress(axes, x="Re L (1)", y="Im L (1)", title=_with_margins(title, gain, phase))
    return figure


def bode(responses: Mapping[str, pl.DataFrame], *, gain: float | None, phase: float | None, title: str = "") -> Sheet:
    """Magnitude and phase of the open loop of each mode over frequency, with the lines that the margins are read off at."""
    figure = sheet(8.0, 6.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axes, column, line, label in ((upper, "decibels", 0.0, "|L| (dB)"), (lower, "degrees", -180.0, "arg L (degrees)")):
        for colour, (mode, response) in zip(COLOURS, responses.items(), strict=False):
            values = response[column].to_numpy()
            if column == "degrees":
                values = values - 360.0 * np.round((values[-1] + 180.0) / 360.0)
            axes.semilogx(response["omega"].to_numpy(), values, color=colour, label=f"L of {mode}")
        axes.axhline(line, color="0.5", linestyle="--", linewidth=1.0)
        first = axes is upper
        dress(
            axes, x="" if first else "ω (radians a tick)", y=label, title=_with_margins(title, gain, phase) if first else ""
        )
    upper.legend(loc="best", fontsize="small")
    return figure


def _with_margins(title: str, gain: float | None, phase: float | None) -> str:
    words = [
        "no gain margin: nothing bounds it" if gain is None else f"gain margin {gain:.3g}",
        "no phase margin: |L| crosses 1 nowhere" if phase is None else f"phase margin {phase:.3g}°",
    ]
    return f"{title}\n{', '.join(words)}".strip()
