"""Readers for claim files and truth files, which report the line number of every bad row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from malsim.base.errors import DataError
from malsim.base.files.table_files import kind_of, read_table

DEFAULT_CONFIDENCE = 0.7
SURE = 0.001  # stated confidences are kept at least this far from 0 and 1
MOST_LISTED = 10
STABILITY = ("stable", "volatile", "ephemeral")


@dataclass(frozen=True)
class ClaimFile:
    """Claims (line, time, writer, object, value, confidence, stated) in file order, and the rejected rows.

    The columns `lineage` and `stability` exist if any row has a value. `time` is in days since the earliest claim, or null
    in all rows. `stated` is null in rows without a confidence. `bad` has the columns line and problem. `clipped` is the
    number of claims with a stated confidence of 0 or 1.
    """

    claims: pl.DataFrame
    bad: pl.DataFrame
    epoch: float | None
    clipped: int = 0


def read_claims(
    path: str | Path | pl.DataFrame, *, on_bad_rows: str = "stop", default_confidence: float = DEFAULT_CONFIDENCE
) -> ClaimFile:
    """Read a claim file (CSV, Parquet or NDJSON, optionally gzipped), or a frame with the same columns.

    Required columns: `writer`, `object`, `value`. Optional columns: `time` (a date, a date and time with or without UTC
    offset, an ISO week such as 2008-W25, a number of days or, if all rows have one, a year); `stated_confidence` (0 to 1,
    clipped to [0.001, 0.999]; empty: `default_confidence`); `lineage` (model or vendor of the writer); `stability` (stable,
    volatile, ephemeral; empty: stable). Other columns are ignored. Bad rows raise `DataError`; with `on_bad_rows="skip"`
    they are omitted and listed.
    """
    where = "claims" if isinstance(path, pl.DataFrame) else str(path)
    frame = _texts(path, ("writer", "object", "value"), ("time", "stated_confidence", "lineage", "stability"))
    confidence = pl.col("stated_confidence").str.strip_chars()
    number = confidence.cast(pl.Float64, strict=False)
    dated = frame["time"].null_count() < frame.height
    checks = [
        *((_blank(name), f"no {name}") for name in ("writer", "object", "value")),
        (confidence.is_not_null() & (confidence != "") & ~number.is_between(0.0, 1.0).fill_null(value=False),
         "stated_confidence must be a number from 0 to 1"),
        (pl.col("stability").is_in(STABILITY).not_() & (pl.col("stability") != ""),
         f"stability must be one of {', '.join(STABILITY)}"),
        (pl.lit(dated) & pl.col("day").is_null(), "time must be a date, a time, an ISO week, a year or a number of days"),
    ]  # fmt: skip
    frame = frame.with_columns(_days(frame["time"]))
    problem = pl.coalesce([pl.when(wrong).then(pl.lit(text)) for wrong, text in checks])
    rows = frame.with_columns(problem.alias("problem"))
    bad = rows.filter(pl.col("problem").is_not_null()).select("line", "problem")
    if bad.height and on_bad_rows != "skip":
        raise DataError(_bad_rows(bad), where=where, hint="correct them, or leave them out with --on-bad-rows skip")
    good = rows.filter(pl.col("problem").is_null())
    if good.is_empty():
        raise DataError("the file contains no claims", where=where, hint="add one row per claim")
    epoch = good["day"].min() if dated else None
    claims = good.select(
        "line",
        (pl.col("day") - epoch if dated else pl.lit(None, pl.Float64)).alias("time"),
        "writer", "object", "value",
        number.alias("stated"), *(name for name in ("lineage", "stability") if good[name].is_not_null().any()),
    )  # fmt: skip
    clipped = claims["stated"].is_in([0.0, 1.0]).sum()
    inside = pl.col("stated").clip(SURE, 1.0 - SURE)
    claims = claims.select(pl.exclude("stated"), inside.fill_null(default_confidence).alias("confidence"), inside)
    return ClaimFile(claims, bad, epoch if isinstance(epoch, float) else None, int(clipped))


def read_truth(path: str | Path | pl.DataFrame, *, epoch: float | None = None) -> pl.DataFrame:
    """Read a truth file (object, value, optionally valid_from), or a frame with the same columns.

    Columns: object, value, and asked (days since `epoch`, or null if the truth is undated). Raises `DataError` for bad
    rows, for dates if the claims are undated, and for an object that has two values but no dates.
    """
    where = "truth" if isinstance(path, pl.DataFrame) else str(path)
    frame = _texts(path, ("object", "value"), ("valid_from",))
    frame = frame.with_columns(_days(frame["valid_from"]))
    wrong = _blank("object") | _blank("value") | (pl.col("valid_from").is_not_null() & pl.col("day").is_null())
    problem = pl.lit("needs object, value, and a date or nothing as valid_from")
    bad = frame.filter(wrong).select("line", problem.alias("problem"))
    if bad.height:
        raise DataError(_bad_rows(bad), where=where)
    several = frame.filter(pl.col("day").is_null()).filter(pl.col("value").n_unique().over("object") > 1)
    if several.height:
        given, hint = several["object"][0], "keep one row per object, or date the values in a column valid_from"
        raise DataError("an object has two true values without dates", where=where, given=given, hint=hint)
    if frame["day"].null_count() < frame.height and epoch is None:
        raise DataError("a dated truth needs dated claims", where=where, hint="give the claims a time column")
    return frame.select("object", "value", (pl.col("day") - (epoch or 0.0)).alias("asked"))


def _texts(source: str | Path | pl.DataFrame, required: tuple[str, ...], optional: tuple[str, ...]) -> pl.DataFrame:
    whole = isinstance(source, pl.DataFrame)
    where, path = "claims" if whole else str(source), Path() if isinstance(source, pl.DataFrame) else Path(source)
    frame = source if isinstance(source, pl.DataFrame) else read_table(path, default=".csv", texts=True)
    if missing := [name for name in required if name not in frame.columns]:
        given, allowed = ", ".join(frame.columns), ", ".join(required)
        raise DataError(
            f"the column {missing[0]} is missing",
            where=where,
            given=given,
            allowed=allowed,
            hint=f"add a column {missing[0]}",
        )
    first = 1 if whole else 2 if kind_of(path, default=".csv") == ".csv" else 1
    columns = [
        frame[name].cast(pl.String) if name in frame.columns else pl.Series(name, [None] * frame.height, pl.String)
        for name in (*required, *optional)
    ]
    return pl.DataFrame(columns).with_row_index("line", offset=first)


def _blank(name: str) -> pl.Expr:
    return pl.col(name).is_null() | (pl.col(name).str.strip_chars() == "")


def _days(times: pl.Series) -> pl.Series:
    """Convert dates, times, ISO weeks, years (if all rows are years) or numbers to days since 1970, and all others to null.

    >>> _days(pl.Series(["1970-01-02", "1970-01-01T12:00:00+06:00", "1970-W02", "3.5"])).to_list()
    [1.0, 0.25, 4.0, 3.5]
    >>> _days(pl.Series(["1970", "1971"])).to_list()
    [0.0, 365.0]
    """
    frame, given = pl.DataFrame({"time": times.cast(pl.String).str.strip_chars()}), times.drop_nulls()
    if len(given) and given.str.strip_chars().str.contains(YEAR).all():
        return frame.select(day=_day(pl.concat_str("time", pl.lit("-01-01")), "%Y-%m-%d")).to_series()
    number = pl.col("time").cast(pl.Float64, strict=False)
    week = _day(pl.col("time").str.replace(r"^(\d{4}-W\d{2})$", "${1}-1"), "%G-W%V-%u")
    return frame.select(day=pl.coalesce(pl.when(number.is_finite()).then(number), _instant(), week)).to_series()


def _day(text: pl.Expr, form: str) -> pl.Expr:
    return text.str.to_date(form, strict=False).dt.epoch("d").cast(pl.Float64)


def _instant() -> pl.Expr:
    text = pl.col("time").str.replace("T", " ").str.replace("Z$", "+00:00")
    offset = text.str.extract(r":\d{2}(?:\.\d+)?\s*([+-]\d{2}:?\d{2})$", 1).str.replace(":", "")
    hours, rest = (offset.str.slice(*part).cast(pl.Int64) for part in ((0, 3), (3, 2)))
    ahead = (hours * 60 + pl.when(offset.str.starts_with("-")).then(-rest).otherwise(rest)).fill_null(0)
    local = text.str.replace(r"(:\d{2}(?:\.\d+)?)\s*[+-]\d{2}:?\d{2}$", "${1}")
    forms = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d")
    instant = pl.coalesce([local.str.to_datetime(form, strict=False, time_unit="ms") for form in forms])
    return (instant.dt.epoch("ms") - ahead * 60_000) / 86_400_000


YEAR = r"^(1[5-9]|20|21)\d{2}$"


def _bad_rows(bad: pl.DataFrame) -> str:
    lines = [f"line {line}: {problem}" for line, problem in bad.head(MOST_LISTED).rows()]
    more = f"; and {bad.height - MOST_LISTED} more" if bad.height > MOST_LISTED else ""
    return f"bad rows: {bad.height}; {'; '.join(lines)}{more}"
