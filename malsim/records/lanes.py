"""Lanes of records: durability, lifetimes, caps, and the selection of records to remove.

    expired_i  = now ≥ created_i + lifetime_i         an update changes neither
    evicted    = the least recently updated living records of a lane above its cap

Source: ARW's documentation, which only says minutes, hours or months; the numbers of seconds are malsim's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from malsim.base.errors import UsageError

LANES = MappingProxyType(
    {
        "ephemeral": "ephemeral",
        "short_term": "short",
        "episodic": "short",
        "semantic": "long",
        "profile": "long",
        "procedural": "long",  # this lane and the next occur only in ARW's code, not in its documentation
        "story_thread": "long",
    }
)
"""Durability of each lane."""
LANE_OF = MappingProxyType({"ephemeral": "ephemeral", "short": "short_term", "long": "semantic"})
LATEST_MS = 253_402_300_800_000  # start of the year 10000, in ms since 1970
DURABILITIES = tuple(LANE_OF)
PRIVACIES = ("private", "project", "shared")


TTL_S = MappingProxyType({"ephemeral": 300.0, "short": 21_600.0, "long": 7_776_000.0})
LANE_TTL_S = MappingProxyType({"short_term": 900.0})
CAPS = MappingProxyType({"ephemeral": 256, "short_term": 512, "episodic": 1024, "semantic": 4096, "profile": 512})


@dataclass(frozen=True)
class Upkeep:
    """Janitor settings, in seconds and numbers of records.

    `ttl_s` is keyed by durability; `lane_ttl_s` is keyed by lane and takes precedence. A lane without a cap is unlimited.
    """

    ttl_s: Mapping[str, float] = field(default_factory=lambda: TTL_S)
    lane_ttl_s: Mapping[str, float] = field(default_factory=lambda: LANE_TTL_S)
    caps: Mapping[str, float] = field(default_factory=lambda: CAPS)
    every_s: float = 60.0
    most: int = 128

    def expires(self, created: int, lane: str, durability: str, ttl_s: float | None = None) -> int:
        """Return a record's expiry time (ms), from the record's own lifetime if given, or else the lane's or durability's.

        >>> Upkeep().expires(0, "short_term", "short"), Upkeep().expires(7, "profile", "long", 60.0)
        (900000, 60007)
        """
        seconds = self.lane_ttl_s.get(lane, self.ttl_s[durability]) if ttl_s is None else ttl_s
        return min(created + round(1000.0 * seconds), LATEST_MS)


def due(lanes: Sequence[str], expires: ArrayLike, updated: ArrayLike, now: int, upkeep: Upkeep) -> list[tuple[int, str]]:
    """Return (row, reason) for each record to remove in one pass, at most `upkeep.most`.

    Expired rows come first (`ttl`), earliest expiry first, then rows above a lane's cap (`cap`). Times are in
    milliseconds; ties are in row order.

    >>> due(["ephemeral", "profile"], [60_000, 1e9], [0, 0], 60_000, Upkeep())
    [(0, 'ttl')]
    """
    until = np.asarray(expires, float)
    living = until > now
    expired = np.flatnonzero(~living)
    removals = [(int(row), "ttl") for row in expired[np.argsort(until[expired], kind="stable")]]
    touched, lane_of = np.asarray(updated, float), np.asarray(lanes, str)
    for lane, cap in upkeep.caps.items():
        rows = np.flatnonzero((lane_of == lane) & living)
        over = rows[np.argsort(touched[rows], kind="stable")][: max(0, len(rows) - int(cap))]
        removals += [(int(row), "cap") for row in over]
    return removals[: upkeep.most]


def one_of(value: object, allowed: Sequence[str], where: str) -> str:
    """Return the value if it is one of the allowed strings; otherwise raise `UsageError`."""
    if isinstance(value, str) and value in allowed:
        return value
    raise UsageError("not an allowed value", where=where, given=value, allowed=", ".join(allowed))
