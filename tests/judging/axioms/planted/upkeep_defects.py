"""Defects of upkeep: sweeps, reads, looks, deletion and capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.judging.axioms.planted.sound import Sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query


class Compounds(Sound):
    """Each sweep takes its part off what the last one left."""

    axiom = "anchor"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: score * 0.999**self.ticks for value, score in super().scores(about, now).items()}


class CountsSweeps(Sound):
    """Age is the number of days that were swept."""

    axiom = "cadence"

    def __init__(self) -> None:
        super().__init__()
        self.days: set[float] = set()

    def tick(self, now: float) -> None:
        self.days.add(now)

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: score * 0.99 ** len(self.days) for value, score in super().scores(about, now).items()}


class Expires(Sound):
    """A sweep deletes what nobody said for so many days."""

    days, axiom = 60.0, "survival-floor"

    def tick(self, now: float) -> None:
        super().tick(now)
        self.claims = [claim for claim in self.claims if now - claim.time < self.days]


class ExpiresLate(Expires):
    """A sweep deletes what nobody said for half a year."""

    days = 180.0


class BestOnly(Sound):
    """A sweep keeps the two things of which it is surest."""

    axiom = "survival-floor"

    def tick(self, now: float) -> None:
        super().tick(now)
        things = dict.fromkeys(claim.object for claim in self.claims)
        sure = sorted(things, key=lambda about: -max(self.scores(about, now).values()))[:2]
        self.claims = [claim for claim in self.claims if claim.object in sure]


class Hundred(Sound):
    """It holds a hundred claims, and the oldest goes first."""

    axiom = "locality"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.claims = self.claims[-100:]


class Full(Sound):
    """After a hundred claims it takes no more."""

    axiom = "locality"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.claims = self.claims[:100]


class Hurried(Sound):
    """Every write ages everything, an empty one too."""

    axiom = "neutral"
    writes = 0

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.writes += 1

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: score * 0.99**self.writes for value, score in super().scores(about, now).items()}


class ReadIsProof(Sound):
    """To be asked makes it surer."""

    axiom = "read-idempotence"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: min(1.0, score + 0.01 * self.reads) for value, score in super().scores(about, now).items()}


class LookIsProof(Sound):
    """To be looked at makes it surer."""

    axiom = "peek"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: min(1.0, score + 0.001 * self.peeks) for value, score in super().scores(about, now).items()}


class ReadTakes(Sound):
    """A question takes the answer out."""

    axiom = "read-idempotence"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().read(query, now, limit)
        self.claims = [claim for claim in self.claims if claim.object != query.object]
        return items


class Worst(Sound):
    """A question is answered by the value that ranks last."""

    axiom = "reachability"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return super().read(query, now, limit)[-1:]


class Unfindable(Sound):
    """After four sweeps a question finds nothing, though a look does."""

    axiom = "reachability"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return [] if self.ticks > 4 else super().read(query, now, limit)


class BothGone(Sound):
    """A contradiction deletes both sides."""

    axiom = "total-evidence"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            rival = any(item.value != claim.value for item in self.about(claim.object))
            super().write([claim], now)
            if rival:
                self.claims = [item for item in self.claims if item.object != claim.object]


class TiesGone(Sound):
    """A sweep deletes rivals of one instant, both."""

    axiom = "total-evidence"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        for about in {claim.object for claim in claims}:
            claims_about = self.about(about)
            if len({claim.value for claim in claims_about}) > 1 and len({claim.time for claim in claims_about}) == 1:
                self.claims = [claim for claim in self.claims if claim.object != about]


class Reserved(Sound):
    """Until the first sweep nothing is believed above .3."""

    axiom = "success"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: score if self.ticks else score / 3.0 for value, score in super().scores(about, now).items()}


class Dice(Sound):
    """Scores are drawn anew, near what they are."""

    axiom = "repeatable"

    def scores(self, about: str, now: float) -> dict[str, float]:
        import random

        return {value: score * (1.0 - 0.01 * random.random()) for value, score in super().scores(about, now).items()}  # noqa: S311
