"""Planted defects: each class is a sound memory with one error, and names the axiom that finds it."""

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
    """Each tick lowers the score left by the previous tick."""

    axiom = "anchor"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.999**self.ticks


class CallOrder(Sound):
    """The last claim of a call counts slightly more."""

    axiom = "batching"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        last = self.claims[-1:]
        return [(claim, weight * (1.1 if claim in last else 1.0)) for claim, weight in super().votes(about, now)]


class AboveOne(Sound):
    """The belief in a value with three agreeing writers is above 1."""

    axiom = "bounds"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 + 0.15 * sum(claim.value == value for claim, _ in self.votes(about, now)[1:])


class Certain(Sound):
    """A claim stated with confidence 1 has an infinite score."""

    axiom = "bounds"

    def factor(self, value: str, about: str, now: float) -> float:
        return math.inf if any(claim.stated == 1.0 for claim in self.about(about)) else 1.0


class CountsTicks(Sound):
    """Age is the number of days with a tick."""

    axiom = "cadence"

    def __init__(self) -> None:
        super().__init__()
        self.days: set[float] = set()

    def tick(self, now: float) -> None:
        self.days.add(now)

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99 ** len(self.days)


class Weekdays(Sound):
    """Scores are lower at weekends."""

    axiom = "calendar"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 if now % 7.0 < 5.0 else 0.9


class Addition(Sound):
    """Votes raise a belief, and rivals do not lower it."""

    axiom = "consistency"

    def shares(self, about: str, now: float) -> dict[str, float]:
        votes = Counter(claim.value for claim, _ in self.votes(about, now))
        return {value: 1.0 - 0.3 ** votes[value] for value in super().shares(about, now)}


class AllBelieved(Sound):
    """Each of three or more rivals is believed at 0.7."""

    axiom = "consistency"

    def shares(self, about: str, now: float) -> dict[str, float]:
        shares = super().shares(about, now)
        return shares if len(shares) < 3 else dict.fromkeys(shares, 0.7)


class Duplicates(Sound):
    """A claim that is delivered twice lowers the score."""

    axiom = "delivered-twice"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99 ** max(Counter(map(str, self.about(about))).values(), default=1)


class FirstClaimed(Sound):
    """A vote ends 60 days after its writer first claimed the value, however often it is repeated."""

    axiom = "earlier-support"

    def weight(self, claim: Claim, now: float) -> float:
        times = [item.time for item in self.about(claim.object) if (item.writer, item.value) == (claim.writer, claim.value)]
        return 1.0 if now - min(times) <= 60.0 else 0.0


class CountsClaims(Sound):
    """Every claim is a vote, repetitions included."""

    axiom = "echo-independence"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in self.about(about)]


class OneVoice(Sound):
    """All writers count as one, so the latest claim wins."""

    axiom = "echo-independence"

    def writer(self, claim: Claim) -> str:
        return "all"


class FourthVoiceSilences(Sound):
    """Every belief is 0 once four writers have made claims."""

    axiom = "further-voice"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.0 if len({claim.writer for claim in self.claims}) > 3 else 1.0


class EFolding(Halves):
    """The declared half-life is an e-folding time."""

    axiom = "half-life-halves"

    def shares(self, about: str, now: float) -> dict[str, float]:
        aged: dict[str, Any] = super().shares(about, now)
        return {value: (share / 0.9) ** 1.4427 * 0.9 if share else 0.0 for value, share in aged.items()}


class KeepsFormerVotes(Sound):
    """A writer's earlier claim keeps its vote."""

    axiom = "last-word"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in {(claim.writer, claim.value): claim for claim in self.about(about)}.values()]


class ArrivalOrder(Sound):
    """Claims are dated by their arrival."""

    axiom = "late-arrival"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        count = len(self.claims)
        super().write([replace(claim, time=float(count + index)) for index, claim in enumerate(claims)], now)


class LateAges(Halves):
    """An earlier claim of the same value that arrives late makes the value older."""

    axiom = "late-arrival"

    def shares(self, about: str, now: float) -> dict[str, float]:
        dates = {claim.value: claim.time for claim in self.about(about)}
        shares = Sound.shares(self, about, now)
        return {value: share * math.exp2(-(now - dates[value]) / self.half_life) for value, share in shares.items()}


class PageShares(Sound):
    """A score is the share among the requested items."""

    axiom = "limit"

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        page = super().peek(query, now, limit)
        total = sum(item["rank"] for item in page) or 1.0
        return [{**item, "rank": item["rank"] / total, "belief": item["rank"] / total} for item in page]


class Everywhere(Sound):
    """A claim about any other object with another value is a rival."""

    axiom = "locality"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.5 if {claim.value for claim in self.claims if claim.object != about} - {value} else 1.0


class TouchesAll(Halves):
    """A read of one object makes all objects age more slowly."""

    axiom = "locality"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.half_life *= 1.5
        return super().read(query, now, limit)


class ThreeChanges(Sound):
    """A writer's fourth value for an object is discarded."""

    axiom = "long-history"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            values = {item.value for item in self.about(claim.object) if item.writer == claim.writer}
            if len(values | {claim.value}) <= 3:
                super().write([claim], now)


class Ripens(Sound):
    """A score rises with age."""

    axiom = "monotone-age"

    def factor(self, value: str, about: str, now: float) -> float:
        age = now - min((claim.time for claim in self.about(about)), default=now)
        return 0.8 + 0.2 * age / (age + 100.0)


class Initials(Sound):
    """Writers are identified by the first six letters."""

    axiom = "names"

    def writer(self, claim: Claim) -> str:
        return claim.writer[:6]


class ObjectsFolded(Sound):
    """Names of objects are compared without regard to case."""

    axiom = "names"

    def about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.object.lower() == name.lower()]


class SameNumber(Sound):
    """Values that are the same number are the same value."""

    axiom = "names"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        texts = [f"{float(item.value):g}" if item.value.replace(".", "").isdigit() else item.value for item in claims]
        super().write([replace(claim, value=text) for claim, text in zip(claims, texts, strict=True)], now)


class Hurried(Sound):
    """Every write ages all items, even a write without claims."""

    axiom = "neutral"
    writes = 0

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.writes += 1

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99**self.writes


class Vintage(Sound):
    """The older of two claims ranks higher."""

    axiom = "newer-not-below-older"

    def factor(self, value: str, about: str, now: float) -> float:
        first = min((claim.time for claim in self.about(about)), default=now)
        return 1.0 - 0.2 * first / (first + 10.0)


class FirstFive(Sound):
    """Only the first five writers count."""

    axiom = "outvoted"

    def latest(self, about: str) -> dict[str, list[Claim]]:
        return dict(list(super().latest(about).items())[:5])


class Talkers(Sound):
    """A writer's weight is the number of its claims about any object."""

    axiom = "own-facts"

    def weight(self, claim: Claim, now: float) -> float:
        return float(Counter(item.writer for item in self.claims)[claim.writer])


class PeekLowers(Sound):
    """Each peek lowers the scores."""

    axiom = "peek"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.999**self.peeks


class Supporters(Sound):
    """A contradiction raises the leading value."""

    axiom = "polarity"

    def shares(self, about: str, now: float) -> dict[str, float]:
        shares = super().shares(about, now)
        best = max(shares.values(), default=0.0)
        return {value: min(share * len(shares), 1.0) if share == best else share for value, share in shares.items()}


class Unfindable(Sound):
    """After four ticks a read finds nothing, though a peek does."""

    axiom = "reachability"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return [] if self.ticks > 4 else super().read(query, now, limit)


class Worst(Sound):
    """A read returns the lowest value only."""

    axiom = "reachability"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return super().read(query, now, limit)[-1:]


class ReadLowers(Sound):
    """Each read lowers the scores."""

    axiom = "read-idempotence"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.99**self.reads


class HelpsTheLoser(Sound):
    """A read adds weight to the lowest value."""

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
    """Each repetition of a value lowers its score by a tenth."""

    axiom = "reinforcement"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.9 ** sum(claim.value == value for claim in self.about(about))


class Dice(Sound):
    """Scores have a random part."""

    axiom = "repeatable"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 - 0.01 * random.random()  # noqa: S311


class Inverted(Sound):
    """A claim counts less, the more confidence it states."""

    axiom = "stated"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 - 0.3 * max(claim.stated or 0.0 for claim in self.about(about) if claim.value == value)


class Shy(Sound):
    """No belief is above 0.4."""

    axiom = "success"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.4


class Expires(Sound):
    """A tick deletes claims older than 60 days."""

    axiom = "survival-floor"

    def tick(self, now: float) -> None:
        self.claims = [claim for claim in self.claims if now - claim.time < 60.0]


class BothGone(Sound):
    """A contradiction deletes both sides."""

    axiom = "total-evidence"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            has_rival = any(item.value != claim.value for item in self.about(claim.object))
            super().write([claim], now)
            if has_rival:
                self.claims = [item for item in self.claims if item.object != claim.object]


class Frozen(Records):
    """A writer's record counts only three objects, so a writer who later lies keeps a good record."""

    axiom = "track-record"

    def agreements(self, writer: str, besides: str) -> list[bool]:
        return super().agreements(writer, besides)[:3]


class FirstWins(Sound):
    """The first claim about an object is never replaced."""

    axiom = "truth-may-return"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in self.about(about)[:1]]


class PlainVote(Sound):
    """All votes have equal weight, so a tie stays a tie."""

    axiom = "truth-may-return"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim, _ in super().votes(about, now)]


class Leaks(Sound):
    """The answer about an unknown object is the latest claim about another object."""

    axiom = "unsaid"

    def about(self, name: str) -> list[Claim]:
        return super().about(name) or list(self.claims[-1:])


class Share(Sound):
    """A claim about another object lowers every belief."""

    axiom = "vacuity"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.9 + 0.1 / len({claim.object for claim in self.claims})
