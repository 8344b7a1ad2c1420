"""Scorecard of a tripwire as text for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALIKE = {"holds": "holds under", "nothing to lose": "not compared, since no episode is detected without the fault:"}


def figure(row: dict[str, object], *, single: bool = False) -> str:
    """Format a measure with its interval, `12 [8, 19] ticks`, or without interval for a single replication.

    >>> row = {"value": None, "low": 12.5, "high": math.inf, "unit": "ticks", "count": 0}
    >>> figure(row), figure(row, single=True)
    ('not seen [12.5, ∞] ticks', 'not seen')
    """
    if row["low"] is None:
        return "nothing to count"
    value = "not seen" if row["value"] is None else _number(row["value"])
    if single:
        unit = {"share": "", "ticks": " tick" if row["value"] == 1 else " ticks"}.get(str(row["unit"]), f" {row['unit']}")
        return value if row["value"] is None else value + unit
    return f"{value} [{_number(row['low'])}, {_number(row['high'])}] {row['unit']}"


def _number(value: object) -> str:
    return "∞" if isinstance(value, float) and math.isinf(value) else f"{value:.3g}"


def coverage_lines(coverage: pl.DataFrame, share: float) -> Iterator[str]:
    """Yield the share of exercised pins, and the stimulus that each other pin needs."""
    lacking = coverage.filter(~pl.col("shown"))
    lines = [f"line {row['line']}: {row['kind']} {row['name']} needs {row['wants']}" for row in lacking.to_dicts()]
    return entry("coverage", lines, "complete", head=f"{share:.0%} shown")


def mutant_lines(mutants: pl.DataFrame, uncaught: Sequence[str], score: float) -> Iterator[str]:
    """Yield the share of caught mutants, and the uncaught, equal and crashed mutants."""
    yield from entry("mutants", uncaught, "none", head=f"{score:.0%} caught by a check or a proof; not caught:")
    for verdict in ("equal", "crashed"):
        rows = mutants.filter(pl.col("verdict") == verdict).to_dicts()
        lines = [f"line {row['line']}: {row['what']}: {row['by']}" for row in rows]
        yield from entry("", lines, "", head=f"{verdict}, not counted:")


def fault_lines(faults: pl.DataFrame) -> Iterator[str]:
    """Yield the effect of each fault in the loop on each alarm."""
    for alarm, rows in faults.group_by("alarm", maintain_order=True):
        lines = [f"{row['fault']}: {fault_effect(row)}" for row in rows.to_dicts() if row["verdict"] not in ALIKE]
        lines += [
            f"{words} {', '.join(names)}"
            for verdict, words in ALIKE.items()
            if (names := rows.filter(verdict=verdict)["fault"].to_list())
        ]
        yield from entry("faults", lines, "", head=f"in the loop, {alarm[0]}:")


def fault_effect(row: dict[str, Any]) -> str:
    """Return the effect of a fault on an alarm in a few words."""
    match row["verdict"]:
        case "misses":
            return f"misses {row['lost']} of {row['detected']} episodes that are detected without the fault"
        case "late":
            return f"late by {between(row, 'later')} tick{'s' if row['later'] != 1 else ''}"
        case "false alarms":
            return f"{between(row, 'false')} more false alarms per replication"
        case "error":
            return f"could not be run: {row['what']}"
        case _:
            return str(row["verdict"])


def between(row: dict[str, Any], name: str) -> str:
    """Format a paired difference with its interval, if there is one."""
    value = row["later" if name == "later" else "false_alarms"]
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "none" if value is None else f"{value:.2g}" if low is None else f"{value:.2g} [{low:.2g}, {high:.2g}]"


def entry(name: str, lines: Sequence[str], none: str, *, head: str = "") -> Iterator[str]:
    """Yield a named part with its head and lines, or `none` if there are no lines."""
    if not lines and not none:
        return
    first = " ".join(part for part in (head, "" if lines else none) if part) or lines[0]
    yield f"  {name:<10} {first}"
    yield from (f"             {line}" for line in (lines if head else lines[1:]))


def score_lines(scores: pl.DataFrame, *, single: bool = False) -> Iterator[str]:
    """Yield a table with a row per measure and a column per tripwire."""
    names = scores["tripwire"].unique(maintain_order=True).to_list()
    rows = {(row["tripwire"], row["metric"]): figure(row, single=single) for row in scores.to_dicts()}
    metrics = scores["metric"].unique(maintain_order=True).to_list()
    widths = [max(len(name), *(len(rows[name, metric]) for metric in metrics)) for name in names]
    yield "  ".join(["against the episodes".ljust(20), *map(str.ljust, names, widths)]).rstrip()
    for metric in metrics:
        cells = [rows[name, metric].ljust(width) for name, width in zip(names, widths, strict=True)]
        yield "  ".join([metric.ljust(20), *cells]).rstrip()
