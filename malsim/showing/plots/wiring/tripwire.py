"""Figures of a tripwire's scorecard (values and alarm, truth table, run lengths, mutants, faults) and of its design."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator

from malsim.showing.plots.style import COLOURS, GREY, NARROW, dress, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

ALARM, TRUTH, BLIND = COLOURS[5], COLOURS[4], GREY
MARKS = "osD^vP*"
VERDICTS = {
    "holds": (COLOURS[2], "holds"), "late": (COLOURS[1], "late"), "misses": (COLOURS[5], "misses"),
    "false alarms": (COLOURS[3], "false alarms"), "nothing to lose": ("#dddddd", "–"), "error": ("#dddddd", "not run"),
}  # fmt: skip
FATES = {
    "caught": (COLOURS[0], ""), "not caught": (COLOURS[1], "///"), "equal": ("white", ""), "crashed": ("#dddddd", "..."),
}  # fmt: skip


@dataclass(frozen=True)
class CardFrames:
    """Data frames for the figure of a scorecard. If a frame is empty, its panel stays empty.

    `timeline` has t and the shares of replications with `alarm`, `truth` and `blind` true; `watched` signal, t, low, middle,
    high; `levels` the levels of each watched signal; `table` and `columns` see `truth_table`; `scores` tripwire, metric,
    value, low, high; `mutants` kind, verdict; `faults` fault, alarm, verdict, later, lost, detected, false_alarms. `single`
    is true for one replication, which has no intervals.
    """

    timeline: pl.DataFrame
    watched: pl.DataFrame
    levels: Mapping[str, Sequence[float]]
    table: pl.DataFrame
    columns: tuple[Sequence[str], Sequence[str], Sequence[str]]
    scores: pl.DataFrame
    mutants: pl.DataFrame
    faults: pl.DataFrame
    single: bool = False


def scorecard(frames: CardFrames, *, title: str = "") -> Sheet:
    """Draw all parts of a scorecard in one figure."""
    figure = sheet(10.5, 8.6)
    axes: dict[str, Axes] = figure.subplot_mosaic(
        [["time", "time"], ["card", "points"], ["card", "mutants"], ["card", "faults"]],
        height_ratios=[1.5, 1.5, 0.9, 0.9], width_ratios=[1.0, 1.25],
    )  # fmt: skip
    for name, draw in _drawings(frames).items():
        draw(axes[name])
    if title:
        figure.suptitle(fill(title, 115), x=0.01, ha="left", fontsize=11)
    return figure


def panels(frames: CardFrames) -> dict[str, Sheet]:
    """Draw each part of a scorecard as a separate figure, sized for a page 480 pixels wide."""
    heights = {"time": 3.0, "card": 1.4 + 0.24 * max(4, frames.table.height), "points": 2.9, "mutants": 2.2, "faults": 2.2}
    figures = {}
    for name, draw in _drawings(frames).items():
        figures[name] = sheet(NARROW, heights[name])
        draw(figures[name].subplots())
    return figures


def _drawings(frames: CardFrames) -> dict[str, Callable[[Axes], None]]:
    return {
        "time": lambda axes: _timeline(axes, frames),
        "card": lambda axes: _table(axes, frames.table, *frames.columns),
        "points": lambda axes: _points(axes, frames.scores, single=frames.single),
        "mutants": lambda axes: _mutants(axes, frames.mutants),
        "faults": lambda axes: _faults(axes, frames.faults),
    }


def truth_table(
    rows: pl.DataFrame, before: Sequence[str], inputs: Sequence[str], outputs: Sequence[str], *, title: str = ""
) -> Sheet:
    """Draw a truth table. Filled circles are true, open circles are false, and orange frames mark deciding inputs.

    `rows` has a column `(NAME)` for each state in `before`, a column per input and output, and a list of inputs,
    `deciding`.
    """
    wide = len(before) + len(inputs) + len(outputs)
    figure = sheet(1.8 + 0.62 * wide, 1.5 + 0.23 * rows.height)
    axes = figure.subplots()
    _table(axes, rows, before, inputs, outputs)
    if title:
        axes.set_title(title, loc="left", fontsize=10, pad=12)
    return figure


def _timeline(axes: Axes, frames: CardFrames) -> None:
    """Draw watched values, and the shares of replications with an alarm or an episode, as steps from tick to tick."""
    timeline, watched = frames.timeline, frames.watched
    dress(axes, x="time (days)", y="watched value", title="Watched values, their levels, and the alarm")
    t = timeline["t"].to_numpy()
    end = t[-1] + (t[-1] - t[-2] if len(t) > 1 else 1.0)
    other = axes.twinx()
    other.set_ylim(0, 1.02)
    other.set_ylabel("alarm (0 or 1)" if frames.single else "share of replications", color=GREY)
    other.spines[["top"]].set_visible(False)
    days = np.append(t, end)
    truth, blind, alarm = (np.append(timeline[name], timeline[name][-1]) for name in ("truth", "blind", "alarm"))
    other.fill_between(days, truth, step="post", color=TRUTH, alpha=0.3, lw=0, label="episode")
    other.fill_between(days, blind, step="post", fc="none", ec=BLIND, hatch="////", lw=0, label="blind: inputs stale")
    other.step(days, alarm, where="post", color=ALARM, lw=2.0, label="alarm on")
    names = watched["signal"].unique(maintain_order=True).to_list()
    for name, style in zip(names, line_styles(len(names)), strict=True):
        band = watched.filter(pl.col("signal") == name)
        if not frames.single:
            axes.fill_between(band["t"], band["low"], band["high"], step="post", color=style["color"], alpha=0.15, lw=0)
        axes.step([*band["t"], end], [*band["middle"], band["middle"][-1]], where="post", lw=1.2, label=name, **style)
        for level in frames.levels.get(name, ()):
            axes.axhline(level, color=style["color"], lw=0.9, ls=(0, (1, 2)))
            axes.annotate(f"level {level:g}", (1, level), xycoords=("axes fraction", "data"), xytext=(-3, 2), ha="right",
                          textcoords="offset points", fontsize=8, color=style["color"])  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_zorder(other.get_zorder() + 1)
    axes.patch.set_visible(False)
    handles = [
        left + right for left, right in zip(axes.get_legend_handles_labels(), other.get_legend_handles_labels(), strict=True)
    ]
    axes.legend(*handles, fontsize=8, ncols=6, loc="upper center", bbox_to_anchor=(0.5, -0.26), frameon=False)


def _table(axes: Axes, rows: pl.DataFrame, before: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> None:
    names = [*(f"({name})" for name in before), *inputs, *outputs]
    axes.set_axis_off()
    if not rows.height:
        axes.text(0.5, 0.5, "no Boolean part", ha="center", color=GREY)
        return
    xs = np.arange(len(names)) + (np.arange(len(names)) >= len(before)) * 0.35
    xs = xs + (np.arange(len(names)) >= len(before) + len(inputs)) * 0.6
    for x, name in zip(xs, names, strict=True):
        column = rows[name].to_numpy()
        decides = np.array([name in deciding for deciding in rows["deciding"].to_list()]) & (name in inputs)
        for y, (value, ring) in enumerate(zip(column, decides, strict=True)):
            if value in (0, 1):
                face = "#333333" if value else "white"
                axes.plot(x, y, "o", ms=6.5, mfc=face, mec="#333333", mew=0.8, zorder=3)
            else:
                axes.text(x, y, "–" if np.isnan(value) else f"{value:g}", ha="center", va="center", fontsize=6)
            if ring:
                axes.plot(x, y, "s", ms=12, mfc="none", mec=COLOURS[1], mew=2.0, zorder=2)
        axes.text(x, -0.9, name, rotation=55, ha="left", va="bottom", fontsize=8)
    gap = xs[len(before) + len(inputs)] - 0.8 if len(outputs) else xs[-1] + 0.5
    axes.plot([gap, gap], [-0.6, rows.height - 0.4], color=GREY, lw=0.8)
    axes.set_xlim(-0.7, xs[-1] + 1.6)
    axes.set_ylim(rows.height - 0.3, -0.9 - 0.22 * max(map(len, names)) * max(1.0, rows.height / 16))
    axes.set_title("Truth table: ● true, ○ false, – either; framed inputs decide", loc="left", fontsize=10)


def _points(axes: Axes, scores: pl.DataFrame, *, single: bool) -> None:
    """Plot ARL1 (ticks to detect) against ARL0 (ticks to a false alarm), with one point per tripwire."""
    title = f"Average run lengths, {'one replication' if single else '95 % intervals'}; right and low is better"
    dress(axes, x="ARL0 (ticks to a false alarm)", y="ARL1 (ticks to detection)", title=title)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    names = scores["tripwire"].unique(maintain_order=True).to_list()
    far = _farthest(scores, "arl0")
    for index, name in enumerate(names):
        figures = {row["metric"]: row for row in scores.filter(pl.col("tripwire") == name).to_dicts()}
        x, y = (
            _range(figures[metric], far if metric == "arl0" else _farthest(scores, "arl1")) for metric in ("arl0", "arl1")
        )
        if x is None or y is None:
            axes.plot([], [], MARKS[index], color=COLOURS[index], label=f"{name}: unknown")
            continue
        style: dict[str, Any] = {"color": COLOURS[index], "lw": 1.1, "alpha": 0.85}
        if not single:
            axes.plot([x[1], x[2]], [y[0], y[0]], **style)
            axes.plot([x[0], x[0]], [y[1], y[2]], **style)
        unbounded = figures["arl0"]["value"] is None
        label = f"{name}{': no false alarm seen' if unbounded else ''}"
        axes.plot(x[0], y[0], MARKS[index], color=COLOURS[index], mfc="white" if unbounded else COLOURS[index], label=label)
    axes.set_ylim(0, None)
    axes.legend(fontsize=8, frameon=False, loc="best")


def _farthest(scores: pl.DataFrame, metric: str) -> float:
    rows = scores.filter(pl.col("metric") == metric)
    values = [
        value for name in ("value", "low", "high") for value in rows[name].drop_nulls().to_list() if np.isfinite(value)
    ]
    return 2.0 * max(values, default=10.0)


def _range(row: dict[str, Any], far: float) -> tuple[float, float, float] | None:
    if row["low"] is None:
        return None
    high = far if row["high"] is None or not np.isfinite(row["high"]) else row["high"]
    value = row["value"] if row["value"] is not None else far
    return value, max(row["low"], 0.1), high


def _mutants(axes: Axes, mutants: pl.DataFrame) -> None:
    ran = mutants.filter(pl.col("verdict").is_in(["caught", "not caught"])).height
    score = f": {mutants.filter(pl.col('verdict') == 'caught').height} of {ran} caught" if ran else ": not run"
    dress(axes, x="mutants", y="", title=f"Mutants{score}")
    kinds = mutants["kind"].unique(maintain_order=True).to_list()
    left = np.zeros(len(kinds))
    for verdict, (colour, hatch) in FATES.items():
        counts = [mutants.filter(pl.col("kind") == kind, pl.col("verdict") == verdict).height for kind in kinds]
        if sum(counts):
            axes.barh(kinds, counts, left=left, color=colour, hatch=hatch, ec="white", height=0.66, label=verdict)
            left += counts
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if ran:
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _faults(axes: Axes, faults: pl.DataFrame) -> None:
    axes.set_title("Faults in the loop" if faults.height else "Faults in the loop: not run", loc="left", fontsize=10)
    axes.set_axis_off()
    alarms = faults["alarm"].unique(maintain_order=True).to_list()
    names = faults["fault"].unique(maintain_order=True).to_list()
    for row in faults.to_dicts():
        x, y = names.index(row["fault"]), alarms.index(row["alarm"])
        colour, word = VERDICTS[row["verdict"]]
        axes.add_patch(Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, fc=colour, ec="white"))
        dark = row["verdict"] in ("late", "error", "nothing to lose")
        detail = {"late": f" {row['later'] or 0:.2g}", "misses": f"\n{row['lost']} of {row['detected']}",
                  "false alarms": f"\n+{row['false_alarms'] or 0:.2g}"}.get(row["verdict"], "")  # fmt: skip
        axes.text(x, y, word + detail, ha="center", va="center", fontsize=8, color="black" if dark else "white")
    for x, name in enumerate(names):
        axes.text(x, len(alarms) - 0.42, name.replace(" ", "\n", 1), ha="center", va="top", fontsize=8)
    for y, alarm in enumerate(alarms):
        axes.text(-0.58, y, alarm, ha="right", va="center", fontsize=8)
    axes.set_xlim(-0.6, max(len(names) - 0.4, 1))
    axes.set_ylim(len(alarms) + 0.3, -0.55)


def design(candidates: pl.DataFrame, *, gain: float, hold: int, delay: float, title: str = "") -> Sheet:
    """Plot ARL1 (ticks to detect) against the smoothing gain, per hold time, with the target and the selected design marked.

    Parameters
    ----------
    candidates
        gain, hold, arl1.
    gain, hold
        Selected parameters.
    delay
        Target ARL1, in ticks.
    """
    figure = sheet(7.0, 4.2)
    label = "smoothing gain, share of the gap closed each tick (1 is none)"
    axes = dress(figure.subplots(), x=label, y="ARL1 (ticks to detection)", title=title)
    holds = candidates["hold"].unique(maintain_order=True).to_list()
    for ticks, mark, style in zip(holds, MARKS, line_styles(len(holds)), strict=False):
        line = candidates.filter(pl.col("hold") == ticks).sort("gain")
        name = f"hold {ticks} tick{'s' if ticks > 1 else ''}"
        axes.plot(line["gain"], line["arl1"], marker=mark, ms=5, lw=1.3, label=name, **style)
    axes.axhspan(0, delay, color=COLOURS[2], alpha=0.12, lw=0)
    axes.axhline(delay, color=COLOURS[2], lw=1.0)
    axes.annotate(f"target: at most {delay:g}", (1.0, delay), xytext=(0, -11), textcoords="offset points", ha="right",
                  fontsize=8, color=COLOURS[2])  # fmt: skip
    speed = candidates.filter(pl.col("gain") == gain, pl.col("hold") == hold)["arl1"][0]
    axes.plot(gain, speed, "o", ms=15, mfc="none", mec=COLOURS[5], mew=2)
    axes.annotate(f"selected: {speed:.2g}", (gain, speed), xytext=(12, 12), textcoords="offset points", fontsize=8,
                  color=COLOURS[5])  # fmt: skip
    axes.set_ylim(0, None)
    axes.legend(fontsize=8, frameon=False)
    return figure
