"""Files of real claims and of truth: read whole, every bad row named with its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from malsim.errors import DataError

__all__ = ["ClaimFile", "read_claims", "read_truth"]

DEFAULT_CONFIDENCE = 0.7
MOST_SHOWN = 10


@dataclass(frozen=True)
class ClaimFile:
    """Claims (line, time, writer, object, value, confidence) in the order of the file, and the rows left out.

    `time` is in days since the earliest claim, null throughout where the file has none; `bad` has line and problem.
    """

    claims: pl.DataFrame
    bad: pl.DataFrame
    epoch: float | None


def read_claims(path: str | Path, *, on_bad_rows: str = "stop", default_confidence: float = DEFAULT_CONFIDENCE) -> ClaimFile:
    """Read a claim file: CSV, Parquet or NDJSON, also gzipped.

    Columns: `writer`, `object`, `value`; optionally `time` (a date, a date and time, or a number of days) and
    `stated_confidence` in (0, 1], which becomes `default_confidence` where empty. Other columns are ignored. Bad rows raise
    `DataError`, or are left out and listed under `on_bad_rows="skip"`.
    """
    frame = _texts(Path(path), ("writer", "object", "value"), ("time", "stated_confidence"))
    confidence = pl.col("stated_confidence").str.strip_chars()
    number = confidence.cast(pl.Float64, strict=False)
    timed = frame["time"].null_count() < frame.height
    checks = [
        *((_blank(name), f"no {name}") for name in ("writer", "object", "value")),
        (confidence.is_not_null() & (confidence != "") & ~number.is_between(0.0, 1.0, closed="right").fill_null(value=False),
         "stated_confidence must be a number above 0 and at most 1"),
        (pl.lit(timed) & pl.col("day").is_null(), "time must be a date, a date and time, or a number of days"),
    ]  # fmt: skip
    frame = frame.with_columns(_days("time").alias("day"))
    problem = pl.coalesce([pl.when(wrong).then(pl.lit(said)) for wrong, said in checks])
    judged = frame.with_columns(problem.alias("problem"))
    bad = judged.filter(pl.col("problem").is_not_null()).select("line", "problem")
    if bad.height and on_bad_rows != "skip":
        raise DataError(_listed(bad), where=str(path), hint="mend them, or leave them out with --on-bad-rows skip")
    good = judged.filter(pl.col("problem").is_null())
    if good.is_empty():
        raise DataError("holds no claim", where=str(path), given=f"{frame.height} rows", allowed="one row a claim")
    epoch = good["day"].min() if timed else None
    claims = good.select(
        "line",
        (pl.col("day") - epoch if timed else pl.lit(None, pl.Float64)).alias("time"),
        "writer", "object", "value",
        number.fill_null(default_confidence).alias("confidence"),
    )  # fmt: skip
    return ClaimFile(claims, bad, epoch if isinstance(epoch, float) else None)


def read_truth(path: str | Path, *, epoch: float | None = None) -> pl.DataFrame:
    """Read a truth file: object, value, and asked (days since `epoch`), null where the truth is not dated."""
    frame = _texts(Path(path), ("object", "value"), ("valid_from",)).with_columns(_days("valid_from").alias("day"))
    wrong = _blank("object") | _blank("value") | (pl.col("valid_from").is_not_null() & pl.col("day").is_null())
    bad = frame.filter(wrong).select(
        "line", pl.lit("needs object, value, and a date or nothing as valid_from").alias("problem")
    )
    if bad.height:
        raise DataError(_listed(bad), where=str(path))
    if frame["day"].null_count() < frame.height and epoch is None:
        raise DataError("a dated truth needs dated claims", where=str(path), hint="give the claims a time column")
    return frame.select("object", "value", (pl.col("day") - (epoch or 0.0)).alias("asked"))


def _texts(path: Path, required: tuple[str, ...], optional: tuple[str, ...]) -> pl.DataFrame:
    """The wanted columns of a file as text, with the line each row stands on."""
    if not path.is_file():
        raise DataError("no such file", given=str(path), hint="check the path")
    kind = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"][-1:] or [""]
    try:
        if kind[0] == ".parquet":
            frame = pl.read_parquet(path)
        elif kind[0] in (".ndjson", ".jsonl"):
            frame = pl.read_ndjson(path, infer_schema_length=None)
        else:
            frame = pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise DataError(
            f"cannot be read: {error}", where=str(path), allowed="CSV, Parquet or NDJSON, also gzipped"
        ) from error
    if missing := [name for name in required if name not in frame.columns]:
        raise DataError(
            "a column is missing",
            where=str(path),
            given=", ".join(frame.columns),
            allowed=", ".join(required),
            hint=f"add {missing[0]}",
        )
    first = 2 if kind[0] not in (".parquet", ".ndjson", ".jsonl") else 1
    columns = [
        frame[name].cast(pl.String) if name in frame.columns else pl.Series(name, [None] * frame.height, pl.String)
        for name in (*required, *optional)
    ]
    return pl.DataFrame(columns).with_row_index("line", offset=first)


def _blank(name: str) -> pl.Expr:
    return pl.col(name).is_null() | (pl.col(name).str.strip_chars() == "")


def _days(name: str) -> pl.Expr:
    """Days of a date, a date and time, or a plain number."""
    text = pl.col(name).str.strip_chars().str.replace("T", " ").str.strip_suffix("Z")
    forms = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d")
    dated = pl.coalesce([text.str.to_datetime(form, strict=False, time_unit="ms") for form in forms])
    number = text.cast(pl.Float64, strict=False)
    return pl.coalesce(pl.when(number.is_finite()).then(number), dated.dt.epoch("ms") / 86_400_000)


def _listed(bad: pl.DataFrame) -> str:
    lines = [f"line {line}: {problem}" for line, problem in bad.head(MOST_SHOWN).rows()]
    more = f"; and {bad.height - MOST_SHOWN} more" if bad.height > MOST_SHOWN else ""
    return f"{bad.height} bad rows: {'; '.join(lines)}{more}"
