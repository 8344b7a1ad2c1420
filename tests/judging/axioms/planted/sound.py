"""Small defect-free memories in plain Python, which satisfy every axiom."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query

NEWER, SURE = 0.05, 0.9  # extra weight of the newest vote; belief in an uncontested value


class Sound:
    """Memory in which each writer's latest claim by date is one vote, and newer votes count slightly more.

    A defect is a subclass with the name of the axiom that it breaks.
    """

    belief, edges, axiom = True, False, ""
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
        items = [{"id": value, "object": about, "value": value, "rank": score} for value, score in scores.items()]
        if self.belief:
            items = [{**item, "belief": item["rank"]} for item in items]
        return sorted(items, key=lambda item: -item["rank"])

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: share * self.factor(value, about, now) for value, share in self.shares(about, now).items()}

    def factor(self, value: str, about: str, now: float) -> float:
        """Return the factor that multiplies the value's score. Planted defects override this method."""
        return 1.0

    def shares(self, about: str, now: float) -> dict[str, float]:
        weights = self.weights(about, now)
        total = sum(weights.values())
        return {value: SURE * weight / total if total else 0.0 for value, weight in weights.items()}

    def weights(self, about: str, now: float) -> dict[str, float]:
        """Return the total weight of the votes for each value. The weight is 0 if no writer claims the value any more."""
        weights = dict.fromkeys([claim.value for claim in self.about(about)], 0.0)
        for claim, weight in self.votes(about, now):
            weights[claim.value] += weight
        return weights

    def votes(self, about: str, now: float) -> list[tuple[Claim, float]]:
        """Return the claims that count as votes, with their weights. A writer's simultaneous claims share one vote."""
        latest = self.latest(about)
        times = sorted({claim.time for claims in latest.values() for claim in claims})
        bonus = {time: 1.0 + NEWER * index / (len(times) * len(latest)) for index, time in enumerate(times)}
        claims = [(claim, len(claims)) for claims in latest.values() for claim in claims]
        return [(claim, self.weight(claim, now) * bonus[claim.time] / count) for claim, count in claims]

    def weight(self, claim: Claim, now: float) -> float:
        return 1.0

    def latest(self, about: str) -> dict[str, list[Claim]]:
        """Return each writer's latest claims about the object, at most one claim per value."""
        by_writer: dict[str, list[Claim]] = defaultdict(list)
        for claim in self.about(about):
            by_writer[self.writer(claim)].append(claim)
        last = {writer: max(claim.time for claim in claims) for writer, claims in by_writer.items()}
        return {
            writer: list({claim.value: claim for claim in claims if claim.time == last[writer]}.values())
            for writer, claims in by_writer.items()
        }

    def about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.object == name]

    def writer(self, claim: Claim) -> str:
        return claim.writer


class Halves(Sound):
    """Memory whose beliefs halve every six days, as declared in `half_life`."""

    half_life = 6.0

    def shares(self, about: str, now: float) -> dict[str, float]:
        newest = {claim.value: claim.time for claim in sorted(self.about(about), key=lambda claim: claim.time)}
        return {
            value: share * math.exp2(-(now - newest[value]) / self.half_life)
            for value, share in super().shares(about, now).items()
        }


class Winner(Sound):
    """Memory that returns only the leading value, or all values that tie for the lead, without a belief."""

    belief = False

    def shares(self, about: str, now: float) -> dict[str, float]:
        shares = super().shares(about, now)
        best = max(shares.values(), default=0.0)
        return {value: 1.0 for value, share in shares.items() if share == best}


class Doubts(Sound):
    """Memory that weights votes by their stated confidence and never fully believes a value."""

    def shares(self, about: str, now: float) -> dict[str, float]:
        weights = self.weights(about, now)
        return {value: weight / (sum(weights.values()) + 0.1) for value, weight in weights.items()}

    def weight(self, claim: Claim, now: float) -> float:
        return 0.8 + 0.2 * (claim.stated or 0.0)


class Edged(Sound):
    """Memory whose scores depend on edges between claims.

    A contradiction lowers its target, unless the contradiction is itself contradicted or superseded by its writer. Claims
    derived from a value fall with it.
    """

    edges = True

    def shares(self, about: str, now: float) -> dict[str, float]:
        weights = self.weights(about, now)
        total = sum(weights.values()) or 1.0
        return {value: self.grounded(SURE * weight / total, f"{about} is {value}", now) for value, weight in weights.items()}

    def grounded(self, score: float, text: str, now: float) -> float:
        """Return the score, lowered if the claim is attacked or derived from claims that are no longer believed."""
        for source in self.targets(text, "derived_from"):
            score *= self.standing(source, now)
        return score * (0.9 if self.is_attacked(text) else 1.0)

    def targets(self, text: str, relation: str) -> set[str]:
        """Return the targets of all edges with this relation that start at claims with this text."""
        edges = [edge for claim in self.claims if claim.text == text for edge in claim.edges]
        return {edge.target for edge in edges if edge.relation == relation}

    def is_attacked(self, text: str) -> bool:
        against = [claim for claim in self.claims if text in self.targets(claim.text, "contradicts") and claim.text != text]
        return any(not self.is_superseded(claim) and not self.is_attacked(claim.text) for claim in against)

    def is_superseded(self, claim: Claim) -> bool:
        later = [item for item in self.claims if item.writer == claim.writer and item.time > claim.time]
        return any(claim.text in self.targets(item.text, "supersedes") for item in later)

    def standing(self, text: str, now: float) -> float:
        """Return the belief in the claim with this text, divided by the belief in an uncontested claim."""
        source = next((claim for claim in self.claims if claim.text == text), None)
        return self.scores(source.object, now)[source.value] / SURE if source else 1.0


class Records(Sound):
    """Memory that weights each vote by how often its writer agreed with the majority about other objects."""

    def weight(self, claim: Claim, now: float) -> float:
        agreements = self.agreements(claim.writer, claim.object)
        return (2.0 + sum(agreements)) / (4.0 + len(agreements))

    def agreements(self, writer: str, besides: str) -> list[bool]:
        """Return, per other object that the writer claims, whether the writer agrees with the other writers' majority."""
        agreements = []
        objects = [claim.object for claim in self.claims if claim.writer == writer and claim.object != besides]
        for name in dict.fromkeys(objects):
            latest = self.latest(name)
            values = [claim.value for claim in latest.pop(writer)]
            votes = Counter(claim.value for claims in latest.values() for claim in claims).most_common(2)
            if votes and (len(votes) == 1 or votes[0][1] > votes[1][1]):
                agreements.append(votes[0][0] in values)
        return agreements
