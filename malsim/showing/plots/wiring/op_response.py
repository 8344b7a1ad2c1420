"""Figures of an op's response to a test signal, to a recorded signal, and by frequency."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.style import GREY, dress, headline, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

MOST_LINES = 6
MOST_PANELS = 4
SCALES = ((1 / 24, "minutes", 1440.0), (3.0, "hours", 24.0), (np.inf, "days", 1.0))


def to_signal(answer: pl.DataFrame, units: Mapping[str, str], *, input_unit: str, title: str = "") -> Sheet:
    """Draw an op's response to a test signal, with one panel per unit and lanes for bits.

    Parameters
    ----------
    answer
        t (days), input, and a column per output. Outputs that never change are not drawn, but named below the figure.
    units
        Unit of each output.
    """
    last = float(answer["t"][-1])
    label, factor = next((unit, factor) for longest, unit, factor in SCALES if last < longest)
    time = answer["t"].to_numpy() * factor
    labels = {name: f"time ({label})" if unit == "ms" else unit for name, unit in units.items()}
    answer = answer.with_columns(pl.col(name) * (factor / 8.64e7) for name in answer.columns if units.get(name) == "ms")
    outs = [name for name in answer.columns if name not in ("t", "input")]
    still = [name for name in outs if answer[name].n_unique() < 2]  # noqa: PLR2004  # it never changes
    groups = _panels(answer, [name for name in outs if name not in still], labels, input_unit)
    lanes = [name for name in outs if name not in still and answer[name].dtype == pl.Boolean]
    heights = [2.0] * len(groups) + ([0.5 + 0.25 * len(lanes)] if lanes else [])
    figure = sheet(8.6, 1.1 + sum(heights))
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (unit, names) in zip(panels, groups.items(), strict=False):
        _lines(axes, time, answer, names, unit if unit.startswith("time") else f"value ({unit})")
    if lanes:
        _lanes(panels[-1], time, answer, lanes)
    panels[-1].set_xlabel(f"time ({label})")
    if still:
        note = "\n".join(textwrap.wrap(f"unchanged throughout: {', '.join(still)}", 110))
        figure.supxlabel(note, fontsize=8, color=GREY, x=0.01, ha="left")
    headline(figure, title)
    return figure


def _panels(answer: pl.DataFrame, names: Sequence[str], units: Mapping[str, str], input_unit: str) -> dict[str, list[str]]:
    """Group the outputs by unit, starting with the unit of the input. The number of panels and of lines is limited."""
    groups = {input_unit: ["input"]}
    for name in names:
        if answer[name].dtype != pl.Boolean:
            counts = answer[name].dtype.is_integer() and answer["input"].dtype.is_float()
            groups.setdefault(f"count, {units[name]}" if counts else units[name], []).append(name)
    return {unit: group[:MOST_LINES] for unit, group in list(groups.items())[:MOST_PANELS]}


def _lines(
    axes: Axes, time: np.ndarray, answer: pl.DataFrame, names: Sequence[str], y: str, *, label: str = "input"
) -> None:
    outputs = [name for name in names if name != "input"]
    if "input" in names:
        look: dict[str, Any] = {"color": GREY, "linewidth": 3.5, "alpha": 0.35, "drawstyle": "steps-post"}
        axes.plot(time, answer["input"].cast(pl.Float64), label=label, **look)
    for name, style in zip(outputs, line_styles(len(outputs)), strict=True):
        axes.plot(time, answer[name], label=name, linewidth=1.6, drawstyle="steps-post", **style)
    dress(axes, x="", y=y)
    axes.margins(y=0.12)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)


def _lanes(axes: Axes, time: np.ndarray, answer: pl.DataFrame, lanes: Sequence[str]) -> None:
    for lane, name in enumerate(lanes):
        level = len(lanes) - 1 - lane + 0.7 * answer[name].cast(pl.Float64).to_numpy()
        axes.fill_between(time, len(lanes) - 1 - lane, level, step="post", color="#555555", alpha=0.55, linewidth=0)
        axes.plot(time, level, color="#222222", linewidth=1.0, drawstyle="steps-post")
    dress(axes, x="", y="")
    axes.set_yticks([len(lanes) - 0.65 - lane for lane in range(len(lanes))], lanes, fontsize=8)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(-0.15, len(lanes))


def by_frequency(response: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw a frequency response: `gain` and `phase` (degrees) against `frequency` (cycles per day, log scale)."""
    figure = sheet(8.0, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    style = {**line_styles(1)[0], "linewidth": 1.8}
    decibels = 20 * np.log10(np.maximum(response["gain"].to_numpy(), 1e-15))
    upper.semilogx(response["frequency"], decibels, **style)
    dress(upper, x="", y="gain, out / in (dB)")
    _corner(upper, response["frequency"].to_numpy(), decibels)
    if np.ptp(decibels) < 1:
        upper.set_ylim(decibels[0] - 6, decibels[0] + 6)
    lower.semilogx(response["frequency"], response["phase"], **style)
    dress(lower, x="frequency (cycles per day)", y="phase (degrees)")
    if np.ptp(response["phase"].to_numpy()) < 1:
        lower.set_ylim(-10, 10)
    headline(figure, title)
    return figure


def _corner(axes: Axes, frequency: np.ndarray, decibels: np.ndarray) -> None:
    """Mark the −3 dB frequency of a low-pass filter, relative to the gain at the lowest frequency."""
    below = decibels < decibels[0] - 20 * np.log10(np.sqrt(2))
    level = np.abs(decibels[1] - decibels[0]) < 0.1  # noqa: PLR2004  # an integrator has no constant gain
    if below.any() and level and below[below.argmax() :].all():
        corner = frequency[below.argmax()]
        axes.axvline(corner, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)))
        axes.annotate(f" −3 dB at {corner:.3g} / d", (corner, decibels.min()), fontsize=8, color=GREY, va="bottom")
