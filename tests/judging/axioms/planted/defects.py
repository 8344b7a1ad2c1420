"""Test memories, each with one planted defect and the name of the axiom that must detect it."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.judging.axioms.planted.sound import Halves, Records, Sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query


class Compounds(Sound):
    """Memory that lowers its scores with every tick, however little time has passed."""

    axiom = "anchor"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.999**self.ticks


class CallOrder(Sound):
    """Memory in which the most recently received claim counts slightly more."""

    axiom = "batching"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        last = self.claims[-1:]
        return [(claim, weight * (1.1 if claim in last else 1.0)) for claim, weight in super().votes(about, now)]


class AboveOne(Sound):
    """Memory whose belief in a value exceeds 1 if two writers agree on the value and no writer disagrees."""

    axiom = "bounds"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 + 0.15 * sum(claim.value == value for claim, _ in self.votes(about, now)[1:])


class Certain(Sound):
    """Memory that gives an infinite score to a claim stated with confidence 1."""

    axiom = "bounds"

    def factor(self, value: str, about: str, now: float) -> float:
        return math.inf if any(claim.stated == 1.0 for claim in self.about(about)) else 1.0


class CountsTicks(Sound):
    """Memory that measures age as the number of days with a tick."""

    axiom = "cadence"

    def __init__(self) -> None:
        super().__init__()
        self.days: set[float] = set()

    def tick(self, now: float) -> None:
        self.days.add(now)

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99 ** len(self.days)


class Weekdays(Sound):
    """Memory whose scores are lower at weekends."""

    axiom = "calendar"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 if now % 7.0 < 5.0 else 0.9


class Addition(Sound):
    """Memory in which votes raise a belief but rival values do not lower the belief."""

    axiom = "consistency"

    def shares(self, about: str, now: float) -> dict[str, float]:
        votes = Counter(claim.value for claim, _ in self.votes(about, now))
        return {value: 1.0 - 0.3 ** votes[value] for value in super().shares(about, now)}


class AllBelieved(Sound):
    """Memory whose belief in each value is 0.7 if there are three or more rival values."""

    axiom = "consistency"

    def shares(self, about: str, now: float) -> dict[str, float]:
        shares = super().shares(about, now)
        return shares if len(shares) < 3 else dict.fromkeys(shares, 0.7)


class Duplicates(Sound):
    """Memory that lowers the score of a claim that is delivered twice."""

    axiom = "delivered-twice"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99 ** max(Counter(map(str, self.about(about))).values(), default=1)


class FirstClaimed(Sound):
    """Memory that drops a vote 60 days after its writer first claimed the value, even if the writer repeats the claim."""

    axiom = "earlier-support"

    def weight(self, claim: Claim, now: float) -> float:
        times = [item.time for item in self.about(claim.object) if (item.writer, item.value) == (claim.writer, claim.value)]
        return 1.0 if now - min(times) <= 60.0 else 0.0


class CountsClaims(Sound):
    """Memory that counts every claim as a vote, including repetitions by the same writer."""

    axiom = "echo-independence"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in self.about(about)]


class OneVoice(Sound):
    """Memory that treats all writers as one writer, so that the latest claim wins."""

    axiom = "echo-independence"

    def writer(self, claim: Claim) -> str:
        return "all"


class FourthVoiceSilences(Sound):
    """Memory whose beliefs are all 0 once four writers have made claims."""

    axiom = "further-voice"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.0 if len({claim.writer for claim in self.claims}) > 3 else 1.0


class EFolding(Halves):
    """Memory that declares its e-folding time as its half-life."""

    axiom = "half-life-halves"

    def shares(self, about: str, now: float) -> dict[str, float]:
        aged: dict[str, Any] = super().shares(about, now)
        return {value: (share / 0.9) ** 1.4427 * 0.9 if share else 0.0 for value, share in aged.items()}


class KeepsFormerVotes(Sound):
    """Memory that still counts a writer's vote for a value after the writer has claimed another value."""

    axiom = "last-word"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in {(claim.writer, claim.value): claim for claim in self.about(about)}.values()]


class ArrivalOrder(Sound):
    """Memory that dates claims by their order of arrival."""

    axiom = "late-arrival"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        count = len(self.claims)
        super().write([replace(claim, time=float(count + index)) for index, claim in enumerate(claims)], now)


class LateAges(Halves):
    """Memory in which the late arrival of an older claim makes the claimed value older."""

    axiom = "late-arrival"

    def shares(self, about: str, now: float) -> dict[str, float]:
        dates = {claim.value: claim.time for claim in self.about(about)}
        shares = Sound.shares(self, about, now)
        return {value: share * math.exp2(-(now - dates[value]) / self.half_life) for value, share in shares.items()}


class PageShares(Sound):
    """Memory that normalises scores over the returned items only."""

    axiom = "limit"

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        page = super().peek(query, now, limit)
        total = sum(item["rank"] for item in page) or 1.0
        return [{**item, "rank": item["rank"] / total, "belief": item["rank"] / total} for item in page]


class Everywhere(Sound):
    """Memory that treats a different value claimed for another object as a rival value."""

    axiom = "locality"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.5 if {claim.value for claim in self.claims if claim.object != about} - {value} else 1.0


class TouchesAll(Halves):
    """Memory in which reading one object makes all objects age more slowly."""

    axiom = "locality"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.half_life *= 1.5
        return super().read(query, now, limit)


class ThreeChanges(Sound):
    """Memory that discards all but the first three values that a writer claims for an object."""

    axiom = "long-history"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            values = {item.value for item in self.about(claim.object) if item.writer == claim.writer}
            if len(values | {claim.value}) <= 3:
                super().write([claim], now)


class Ripens(Sound):
    """Memory whose scores rise with age."""

    axiom = "monotone-age"

    def factor(self, value: str, about: str, now: float) -> float:
        age = now - min((claim.time for claim in self.about(about)), default=now)
        return 0.8 + 0.2 * age / (age + 100.0)


class Initials(Sound):
    """Memory that identifies writers by the first six letters of their names."""

    axiom = "names"

    def writer(self, claim: Claim) -> str:
        return claim.writer[:6]


class ObjectsFolded(Sound):
    """Memory that ignores case in object names."""

    axiom = "names"

    def about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.object.lower() == name.lower()]


class SameNumber(Sound):
    """Memory that merges values that are equal as numbers, such as "1" and "1.0"."""

    axiom = "names"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        texts = [f"{float(item.value):g}" if item.value.replace(".", "").isdigit() else item.value for item in claims]
        super().write([replace(claim, value=text) for claim, text in zip(claims, texts, strict=True)], now)


class Hurried(Sound):
    """Memory that ages all items on every write, even on a write without claims."""

    axiom = "neutral"
    writes = 0

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.writes += 1

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99**self.writes


class Vintage(Sound):
    """Memory that ranks objects with older claims higher."""

    axiom = "newer-not-below-older"

    def factor(self, value: str, about: str, now: float) -> float:
        first = min((claim.time for claim in self.about(about)), default=now)
        return 1.0 - 0.2 * first / (first + 10.0)


class FirstFive(Sound):
    """Memory that counts only the first five writers."""

    axiom = "outvoted"

    def latest(self, about: str) -> dict[str, list[Claim]]:
        return dict(list(super().latest(about).items())[:5])


class Talkers(Sound):
    """Memory that weights a writer by the total number of claims that the writer has made."""

    axiom = "own-facts"

    def weight(self, claim: Claim, now: float) -> float:
        return float(Counter(item.writer for item in self.claims)[claim.writer])


class PeekLowers(Sound):
    """Memory that lowers its scores on every peek."""

    axiom = "peek"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.999**self.peeks


class Supporters(Sound):
    """Memory in which each rival value raises the belief in the leading value."""

    axiom = "polarity"

    def shares(self, about: str, now: float) -> dict[str, float]:
        shares = super().shares(about, now)
        best = max(shares.values(), default=0.0)
        return {value: min(share * len(shares), 1.0) if share == best else share for value, share in shares.items()}


class Unfindable(Sound):
    """Memory whose reads return nothing from the fifth tick on, although its peeks still return claims."""

    axiom = "reachability"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return [] if self.ticks > 4 else super().read(query, now, limit)


class Worst(Sound):
    """Memory whose reads return only the value with the lowest score."""

    axiom = "reachability"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return super().read(query, now, limit)[-1:]


class ReadLowers(Sound):
    """Memory that lowers its scores on every read."""

    axiom = "read-idempotence"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99**self.reads


class HelpsTheLoser(Sound):
    """Memory in which a read adds weight to the value with the lowest score."""

    axiom = "read-keeps-lead"

    def __init__(self) -> None:
        super().__init__()
        self.bonus: Counter[tuple[str, str]] = Counter()

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().read(query, now, limit)
        self.bonus.update((query.object, item["value"]) for item in items[-1:])
        return items

    def weights(self, about: str, now: float) -> dict[str, float]:
        return {value: weight + 0.9 * self.bonus[about, value] for value, weight in super().weights(about, now).items()}


class Tired(Sound):
    """Memory that lowers the score of a value by a tenth with each claim of the value."""

    axiom = "reinforcement"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.9 ** sum(claim.value == value for claim in self.about(about))


class Dice(Sound):
    """Memory whose scores are partly random."""

    axiom = "repeatable"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 - 0.01 * random.random()  # noqa: S311


class Inverted(Sound):
    """Memory that lowers the score of a value when its claims state a higher confidence."""

    axiom = "stated"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 - 0.3 * max(claim.stated or 0.0 for claim in self.about(about) if claim.value == value)


class Shy(Sound):
    """Memory whose beliefs never exceed 0.4."""

    axiom = "success"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.4


class Expires(Sound):
    """Memory that deletes claims older than 60 days on a tick."""

    axiom = "survival-floor"

    def tick(self, now: float) -> None:
        self.claims = [claim for claim in self.claims if now - claim.time < 60.0]


class BothGone(Sound):
    """Memory that deletes both sides of a contradiction."""

    axiom = "total-evidence"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            has_rival = any(item.value != claim.value for item in self.about(claim.object))
            super().write([claim], now)
            if has_rival:
                self.claims = [item for item in self.claims if item.object != claim.object]


class Frozen(Records):
    """Memory that judges a writer by three objects only, so that a writer who lies later keeps a good record."""

    axiom = "track-record"

    def agreements(self, writer: str, besides: str) -> list[bool]:
        return super().agreements(writer, besides)[:3]


class FirstWins(Sound):
    """Memory that never replaces the first claim about an object."""

    axiom = "truth-may-return"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in self.about(about)[:1]]


class PlainVote(Sound):
    """Memory that weights all votes equally, so that a tie is never broken."""

    axiom = "truth-may-return"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim, _ in super().votes(about, now)]


class Leaks(Sound):
    """Memory that answers a query about an unknown object with the latest claim about another object."""

    axiom = "unsaid"

    def about(self, name: str) -> list[Claim]:
        return super().about(name) or list(self.claims[-1:])


class Share(Sound):
    """Memory in which a claim about any other object lowers every belief."""

    axiom = "vacuity"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.9 + 0.1 / len({claim.object for claim in self.claims})
