"""Small sound memories in plain Python: no axiom finds anything in them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query

__all__ = ["SURE", "Doubts", "Edged", "Halves", "Records", "Sound", "Winner"]

NEWER, SURE = 0.05, 0.9  # what the newest of all votes counts more, and the belief of a value that nobody contests


class Sound:
    """Each writer's last word, by the claims' own times, is a vote; of as many votes the newer count a little more."""

    belief, edges = True, False
    claims: Sequence[Claim]

    def __init__(self) -> None:
        self.claims = []
        self.ticks = self.reads = self.peeks = 0

    def write(self, claims: Sequence[Claim], now: float) -> None:
        self.claims = [*self.claims, *claims]

    def tick(self, now: float) -> None:
        self.ticks += 1

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.reads += 1
        return self.items(query.object, now)[:limit]

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.peeks += 1
        return self.items(query.object, now)[:limit]

    def items(self, about: str, now: float) -> list[dict[str, Any]]:
        scores = self.scores(about, now)
        items = [{"id": entry, "object": about, "value": entry, "rank": score} for entry, score in scores.items()]
        if self.belief:
            items = [{**item, "belief": item["rank"]} for item in items]
        return sorted(items, key=lambda item: -item["rank"])

    def scores(self, about: str, now: float) -> dict[str, float]:
        """The score of each value that somebody gave, the share of the votes' weight."""
        weights = self.weights(about, now)
        total = sum(weights.values())
        return {value: SURE * weight / total if total else 0.0 for value, weight in weights.items()}

    def weights(self, about: str, now: float) -> dict[str, float]:
        """The weight of the votes for each value; of a former value, 0."""
        weights = dict.fromkeys([claim.value for claim in self.about(about)], 0.0)
        for claim, weight in self.votes(about, now):
            weights[claim.value] += weight
        return weights

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        """Claims that count, and for how much; a writer's several words of one instant share its vote."""
        words = self.last_words(about)
        times = sorted({claim.time for claims in words.values() for claim in claims})
        return [
            (claim, self.weight(claim, now) * (1.0 + NEWER * times.index(claim.time) / (len(times) * len(words))) / len(own))
            for own in words.values()
            for claim in own
        ]

    def weight(self, claim: Claim, now: float) -> float:
        return 1.0

    def last_words(self, about: str) -> dict[str, list[Claim]]:
        """What each writer said last, a value once."""
        own: dict[str, list[Claim]] = defaultdict(list)
        for claim in self.about(about):
            own[self.writer(claim)].append(claim)
        return {
            writer: list(
                {entry.value: entry for entry in claims if entry.time == max(item.time for item in claims)}.values()
            )
            for writer, claims in own.items()
        }

    def about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.object == name]

    def writer(self, claim: Claim) -> str:
        return claim.writer


class Halves(Sound):
    """What it believes halves in six days, as it declares."""

    half_life = 6.0

    def scores(self, about: str, now: float) -> dict[str, float]:
        newest = {claim.value: claim.time for claim in sorted(self.about(about), key=lambda claim: claim.time)}
        return {
            value: score * math.exp2(-(now - newest[value]) / self.half_life)
            for value, score in super().scores(about, now).items()
        }


class Winner(Sound):
    """It ranks and does not believe: the winner, whatever is level with it, and nothing else."""

    belief = False

    def scores(self, about: str, now: float) -> dict[str, float]:
        scores = super().scores(about, now)
        best = max(scores.values(), default=0.0)
        return {value: 1.0 for value, score in scores.items() if score == best}


class Doubts(Sound):
    """A vote counts as much as it is stated, and beside all stands a little doubt."""

    def scores(self, about: str, now: float) -> dict[str, float]:
        weights = self.weights(about, now)
        return {value: weight / (sum(weights.values()) + 0.1) for value, weight in weights.items()}

    def weight(self, claim: Claim, now: float) -> float:
        return 0.8 + 0.2 * (claim.stated or 0.0)


class Edged(Sound):
    """It reads edges.

    What a claim contradicts that nothing contradicts falls a little, and what was derived from a value falls with it.
    What its own writer superseded contradicts nothing.
    """

    edges = True

    def scores(self, about: str, now: float) -> dict[str, float]:
        weights = self.weights(about, now)
        total = sum(weights.values()) or 1.0
        return {value: self.grounded(SURE * weight / total, f"{about} is {value}", now) for value, weight in weights.items()}

    def grounded(self, score: float, text: str, now: float) -> float:
        """A score, less where the text is attacked and where what it was derived from does not stand."""
        for source in self.targets(text, "derived_from"):
            score *= self.stands(source, now)
        return score * (0.9 if self.is_attacked(text) else 1.0)

    def targets(self, text: str, relation: str) -> set[str]:
        """What claims of this text are related to so."""
        return {
            edge.target for claim in self.claims if claim.text == text for edge in claim.edges if edge.relation == relation
        }

    def is_attacked(self, text: str) -> bool:
        """Whether a claim that is not attacked itself, nor superseded by its writer, contradicts this text."""
        against = [claim for claim in self.claims if text in self.targets(claim.text, "contradicts") and claim.text != text]
        return any(not self.is_superseded(claim) and not self.is_attacked(claim.text) for claim in against)

    def is_superseded(self, claim: Claim) -> bool:
        later = [item for item in self.claims if item.writer == claim.writer and item.time > claim.time]
        return any(claim.text in self.targets(item.text, "supersedes") for item in later)

    def stands(self, text: str, now: float) -> float:
        """How a claim of this text stands; 1 where nothing contests it."""
        source = next((claim for claim in self.claims if claim.text == text), None)
        return self.scores(source.object, now)[source.value] / SURE if source else 1.0


class Records(Sound):
    """A vote counts more the more often its writer agreed, on other things, with what most of the others say of them."""

    def weight(self, claim: Claim, now: float) -> float:
        judged = self.judged(claim.writer, claim.object)
        return (2.0 + sum(judged)) / (4.0 + len(judged))

    def judged(self, writer: str, besides: str) -> list[bool]:
        """Whether a writer agrees with the others, of each other thing where most of them agree, in order."""
        found = []
        for name in dict.fromkeys(
            claim.object for claim in self.claims if claim.writer == writer and claim.object != besides
        ):
            words = self.last_words(name)
            own = [claim.value for claim in words.pop(writer)]
            value = Counter(claim.value for claims in words.values() for claim in claims).most_common(2)
            if value and (len(value) == 1 or value[0][1] > value[1][1]):
                found.append(value[0][0] in own)
        return found
