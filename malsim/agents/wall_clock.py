"""Clock of a store: the current day, in real time since the date of its day 0."""

from __future__ import annotations

import math
import time
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.store import Store

SECONDS = 86_400.0  # a day


def wall_clock(store: Store, seconds: Callable[[], float] = time.time) -> Callable[[], float]:
    """Return a clock of a store's days, never before its last write.

    A store without a date of day 0 is given one, such that its last write was today. `seconds` are those since 1970.
    """
    start = store.start
    if start is None:
        today = datetime.fromtimestamp(seconds(), UTC).date()
        start = (today - timedelta(days=math.floor(store.day or 0.0))).isoformat()
        store.begin(start)
    zero = datetime.combine(date.fromisoformat(start[:10]), datetime.min.time(), UTC).timestamp()
    return lambda: max((seconds() - zero) / SECONDS, store.day or 0.0)
