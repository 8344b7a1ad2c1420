"""What the gate kept out of a run, or let in at a lower confidence: told at its end, with the reasons."""

from __future__ import annotations

import polars as pl

__all__ = ["refusals", "refused", "told_of_claims"]

MOST_REASONS = 5
CAPPED = r"confidence capped from \S+ to ([\d.]+)"


def refusals(events: pl.DataFrame) -> pl.DataFrame:
    """Why claims were refused, the most frequent first: reason, claims, and the first of them (`cause`, `t` in days)."""
    reason = pl.col("detail").str.replace_all(r"\[\d+\]", "").alias("reason")
    found = events.filter(pl.col("kind") == "rejected").group_by(reason, maintain_order=True)
    told = found.agg(pl.len().alias("claims"), pl.col("cause").first(), pl.col("t").first())
    return told.sort("claims", descending=True, maintain_order=True)


def refused(events: pl.DataFrame, bands: pl.DataFrame, replications: int) -> int:
    """How many claims the gate refused, over all replications; from the bands where no event was kept."""
    return _count(events, bands, replications, "rejected")


def told_of_claims(events: pl.DataFrame, bands: pl.DataFrame, replications: int) -> list[str]:
    """A line on what was refused with one a reason, and one on what the confidence cap lowered; none where neither was."""
    lines = list[str]()
    if count := refused(events, bands, replications):
        lines.append(f"  {count:,} {_claims(count)} refused by the gate:")
        reasons = refusals(events)
        for row in reasons.head(MOST_REASONS).to_dicts():
            lines.append(f"    {row['claims']:,} × {row['reason']} (the first: {row['cause']}, day {row['t']:g})")
        if reasons.height > MOST_REASONS:
            lines.append(f"    … and {reasons.height - MOST_REASONS} more reasons, in run.events")
        if reasons.is_empty():
            lines.append('    why is recorded where events are: run one of the replications alone, or record = "all"')
    capped = events.filter(pl.col("kind") == "attenuated")["detail"].str.extract(CAPPED).drop_nulls()
    if capped.len():
        of = sum(_count(events, bands, replications, kind) for kind in ("admitted", "deduplicated", "rejected"))
        lines.append(
            f'  {capped.len():,} of {of:,} claims capped at {capped[0]}: unverified; verification = "checked", a source or'
            " an edge of evidence lifts it"
        )
    return lines


def _count(events: pl.DataFrame, bands: pl.DataFrame, replications: int, kind: str) -> int:
    if events.height:
        return events.filter(pl.col("kind") == kind).height
    counted = bands.filter((pl.col("signal") == "events") & (pl.col("row") == kind))
    return round(float(counted["mean"].sum()) * replications)


def _claims(count: int) -> str:
    return "claim was" if count == 1 else "claims were"
