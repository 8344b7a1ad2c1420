"""Refused and capped claims of a run, with the reasons, and the final value, period and amplitude of each trajectory."""

from __future__ import annotations

import numpy as np
import polars as pl

from malsim.memory.gate.verdicts import issues_as_text

MOST_REASONS = 5
CAPPED = r"confidence capped from \S+ to ([\d.]+)"


def refusals(events: pl.DataFrame) -> pl.DataFrame:
    """Return one row per reason for refusals, most frequent first: reason, claims, and the first claim's cause and t."""
    reason = pl.col("detail").str.replace_all(r"\[\d+\]", "").alias("reason")
    groups = events.filter(pl.col("kind") == "rejected").group_by(reason, maintain_order=True)
    reasons = groups.agg(pl.len().alias("claims"), pl.col("cause").first(), pl.col("t").first())
    return reasons.sort("claims", descending=True, maintain_order=True)


def refusal_lines(events: pl.DataFrame, bands: pl.DataFrame, replications: int) -> list[str]:
    lines = list[str]()
    if count := event_count(events, bands, replications):
        lines.append(f"  {count:,} {_claims(count)} refused by the gate:")
        reasons = refusals(events)
        days = pl.Series([f"{day:g}" for day in reasons["t"]], dtype=pl.String)
        lines += _reason_lines(reasons.with_columns(first=pl.format("{}, day {}", "cause", days)))
        if reasons.is_empty():
            lines.append('    the reasons are recorded only with events: run one replication alone, or set record = "all"')
    return lines


def cap_lines(events: pl.DataFrame, bands: pl.DataFrame, replications: int) -> list[str]:
    capped = events.filter(pl.col("kind") == "attenuated")["detail"].str.extract(CAPPED).drop_nulls()
    if capped.is_empty():
        return []
    total = sum(event_count(events, bands, replications, kind) for kind in ("admitted", "deduplicated", "rejected"))
    hint = 'verification = "checked", a source or an edge of evidence lifts the cap'
    return [f"  {capped.len():,} of {total:,} claims capped at {capped[0]}: unverified; {hint}"]


def replay_lines(refused: pl.DataFrame) -> list[str]:
    if refused.is_empty():
        return []
    reason = issues_as_text().str.replace_all(r"\[\d+\]", "").alias("reason")
    first = pl.format("claim {} of {}", "sequence", "writer").first().alias("first")
    reasons = refused.group_by(reason, maintain_order=True).agg(pl.len().alias("claims"), first)
    lines = _reason_lines(reasons.sort("claims", descending=True, maintain_order=True))
    return [f"  {refused.height:,} {_claims(refused.height)} refused by the gate:", *lines]


def _reason_lines(reasons: pl.DataFrame) -> list[str]:
    rows = reasons.head(MOST_REASONS).to_dicts()
    lines = [f"    {row['claims']:,} × {row['reason']} (the first: {row['first']})" for row in rows]
    return lines + ([f"    … and {reasons.height - MOST_REASONS} more reasons"] if reasons.height > MOST_REASONS else [])


def event_count(events: pl.DataFrame, bands: pl.DataFrame, replications: int, kind: str = "rejected") -> int:
    if events.height:
        return events.filter(pl.col("kind") == kind).height
    means = bands.filter((pl.col("signal") == "events") & (pl.col("row") == kind))["mean"]
    return round(float(means.sum()) * replications)


def _claims(count: int) -> str:
    return "claim was" if count == 1 else "claims were"


LONGEST_PERIOD = 32
STILL = 1e-6


def endings(cells: pl.DataFrame, *, column: str = "effective") -> pl.DataFrame:
    """Return the final value, period and amplitude of each cell's trajectory in each replication.

    `cells` has t, rep, cell and the column, in order of time. Period 1 means settled, and 0 that no period was seen twice.
    """
    series = cells.group_by("rep", "cell", maintain_order=True).agg(pl.col(column))
    rows = [_ending(np.asarray(values)) for values in series[column].to_list()]
    kinds = {"period": pl.Int64, "amplitude": pl.Float64, "final": pl.Float64}
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return pl.concat([series.select("rep", "cell"), frame.select("final", "period", "amplitude")], how="horizontal")


def _ending(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[int, float, float]:
    for period in range(1, min(LONGEST_PERIOD, len(values) // 2) + 1):
        tail = values[-2 * period :]
        if np.abs(tail[period:] - tail[:period]).max() <= STILL:
            return period, float(np.ptp(tail[period:])), float(values[-1])
    return 0, float(np.ptp(values[-LONGEST_PERIOD:])), float(values[-1])
