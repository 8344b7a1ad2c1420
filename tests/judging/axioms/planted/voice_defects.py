"""Defects of identity: who is one voice, what is one thing, and what they are called."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.judging.axioms.planted.sound import Sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim


class CountsClaims(Sound):
    """Every claim is a vote, whoever repeats it."""

    axiom = "echo-independence"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in self.about(about)]


class OneVoice(Sound):
    """All writers are one: the last word is everybody's."""

    axiom = "echo-independence"

    def writer(self, claim: Claim) -> str:
        return "all"


class Unwithdrawn(Sound):
    """A writer's former word keeps its vote."""

    axiom = "last-word"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        return [(claim, 1.0) for claim in {(claim.writer, claim.value): claim for claim in self.about(about)}.values()]


class Initials(Sound):
    """Writers are known by the first six letters."""

    axiom = "names"

    def writer(self, claim: Claim) -> str:
        return claim.writer[:6]


class LongNames(Sound):
    """Writers' names are cut to thirty letters."""

    axiom = "names"

    def writer(self, claim: Claim) -> str:
        return claim.writer[:30]


class NothingAgrees(Sound):
    """A value called none or null agrees with whatever leads."""

    axiom = "names"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            scores = self.scores(claim.object, now)
            leader = max(scores, key=lambda value: scores[value], default=claim.value)
            super().write([replace(claim, value=leader) if claim.value in {"none", "null"} else claim], now)


class WritersFolded(Sound):
    """A writer's name is read without regard to case."""

    axiom = "names"

    def writer(self, claim: Claim) -> str:
        return claim.writer.lower()


class ValuesFolded(Sound):
    """Values are written in small letters."""

    axiom = "unsaid"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write([replace(claim, value=claim.value.lower()) for claim in claims], now)


class ThingsFolded(Sound):
    """Things are known without regard to case."""

    axiom = "names"

    def about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.object.lower() == name.lower()]


class ThingsByPrefix(Sound):
    """A thing is whatever begins with its name."""

    axiom = "names"

    def about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.object.startswith(name)]


class SameNumber(Sound):
    """Values that are the same number are the same value."""

    axiom = "names"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        texts = [f"{float(item.value):g}" if item.value.replace(".", "").isdigit() else item.value for item in claims]
        super().write([replace(claim, value=text) for claim, text in zip(claims, texts, strict=True)], now)


class Alphabetical(Sound):
    """A value earlier in the alphabet counts a little more."""

    axiom = "names"

    def scores(self, about: str, now: float) -> dict[str, float]:
        scores = super().scores(about, now)
        return {value: score * (1.0 if value == min(scores) else 0.97) for value, score in scores.items()}


class Favourite(Sound):
    """One writer counts twice because of its name."""

    axiom = "names"

    def weight(self, claim: Claim, now: float) -> float:
        return 2.0 if claim.writer == "ann" else 1.0


class FirstFive(Sound):
    """After five writers nobody else is heard."""

    axiom = "outvoted"

    def last_words(self, about: str) -> dict[str, list[Claim]]:
        return dict(list(super().last_words(about).items())[:5])


class Founder(Sound):
    """Who spoke first counts as much as three."""

    axiom = "outvoted"

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        first = self.about(about)[:1]
        return [
            (claim, weight * (3.0 if first and claim.writer == first[0].writer else 1.0))
            for claim, weight in super().votes(about, now)
        ]


class Talkers(Sound):
    """A writer counts by how much it talks, about whatever."""

    axiom = "own-facts"

    def weight(self, claim: Claim, now: float) -> float:
        return float(Counter(item.writer for item in self.claims)[claim.writer])


class Everywhere(Sound):
    """A rival is whoever gives another value to anything."""

    axiom = "locality"

    def scores(self, about: str, now: float) -> dict[str, float]:
        others = {claim.value for claim in self.claims if claim.object != about}
        return {value: score * (0.5 if others - {value} else 1.0) for value, score in super().scores(about, now).items()}


class Leaks(Sound):
    """Of what it does not know it says what it knows of another thing."""

    axiom = "unsaid"

    def about(self, name: str) -> list[Claim]:
        return super().about(name) or list(self.claims[-1:])


class Shared(Sound):
    """Two memories count on one list."""

    axiom = "repeatable"
    everywhere: list[Claim] = []  # noqa: RUF012  # the defect

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.everywhere.extend(claims)

    def weight(self, claim: Claim, now: float) -> float:
        same = sum(item.object == claim.object and item.value == claim.value for item in self.everywhere)
        return super().weight(claim, now) * (1.0 + 0.1 * same)

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: score / (1.0 + 1e-6 * len(self.everywhere)) for value, score in super().scores(about, now).items()}


class FourthVoiceSilences(Sound):
    """Once four writers have spoken, every belief is 0."""

    axiom = "further-voice"

    def scores(self, about: str, now: float) -> dict[str, float]:
        crowd = len({claim.writer for claim in self.claims}) > 3
        return {value: 0.0 if crowd else score for value, score in super().scores(about, now).items()}


class SaturatedVotes(Sound):
    """Votes are counted in three bits, so the eighth agreeing writer starts again from 0."""

    axiom = "further-voice"

    def scores(self, about: str, now: float) -> dict[str, float]:
        voices = {value: len({claim.writer for claim in self.about(about) if claim.value == value}) for value in "ABC"}
        return {value: score if voices.get(value, 1) % 8 else 0.0 for value, score in super().scores(about, now).items()}
