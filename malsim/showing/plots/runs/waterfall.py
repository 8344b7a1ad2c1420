"""Waterfall chart of the terms that make up a sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.showing.plots.style import COLOURS, dress, sheet

if TYPE_CHECKING:
    import polars as pl

    from malsim.showing.plots.style import Sheet

UP, DOWN, TOTAL, LINE = COLOURS[2], COLOURS[5], COLOURS[0], "#444444"
AXIS = "effective confidence (0 to 1)"
MOST_COLUMNS, MOST_ROWS = 6, 16


def waterfall(terms: pl.DataFrame, total: float, *, title: str = "") -> Sheet:
    """Draw terms (term, value) that add up to `total`. Rising and falling bars are hatched in opposite directions.

    More than six terms are drawn as rows. If there are more than sixteen, the smallest are merged into one.
    """
    names, values = terms["term"].to_list(), terms["value"].to_list()
    if len(values) > MOST_ROWS:
        largest = sorted(sorted(range(len(values)), key=lambda row: -abs(values[row]))[: MOST_ROWS - 1])
        rest = sum(value for row, value in enumerate(values) if row not in largest)
        names = [*(names[row] for row in largest), f"{len(values) - len(largest)} more"]
        values = [*(values[row] for row in largest), rest]
    return (_rows if len(values) > MOST_COLUMNS else _columns)(names, values, total, title)


def _columns(names: list[str], values: list[float], total: float, title: str) -> Sheet:
    figure = sheet(6.4, 3.6)
    axes = figure.subplots()
    level, lowest = 0.0, 0.0
    for column, value in enumerate(values):
        axes.bar(column, value, bottom=level, width=0.6, **_look(value))
        level += value
        lowest = min(lowest, level)
        axes.plot([column + 0.3, column + 0.7], [level, level], color=LINE, linewidth=0.8)
        axes.annotate(f"{value:+.3f}", (column, max(level, level - value) + 0.02), ha="center", fontsize=8)
    axes.bar(len(values), total, width=0.6, color=TOTAL)
    axes.annotate(f"{total:.3f}", (len(values), total + 0.02), ha="center", fontsize=8)
    axes.axhline(0.0, color=LINE, linewidth=0.8)
    dress(axes, x="", y=AXIS, title=title)
    axes.set_xticks(range(len(values) + 1), [*names, "effective"], fontsize=8)
    axes.set_ylim(1.12 * lowest, 1.12)
    return figure


def _rows(names: list[str], values: list[float], total: float, title: str) -> Sheet:
    figure = sheet(6.4, 1.2 + 0.24 * (len(values) + 1))
    axes = figure.subplots()
    level, ends = 0.0, [0.0, 1.0]
    for row, value in enumerate(values):
        axes.barh(row, value, left=level, height=0.7, **_look(value))
        level += value
        ends.append(level)
        axes.plot([level, level], [row + 0.35, row + 0.65], color=LINE, linewidth=0.8)
        axes.annotate(f"{value:+.3f}", (max(level, level - value) + 0.01, row), va="center", fontsize=7)
    axes.barh(len(values), total, height=0.7, color=TOTAL)
    axes.annotate(f"{total:.3f}", (total + 0.01, len(values)), va="center", fontsize=7)
    axes.axvline(0.0, color=LINE, linewidth=0.8)
    dress(axes, x=AXIS, y="", title=title)
    axes.set_yticks(range(len(values) + 1), [*names, "effective"], fontsize=7)
    axes.set_xlim(min(ends) - 0.02, max(ends) + 0.1)
    axes.invert_yaxis()
    return figure


def _look(value: float) -> dict[str, Any]:
    rises = value >= 0
    return {"color": UP if rises else DOWN, "hatch": "//" if rises else "\\\\", "edgecolor": "white"}
