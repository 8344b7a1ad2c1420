"""Defects of number: sums, scales, caps, ties and signs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.judging.axioms.planted.sound import SURE, Sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim


class AboveOne(Sound):
    """Three voices of one mind are believed at 1.2."""

    axiom = "bounds"

    def scores(self, about: str, now: float) -> dict[str, float]:
        voices = Counter(claim.value for claim, _ in self.votes(about, now))
        return {value: score + 0.15 * max(voices[value] - 1, 0) for value, score in super().scores(about, now).items()}


class BelowZero(Sound):
    """Every voice against it takes off a third."""

    axiom = "bounds"

    def scores(self, about: str, now: float) -> dict[str, float]:
        voices = Counter(claim.value for claim, _ in self.votes(about, now))
        return {value: SURE - 0.33 * (sum(voices.values()) - voices[value]) for value in super().scores(about, now)}


class Certain(Sound):
    """What is stated as certain has infinite odds."""

    axiom = "bounds"

    def scores(self, about: str, now: float) -> dict[str, float]:
        sure = {claim.value for claim in self.about(about) if claim.stated == 1.0}
        return {value: float("inf") if value in sure else score for value, score in super().scores(about, now).items()}


class AllBelieved(Sound):
    """Two rivals share a belief; of three or more each is believed at .7."""

    axiom = "consistency"

    def scores(self, about: str, now: float) -> dict[str, float]:
        scores = super().scores(about, now)
        return scores if len(scores) < 3 else dict.fromkeys(scores, 0.7)


class TiesBelieved(Sound):
    """Rivals of one instant are each believed."""

    axiom = "consistency"

    def scores(self, about: str, now: float) -> dict[str, float]:
        scores, times = super().scores(about, now), {claim.time for claim in self.about(about)}
        return dict.fromkeys(scores, 0.8) if len(times) == 1 else scores


class Addition(Sound):
    """Beliefs rise by what is stated, a rival lowers nothing."""

    axiom = "consistency"

    def scores(self, about: str, now: float) -> dict[str, float]:
        votes = Counter(claim.value for claim, _ in self.votes(about, now))
        return {value: 1.0 - 0.3 ** votes[value] for value in super().scores(about, now)}


class Shy(Sound):
    """Nothing is believed above .4."""

    axiom = "success"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: 0.4 * score for value, score in super().scores(about, now).items()}


class Crowded(Sound):
    """What all agree on is doubted: a crowd of six halves it."""

    axiom = "success"

    def scores(self, about: str, now: float) -> dict[str, float]:
        scores, voices = super().scores(about, now), len(self.last_words(about))
        return {value: score * (0.5 if voices > 5 and len(scores) == 1 else 1.0) for value, score in scores.items()}


class Tired(Sound):
    """Every repetition takes a tenth off."""

    axiom = "reinforcement"

    def scores(self, about: str, now: float) -> dict[str, float]:
        times = Counter(claim.value for claim in self.about(about))
        return {value: score * 0.9 ** (times[value] - 1) for value, score in super().scores(about, now).items()}


class Negative(Sound):
    """A second voice beside a rival counts against what it says."""

    axiom = "reinforcement"

    def scores(self, about: str, now: float) -> dict[str, float]:
        scores, voices = super().scores(about, now), Counter(claim.value for claim, _ in self.votes(about, now))
        return {value: score * (0.5 if voices[value] > 1 and len(scores) > 1 else 1.0) for value, score in scores.items()}


class Supporters(Sound):
    """A contradiction counts as interest in the thing."""

    axiom = "polarity"

    def scores(self, about: str, now: float) -> dict[str, float]:
        scores = super().scores(about, now)
        leader = max(scores.values(), default=0.0)
        return {value: min(score * len(scores), 1.0) if score == leader else score for value, score in scores.items()}


class Inverted(Sound):
    """The more confident, the less it counts."""

    axiom = "stated"

    def scores(self, about: str, now: float) -> dict[str, float]:
        doubt = {claim.value: 1.0 - 0.3 * (claim.stated or 0.0) for claim in self.about(about)}
        return {value: score * doubt[value] for value, score in super().scores(about, now).items()}


class ZeroIsUnstated(Sound):
    """A claim stated at 0 counts as one that states nothing."""

    axiom = "stated"

    def weight(self, claim: Claim, now: float) -> float:
        return claim.stated or 1.0


class CrowdAboveOne(Sound):
    """Twenty voices of one mind are believed above 1."""

    axiom = "bounds"

    def scores(self, about: str, now: float) -> dict[str, float]:
        more = 1.3 if len(self.about(about)) >= 20 else 1.0
        return {value: more * score for value, score in super().scores(about, now).items()}


class Duplicates(Sound):
    """A claim that is delivered twice has two votes of the writer's."""

    axiom = "delivered-twice"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        copies = Counter(map(str, self.about(about)))
        return [(claim, weight + 0.01 * copies[str(claim)]) for claim, weight in super().votes(about, now)]

    def scores(self, about: str, now: float) -> dict[str, float]:
        copies = max(Counter(map(str, self.about(about))).values(), default=1)
        return {value: min(score + 0.01 * (copies - 1), 1.0) for value, score in super().scores(about, now).items()}


class TwoValues(Sound):
    """A third value of one thing is not taken."""

    axiom = "last-word"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            values = {item.value for item in self.about(claim.object)}
            if len(values | {claim.value}) <= 2:
                super().write([claim], now)


class TenClaims(Sound):
    """Of one thing the first ten claims are kept."""

    axiom = "last-word"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            if len(self.about(claim.object)) < 10:
                super().write([claim], now)


class Share(Sound):
    """A belief is a share of all that is known, so that whatever is learnt lowers the rest."""

    axiom = "vacuity"

    def scores(self, about: str, now: float) -> dict[str, float]:
        things = len({claim.object for claim in self.claims})
        return {value: score * (0.9 + 0.1 / things) for value, score in super().scores(about, now).items()}
