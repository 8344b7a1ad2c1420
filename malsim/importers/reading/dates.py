"""Parsing of dates in files of other memories."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTH = re.compile(r"\d{4}-\d\d")


def date_of(text: str) -> datetime | None:
    """Parse a date in ISO 8601 (also with slashes, or without a day) or in words. Return None for other text.

    >>> [str(date_of(text)) for text in ("2026-03", "2026/03/07", "Mar 7 2026", "7 March 2026 10:00 +0200", "soon")]
    ['2026-03-01 00:00:00', '2026-03-07 00:00:00', '2026-03-07 00:00:00', '2026-03-07 10:00:00+02:00', 'None']
    """
    text = text.strip()
    iso = text.replace("/", "-")
    try:
        return datetime.fromisoformat(f"{iso}-01" if _MONTH.fullmatch(iso) else iso)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text if ":" in text else f"{text} 00:00") if re.search("[A-Za-z]{3}", text) else None
    except (ValueError, OverflowError):
        return None


def days(text: str, start: float = 0.0) -> float | None:
    """Parse a date into days after `start` (itself in days since 1970). Return None for text that is not a date.

    >>> days("1970-01-02T12:00:00Z"), days("2026-12-31", 20_000.0), days("soon")
    (1.5, 818.0, None)
    """
    at = date_of(text)
    if at is None:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return (at - _EPOCH) / timedelta(milliseconds=1) / 86_400_000 - start
