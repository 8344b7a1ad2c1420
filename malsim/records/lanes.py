"""Lanes of records: how durable each is, how long a record lives, how many a lane holds, and which a janitor removes.

    expired_i  = now ≥ created_i + lifetime_i         being touched moves neither
    evicted    = the least recently updated of a lane, beyond its cap, among those that have not expired

Source: ARW's documentation. Where it says minutes, hours or months, the number of seconds is the bench's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

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
        "procedural": "long",  # this and the next are in ARW's code only
        "story_thread": "long",
    }
)
"""The durability of each lane."""
LANE_OF = MappingProxyType({"ephemeral": "ephemeral", "short": "short_term", "long": "semantic"})
LATEST_MS = 253_402_300_800_000  # the year 10000
DURABILITIES = tuple(LANE_OF)
PRIVACIES = ("private", "project", "shared")


def _fixed(**values: float) -> Mapping[str, float]:
    return MappingProxyType(values)


@dataclass(frozen=True)
class Upkeep:
    """Settings of a janitor, in seconds and counts of records.

    `ttl_s` is by durability. `lane_ttl_s` is by lane and takes precedence. A lane without a cap is unlimited.
    """

    ttl_s: Mapping[str, float] = field(default_factory=lambda: _fixed(ephemeral=300, short=21_600, long=7_776_000))
    lane_ttl_s: Mapping[str, float] = field(default_factory=lambda: _fixed(short_term=900))
    caps: Mapping[str, float] = field(
        default_factory=lambda: _fixed(ephemeral=256, short_term=512, episodic=1024, semantic=4096, profile=512)
    )
    every_s: float = 60.0
    most: int = 128

    def expires(self, created: int, lane: str, durability: str, ttl_s: float | None = None) -> int:
        """Return when a record expires (ms), by its own lifetime, else its lane's, else that of its durability.

        >>> Upkeep().expires(0, "short_term", "short"), Upkeep().expires(7, "profile", "long", 60.0)
        (900000, 60007)
        """
        seconds = self.lane_ttl_s.get(lane, self.ttl_s[durability]) if ttl_s is None else ttl_s
        return min(created + round(1000.0 * seconds), LATEST_MS)


class Removal(NamedTuple):
    """Row to remove, and the reason: `ttl` or `cap`."""

    row: int
    reason: str


def due(lanes: Sequence[str], expires: ArrayLike, updated: ArrayLike, now: int, upkeep: Upkeep) -> list[Removal]:
    """Return the removals of one pass, in order: longest expired first, then lane overflow; at most `upkeep.most`.

    Times are milliseconds; ties go by row.

    >>> due(["ephemeral", "profile"], [60_000, 1e9], [0, 0], 60_000, Upkeep())
    [Removal(row=0, reason='ttl')]
    """
    until = np.asarray(expires, float)
    living = until > now
    expired = np.flatnonzero(~living)
    removals = [Removal(int(row), "ttl") for row in expired[np.argsort(until[expired], kind="stable")]]
    touched, lane_of = np.asarray(updated, float), np.asarray(lanes, str)
    for lane, cap in upkeep.caps.items():
        rows = np.flatnonzero((lane_of == lane) & living)
        over = rows[np.argsort(touched[rows], kind="stable")][: max(0, len(rows) - int(cap))]
        removals += [Removal(int(row), "cap") for row in over]
    return removals[: upkeep.most]


def one_of(value: object, allowed: Sequence[str], where: str) -> str:
    """Return the value if it is in the list; raises `UsageError` otherwise."""
    if isinstance(value, str) and value in allowed:
        return value
    raise UsageError("unknown word", where=where, given=value, allowed=", ".join(allowed))
