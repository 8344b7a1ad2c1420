"""A scorecard in words: what a terminal shows, and the lines of the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.scorecard import Scorecard

__all__ = ["between", "compared", "figure", "said"]


def figure(row: dict[str, object]) -> str:
    """A figure with its interval: `12 [8, 19] ticks`; an open end is ∞, an unknown figure –.

    >>> figure({"value": None, "low": 12.5, "high": math.inf, "unit": "ticks", "count": 0})
    '– [12.5, ∞] ticks'
    """
    if row["low"] is None:
        return "nothing to count"
    low, high = _number(row["low"]), _number(row["high"])
    return f"{'–' if row['value'] is None else _number(row['value'])} [{low}, {high}] {row['unit']}"


def _number(value: object) -> str:
    return "∞" if isinstance(value, float) and math.isinf(value) else f"{value:.3g}"


def said(made: Scorecard) -> str:
    """The whole scorecard as text."""
    return "\n".join(_lines(made))


def compared(scores: pl.DataFrame) -> str:
    """Tripwires side by side as text, a column each."""
    return "\n".join(_scores(scores))


def _lines(made: Scorecard) -> Iterator[str]:
    scenario = made.scenario
    lives = f"{scenario.replications} replications of {scenario.days:g} days"
    yield f"{made.name} in {scenario.name}: alarm {made.alarm}, {lives}"
    yield f"  silence    {made.receipt}".replace("\n", "\n             ")
    yield from _list("wiring", [str(finding) for finding in made.findings], "nothing to say")
    if made.untold:
        yield f"  states     {made.untold}"
    if made.card is not None:
        yield "  truth table (* decides)"
        yield from (f"    {line}" for line in str(made.card).split("\n"))
    yield from (f"  {line}" for line in _scores(made.scores))
    if made.covered is not None:
        lacking = made.coverage.filter(~pl.col("shown"))
        lines = [f"line {row['line']}: {row['kind']} {row['name']} wants {row['wants']}" for row in lacking.to_dicts()]
        yield from _list("coverage", lines, "complete", head=f"{made.covered:.0%} shown")
    if made.mutation_score is not None:
        head = f"{made.mutation_score:.0%} noticed; surviving:"
        yield from _list("mutants", made.survivors, "none", head=head)
        crashed = made.mutants.filter(pl.col("verdict") == "crashed").to_dicts()
        lines = [f"line {row['line']}: {row['what']}: {row['by']}" for row in crashed]
        yield from _list("", lines, "", head="crashed, not counted:")
    for alarm, rows in made.faults.group_by("alarm", maintain_order=True):
        lines = [f"{row['fault']:<17} {row['verdict']}{_fault(row)}" for row in rows.to_dicts()]
        yield from _list("faults", lines, "", head=f"in the loop, {alarm[0]}:")


def _fault(row: dict[str, Any]) -> str:
    match row["verdict"]:
        case "blinded":
            return f": lost {row['lost']} of {row['detected']} episodes, [{row['low']:.0%}, {row['high']:.0%}]"
        case "late":
            return f" by {between(row, 'later')} ticks"
        case "cries wolf":
            return f": {between(row, 'false')} false alarms more a replication"
        case "error":
            return f": {row['what']}"
        case _:
            return ""


def between(row: dict[str, Any], name: str) -> str:
    """A paired difference with its interval, where it has one."""
    value = row["later" if name == "later" else "false_alarms"]
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "–" if value is None else f"{value:.2g}" if low is None else f"{value:.2g} [{low:.2g}, {high:.2g}]"


def _list(name: str, lines: list[str], none: str, *, head: str = "") -> Iterator[str]:
    if not lines and not none:
        return
    first = " ".join(part for part in (head, "" if lines else none) if part) or lines[0]
    yield f"  {name:<10} {first}"
    yield from (f"             {line}" for line in (lines if head else lines[1:]))


def _scores(scores: pl.DataFrame) -> Iterator[str]:
    names = scores["tripwire"].unique(maintain_order=True).to_list()
    rows = {(row["tripwire"], row["metric"]): figure(row) for row in scores.to_dicts()}
    metrics = scores["metric"].unique(maintain_order=True).to_list()
    widths = [max(len(name), *(len(rows[name, metric]) for metric in metrics)) for name in names]
    yield "  ".join(["against the episodes".ljust(20), *map(str.ljust, names, widths)]).rstrip()
    for metric in metrics:
        cells = [rows[name, metric].ljust(width) for name, width in zip(names, widths, strict=True)]
        yield "  ".join([metric.ljust(20), *cells]).rstrip()
