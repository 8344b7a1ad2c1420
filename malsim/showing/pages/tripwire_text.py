"""A tripwire's scorecard in words, from its frames: what a terminal shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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


def coverage_lines(coverage: pl.DataFrame, share: float) -> Iterator[str]:
    """The share shown, and what each line that lacks something wants."""
    lacking = coverage.filter(~pl.col("shown"))
    lines = [f"line {row['line']}: {row['kind']} {row['name']} wants {row['wants']}" for row in lacking.to_dicts()]
    return entry("coverage", lines, "complete", head=f"{share:.0%} shown")


def mutant_lines(mutants: pl.DataFrame, survivors: Sequence[str], score: float) -> Iterator[str]:
    """The share of mutants noticed, those that survived, and those that are equal or crashed."""
    yield from entry("mutants", survivors, "none", head=f"{score:.0%} noticed; surviving:")
    for verdict in ("equal", "crashed"):
        rows = mutants.filter(pl.col("verdict") == verdict).to_dicts()
        lines = [f"line {row['line']}: {row['what']}: {row['by']}" for row in rows]
        yield from entry("", lines, "", head=f"{verdict}, not counted:")


def fault_lines(faults: pl.DataFrame) -> Iterator[str]:
    """What each fault in the loop does to each alarm."""
    for alarm, rows in faults.group_by("alarm", maintain_order=True):
        lines = [f"{row['fault']:<17} {row['verdict']}{_fault(row)}" for row in rows.to_dicts()]
        yield from entry("faults", lines, "", head=f"in the loop, {alarm[0]}:")


def _fault(row: dict[str, Any]) -> str:
    match row["verdict"]:
        case "blinded":
            return f": lost {row['lost']} of {row['detected']} episodes, [{row['low']:.0%}, {row['high']:.0%}]"
        case "late":
            return f" by {between(row, 'later')} ticks"
        case "false alarms":
            return f": {between(row, 'false')} more a replication"
        case "error":
            return f": {row['what']}"
        case _:
            return ""


def between(row: dict[str, Any], name: str) -> str:
    """A paired difference with its interval, where it has one."""
    value = row["later" if name == "later" else "false_alarms"]
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "–" if value is None else f"{value:.2g}" if low is None else f"{value:.2g} [{low:.2g}, {high:.2g}]"


def entry(name: str, lines: Sequence[str], none: str, *, head: str = "") -> Iterator[str]:
    """A named part: its head, then a line each; `none` where there are no lines."""
    if not lines and not none:
        return
    first = " ".join(part for part in (head, "" if lines else none) if part) or lines[0]
    yield f"  {name:<10} {first}"
    yield from (f"             {line}" for line in (lines if head else lines[1:]))


def score_lines(scores: pl.DataFrame) -> Iterator[str]:
    """A row a figure, a column a tripwire."""
    names = scores["tripwire"].unique(maintain_order=True).to_list()
    rows = {(row["tripwire"], row["metric"]): figure(row) for row in scores.to_dicts()}
    metrics = scores["metric"].unique(maintain_order=True).to_list()
    widths = [max(len(name), *(len(rows[name, metric]) for metric in metrics)) for name in names]
    yield "  ".join(["against the episodes".ljust(20), *map(str.ljust, names, widths)]).rstrip()
    for metric in metrics:
        cells = [rows[name, metric].ljust(width) for name, width in zip(names, widths, strict=True)]
        yield "  ".join([metric.ljust(20), *cells]).rstrip()
