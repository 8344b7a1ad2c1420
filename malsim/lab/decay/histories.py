"""The stretches in which the claims about an object agree, and when each ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import DataError, UsageError
from malsim.lab.decay.sightings import ALONE, sightings

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Ints

ENDINGS = ("anyone", "other_writer", "verified", "either", "superseded", "contradicted")
_DROPPED = -1
_OBJECT = ["rep", "object"]


def histories(source: Any, *, ended_by: str = "anyone", until: float | None = None) -> pl.DataFrame:
    """Return a log for `fit_decay`, a row a stretch: a time in which the claims about an object agree.

    A stretch ends with the first later claim about the object that says otherwise; a restatement ends nothing. Columns:
    rep, object, cell (that began it), stability, topics, value (what was said), start (day of its first claim), after (days
    from there to its last claim), before (days to the claim that ended it; null: still true when last seen), entered (its
    age when it came in sight: 0, or null for an object's first, whose age nobody knows), restated (days between its claims),
    until (the day the log was closed), ended_by. The change lay between `after` and `before`. A change that nobody reported
    is invisible.

    Parameters
    ----------
    source
        A run, a replay, a store or its path, or a memory. Runs and stores also show the claims that the gate took for
        restatements; a memory alone does not keep them.
    ended_by
        Whose word ends a stretch. anyone; other_writer: not the writer who began it; verified: a claim whose verification is
        not `unverified`; superseded, contradicted, either: a claim that superseded, or contradicts another writer's,
        earlier one. A claim that says otherwise and may not end the stretch is left out.
    until
        The day on which the log was closed; the last day that the source shows, if None. What came later is not seen.

    Raises
    ------
    UsageError
        An ending that is none, a source without claims, an `until` before them all.
    """
    if ended_by not in ENDINGS:
        raise UsageError("no such ending", where="histories: ended_by", given=ended_by, allowed=", ".join(ENDINGS))
    claims = sightings(source)
    if claims["t"].is_nan().any():
        raise DataError("not a number of days", where="histories: t", given="NaN")
    end = _last_day(source, claims) if until is None else until
    first_day = claims["t"].to_numpy().min()
    if first_day > end:
        hint = f"the first claim came on day {first_day:g}"
        raise UsageError("no claim is as old as that", where="histories: until", given=until, hint=hint)
    claims = claims.filter(pl.col("t") <= end)
    claims = claims.with_columns(pl.Series("stretch", _stretches(claims, ended_by))).filter(pl.col("stretch") != _DROPPED)
    first, t = pl.col("stretch") == 0, pl.col("t")
    log = claims.group_by(*_OBJECT, "stretch", maintain_order=True).agg(
        pl.col("cell").first(), pl.col("stability", "topics").first(), pl.col("said").first().alias("value"),
        start=t.first(), after=t.last() - t.first(), restated=t.diff().drop_nulls(),
    )  # fmt: skip
    return log.select(
        *_OBJECT, "cell", "stability", "topics", "value", "start", "after",
        before=pl.col("start").shift(-1).over(_OBJECT) - pl.col("start"),
        entered=pl.when(first).then(None).otherwise(0.0),
        restated="restated",
        until=pl.lit(float(end)),
        ended_by=pl.lit(ended_by),
    ).with_columns(pl.col("object").str.strip_prefix(ALONE))  # fmt: skip


def restatements(log: pl.DataFrame) -> pl.DataFrame:
    """Return the time until each restatement of a value: rep, object, value, interval (days), a row per restatement."""
    return log.select("rep", "object", "value", interval="restated").explode("interval").drop_nulls("interval")


def _stretches(claims: pl.DataFrame, ended_by: str) -> Ints:
    """Return the number of each claim's stretch within its object, from 0; -1 for claims that are left out.

    The k-th claims of all objects are looked at together, round by round.
    """
    columns = claims.select(
        key=pl.struct("rep", "object").rank("dense").cast(pl.Int64) - 1,
        said=pl.col("said").rank("dense").cast(pl.Int64),
        writer=pl.col("writer").fill_null("").rank("dense").cast(pl.Int64),
        may=_may_end(ended_by),
    )
    key, value, writer = (columns[name].to_numpy() for name in ("key", "said", "writer"))
    may, others = columns["may"].to_numpy(), ended_by == "other_writer"
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    counts = np.diff(begins, append=len(key))
    now, author, stretch = value[begins], writer[begins], np.zeros(len(begins), dtype=np.int64)
    numbers = np.zeros(len(key), dtype=np.int64)
    for turn in range(1, counts.max()):
        here = np.flatnonzero(counts > turn)
        row = begins[here] + turn
        other = value[row] != now[here]
        ends = other & may[row] & ((writer[row] != author[here]) | (not others))
        over = here[ends]
        now[over], author[over] = value[row[ends]], writer[row[ends]]
        stretch[over] += 1
        numbers[row] = np.where(other & ~ends, _DROPPED, stretch[here])
    return numbers


def _may_end(ended_by: str) -> pl.Expr:
    if ended_by == "either":
        return pl.col("superseded") | pl.col("contradicted")
    return pl.col(ended_by) if ended_by in ("verified", "superseded", "contradicted") else pl.lit(value=True)


def _last_day(source: Any, claims: pl.DataFrame) -> float:
    days = [float(claims["t"].to_numpy().max())]
    if memory := getattr(source, "memory", None):
        times = pl.concat([memory.cells["touched"], memory.edges["t"]]).drop_nulls()
        days += [float(day) for day in times.to_list()]
    if scenario := getattr(source, "scenario", None):
        days.append(float(scenario.days))
    return max(days)
