"""Dates as the reference implementation reads them, in days."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

MILLISECONDS_A_DAY = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"(?P<year>\d{4}|[+-]\d{6})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?"
    r"(?:T(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r"(?:Z|(?P<sign>[+-])(?P<zone_hour>\d\d):?(?P<zone_minute>\d\d))?)?"
)
_TOKEN = re.compile(r"(?P<clock>\d+(?::\d+){1,2}(?:\.\d+)?)|(?P<zone>[+-]\d{2}:?\d{2})|(?P<number>\d+)|(?P<word>[A-Za-z]+)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ZONES = {
    "utc": 0, "ut": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7,
}  # fmt: skip
_IGNORED = ("am", "pm", "t")
LAST_DAY = 31


def days(text: str, start: float = 0.0) -> float | None:
    """Return a date as days after `start` (itself in days after 1970), or None for a text that is not a date.

    >>> days("1970-01-02T12:00:00Z"), days("2026-12-31", 20_000.0), days("soon")
    (1.5, 818.0, None)
    """
    at = milliseconds(text)
    return None if at is None else at / MILLISECONDS_A_DAY - start


def milliseconds(text: str) -> float | None:
    """Return a date as milliseconds after 1970, by ISO 8601 and other forms of V8's `Date.parse`; UTC if no zone is named.

    >>> [milliseconds(text) is not None for text in ("2026", "Mar 7 2026", "7", "2026-13-01", "soon")]
    [True, True, True, False, False]
    """
    stripped = text.strip()
    match = _ISO.fullmatch(stripped)
    try:
        at = _iso(match) if match else _loose(stripped)
    except (ValueError, OverflowError):
        return None
    return None if at is None else (at - _EPOCH) / timedelta(milliseconds=1)


def _iso(match: re.Match[str]) -> datetime:
    part = {name: int(match[name] or default) for name, default in (("year", 0), ("month", 1), ("day", 1))}
    clock = timedelta(
        hours=int(match["hour"] or 0),
        minutes=int(match["minute"] or 0),
        seconds=int(match["second"] or 0),
        milliseconds=int(f"{match['fraction'] or '0':0<3.3}"),
    )
    if clock > timedelta(days=1) or int(match["minute"] or 0) >= 60:  # noqa: PLR2004  # minutes in an hour
        raise ValueError(match.string)
    zone = timedelta(hours=int(match["zone_hour"] or 0), minutes=int(match["zone_minute"] or 0))
    return datetime(**part, tzinfo=UTC) + clock - (-zone if match["sign"] == "-" else zone)


def _loose(text: str) -> datetime | None:
    """Assign day, month and year by size; skip words before the first number, and text in brackets."""
    numbers: list[int] = []
    month, zone, clock = None, timedelta(), timedelta()
    for token in _TOKEN.finditer(re.sub(r"\([^()]*\)", " ", text)):
        word = (token["word"] or "").lower()
        if token["number"]:
            numbers.append(int(token["number"]))
        elif token["clock"]:
            hour, minute, second = [*map(float, token["clock"].split(":")), 0.0][:3]
            clock = timedelta(hours=hour, minutes=minute, seconds=second)
        elif token["zone"]:
            zone = timedelta(hours=int(token["zone"][:3]))
        elif word[:3] in _MONTHS:
            month = _MONTHS.index(word[:3]) + 1
        elif word in _ZONES:
            zone = timedelta(hours=_ZONES[word])
        elif numbers and word not in _IGNORED:
            return None
    if not 1 <= len(numbers) <= 3:  # noqa: PLR2004  # day, month, year
        return None
    return datetime(*_year_month_day(numbers, month), tzinfo=UTC) + clock - zone


def _year_month_day(numbers: list[int], month: int | None) -> tuple[int, int, int]:
    first, second, third = (*numbers, 1, 1)[:3]
    starts_with_day = 1 <= first <= LAST_DAY
    if month is None:
        year, month, day = (third, first, second) if starts_with_day else (first, second, third)
    else:
        day, year = (first, second) if starts_with_day else (second, first)
    if year < 100:  # noqa: PLR2004  # two digits
        year += 2000 if year < 50 else 1900  # noqa: PLR2004  # the usual pivot
    return year, month, day
