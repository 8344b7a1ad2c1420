"""Defects of order and time: who came first, who came last, and when."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.judging.axioms.planted.sound import Halves, Sound, Winner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim


class LastWins(Winner):
    """The newest claim wins, whoever says it."""

    axiom = "echo-independence"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        claims = self.about(about)
        newest = max((claim.time for claim in claims), default=0.0)
        return [(claim, 1.0) for claim in claims if claim.time == newest]


class FirstWins(Sound):
    """What was said first stays, whatever is said later."""

    axiom = "truth-may-return"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in self.about(about)[:1]]


class PlainVote(Sound):
    """Last words are counted, and a tie stays a tie for ever."""

    axiom = "truth-may-return"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim, _ in super().votes(about, now)]


class Arrival(Sound):
    """Later is what arrives later, whatever its time."""

    axiom = "late-arrival"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        count = len(self.claims)
        super().write([replace(claim, time=float(count + index)) for index, claim in enumerate(claims)], now)


class CallOrder(Sound):
    """Of claims of one instant the last of the call counts a little more."""

    axiom = "batching"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        last = self.claims[-1:]
        return [(claim, weight * (1.1 if claim in last else 1.0)) for claim, weight in super().votes(about, now)]


class OneACall(Sound):
    """Of several claims in one call the first is kept."""

    axiom = "batching"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims[:1], now)


class WholeDays(Sound):
    """Times are cut to whole days; within a day the last to arrive wins."""

    axiom = "late-arrival"

    def last_words(self, about: str) -> dict[str, list[Claim]]:
        words: dict[str, list[Claim]] = {}
        for claim in self.about(about):
            if claim.writer not in words or int(claim.time) >= int(words[claim.writer][0].time):
                words[claim.writer] = [claim]
        return words


class NeverReturns(Sound):
    """What was said once is not taken again."""

    axiom = "truth-may-return"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        earlier = {(claim.writer, claim.object, claim.value) for claim in self.claims}
        super().write([item for item in claims if (item.writer, item.object, item.value) not in earlier], now)


class Locked(Sound):
    """What three writers say is locked."""

    axiom = "truth-may-return"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        voices: dict[str, set[str]] = {}
        for claim in self.about(about):
            voices.setdefault(claim.value, set()).add(claim.writer)
            if len(voices[claim.value]) >= 3:
                return [(claim, 1.0)]
        return super().votes(about, now)


class Weekdays(Sound):
    """At the week's end nothing counts for much."""

    axiom = "calendar"

    def scores(self, about: str, now: float) -> dict[str, float]:
        worth = 1.0 if now % 7.0 < 5.0 else 0.9
        return {value: worth * score for value, score in super().scores(about, now).items()}


class Epoch(Sound):
    """Later claims count more by the calendar's date, so that a claim's worth hangs on the epoch."""

    axiom = "calendar"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: score * (0.9 + 0.1 / (1.0 + abs(now))) for value, score in super().scores(about, now).items()}


class Ripens(Sound):
    """The older, the surer."""

    axiom = "monotone-age"

    def scores(self, about: str, now: float) -> dict[str, float]:
        first = min((claim.time for claim in self.about(about)), default=now)
        worth = 0.8 + 0.2 * (now - first) / (now - first + 100.0)
        return {value: worth * score for value, score in super().scores(about, now).items()}


class Vintage(Sound):
    """Of two claims the older ranks higher."""

    axiom = "newer-not-below-older"

    def scores(self, about: str, now: float) -> dict[str, float]:
        first = min((claim.time for claim in self.about(about)), default=now)
        worth = 1.0 - 0.2 * first / (first + 10.0)
        return {value: worth * score for value, score in super().scores(about, now).items()}


class EFolding(Halves):
    """The half-life that it declares is an e-folding time."""

    axiom = "half-life-halves"

    def scores(self, about: str, now: float) -> dict[str, float]:
        aged: dict[str, Any] = super().scores(about, now)
        return {value: (score / 0.9) ** 1.4427 * 0.9 if score else 0.0 for value, score in aged.items()}
