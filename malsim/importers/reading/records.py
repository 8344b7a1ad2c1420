"""Output of an importer: cells and edges by key, and counts of what was imported and what was left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from malsim.importers.reading.dates import milliseconds
from malsim.importers.reading.put import EDGES
from malsim.memory.tables.standing_parts import Standing

EXTRAS: dict[str, pl.DataType | type[pl.DataType]] = {"cell": pl.String, "name": pl.String, "value": pl.String}
RELATION = "relation"  # the extra that tells a claim that was a relation apart
_DAY, _MICROSECONDS = 86_400.0, 1e6
_FORMS = tuple(f"%Y-%m-%d{gap}%H:%M:%S%.f{zone}" for gap in ("T", " ") for zone in ("%:z", ""))
_LATEST_SECONDS = 1e11  # a larger number counts milliseconds


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings that the user gives because the file does not hold them; see `malsim import --help`.

    `scopes` numbers the scopes of a source as they come, each a replication of its own; None where all is everybody's.
    """

    confidence: float | None = None
    payload: Any = None
    writer_segment: int | None = None
    contradict: bool = False
    scopes: dict[str, int] | None = None


@dataclass(kw_only=True)
class Records:
    """Content of a source: cells and edges by key, with days counted from 1970.

    `form` names the source's format. `cells` has columns of `put.ROW`, `key` at least; what is left out is absent.
    `counts` are lines of the report, in order; `extras` are values that malsim has no column for: cell (its key), name,
    value as JSON. `wiring` is a netlist that runs at a store's ticks. `programs` are keys of cells of kind prg whose program
    is not in their body.
    """

    form: str
    cells: pl.DataFrame
    edges: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EDGES))
    extras: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EXTRAS))
    counts: dict[str, int] = field(default_factory=dict)
    wiring: Standing | None = None
    programs: frozenset[str] = frozenset()


def day_of(value: object, *, local: bool = False) -> float | None:
    """Return a date, or seconds or milliseconds since 1970, as days after 1970; None for anything else.

    A date without a zone is UTC, or under `local` of this machine's zone.

    >>> day_of("1970-01-02T12:00:00+00:00"), day_of(86_400), day_of(1767225600000), day_of("soon"), day_of(None)
    (1.5, 1.0, 20454.0, None, None)
    """
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            ms = milliseconds(value) if any(map(str.isdigit, value)) and not value.isdigit() else None
            return None if ms is None else ms / _DAY / 1000.0
        try:
            at = (at.astimezone() if local else at.replace(tzinfo=UTC)) if at.tzinfo is None else at
            return at.timestamp() / _DAY
        except (OverflowError, OSError):
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15:  # noqa: PLR2004  # the year 33658
        return value / _DAY / (1000.0 if value > _LATEST_SECONDS else 1.0)
    return None


def days_of(name: str, dates: Iterable[object]) -> pl.Series:
    """Return a column of `day_of` values: common date formats at once, the rest one by one.

    >>> days_of("t", ["1970-01-02T12:00:00+00:00", "1970-01-02 12:00:00", "2 Jan 1970", "soon", None, 86_400]).to_list()
    [1.5, 1.5, 1.0, None, None, 1.0]
    """
    values = list(dates)
    try:
        texts = pl.Series(name, values, pl.String)
        present = texts.is_not_null()
    except (TypeError, UnicodeError):  # not all of them are texts that UTF-8 can hold
        texts = pl.Series(name, map(text_of, values), pl.String)
        present = pl.Series([date is not None for date in values], dtype=pl.Boolean)
    days = pl.repeat(None, len(values), dtype=pl.Float64, eager=True).alias(name)
    for form in _FORMS:
        rows = (days.is_null() & texts.is_not_null()).arg_true()
        if len(rows):
            at = texts.gather(rows).str.to_datetime(form, time_unit="us", strict=False).dt.timestamp("us")
            rounded = at.cast(pl.Float64).to_numpy() / _MICROSECONDS / _DAY  # as `day_of` rounds; polars multiplies instead
            days = days.scatter(rows, pl.Series(rounded, nan_to_null=True))
    odd = (days.is_null() & present).arg_true().to_list()
    return days.scatter(odd, pl.Series([day_of(values[row]) for row in odd], dtype=pl.Float64)) if odd else days


def key_of(*parts: str) -> str:
    """Return a key for a claim without one: a hash of its content, the same whenever the file is read again."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def keys_of(objects: Iterable[str], titles: Iterable[str]) -> list[str]:
    """Return `key_of` of each object and title.

    >>> keys_of(["tea"], ["is hot"]) == [key_of("tea", "is hot")]
    True
    """
    blake2b = hashlib.blake2b  # a million keys are usual
    texts = [f"{one}\0{other}".encode("utf-8", "replace") for one, other in zip(objects, titles, strict=True)]
    return [blake2b(text, digest_size=12).hexdigest() for text in texts]


def text_of(value: object) -> str | None:
    """Return a text that is not blank, with lone surrogates replaced (UTF-8 cannot hold them); None for anything else."""
    if not isinstance(value, str) or not value.strip():
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
