"""Defects of edges: support, contradiction, derivation and succession."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.judging.axioms.planted.sound import Edged, Sound

if TYPE_CHECKING:
    from malsim.adapters import Claim


class Unmoved(Edged):
    """What was derived from a refuted source stands."""

    axiom = "derived-falls"

    def stands(self, text: str, now: float) -> float:
        return 1.0


class Selfish(Edged):
    """Any support counts, a writer's own too."""

    axiom = "self-support"

    def scores(self, about: str, now: float) -> dict[str, float]:
        backed = [edge.target for claim in self.claims for edge in claim.edges if edge.relation == "supports"]
        scores = super().scores(about, now)
        return {value: min(1.0, score + 0.02 * backed.count(f"{about} is {value}")) for value, score in scores.items()}


class DefenceHurts(Edged):
    """Whoever attacks an attacker lowers the first claim too."""

    axiom = "loop-polarity"

    def scores(self, about: str, now: float) -> dict[str, float]:
        attacks = sum(edge.relation == "contradicts" for claim in self.claims for edge in claim.edges)
        return {value: score * 0.8**attacks for value, score in super().scores(about, now).items()}


class Rings(Edged):
    """A dispute swings to and fro at each sweep."""

    axiom = "settling"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return {value: score * (1.0 if self.ticks % 2 else 0.9) for value, score in super().scores(about, now).items()}


class AttackRaises(Edged):
    """An edge raises its target, whatever it says."""

    axiom = "polarity"

    def scores(self, about: str, now: float) -> dict[str, float]:
        targets = [edge.target for claim in self.claims for edge in claim.edges]
        rivals = len({claim.value for claim in self.about(about)}) > 1
        scores = Sound.scores(self, about, now)
        return {value: 1.0 if rivals and f"{about} is {value}" in targets else item for value, item in scores.items()}


class Keeps(Edged):
    """What a writer supersedes keeps the first place."""

    axiom = "superseded"

    def scores(self, about: str, now: float) -> dict[str, float]:
        former = {edge.target for claim in self.claims for edge in claim.edges if edge.relation == "supersedes"}
        scores = super().scores(about, now)
        return {value: 0.95 if f"{about} is {value}" in former else item for value, item in scores.items()}


class StaleReplaces(Edged):
    """Any superseding claim replaces all that other writers claimed before, whichever value its writer read."""

    axiom = "no-lost-update"

    def about(self, name: str) -> list[Claim]:
        claims = super().about(name)
        latest = [claim for claim in claims if any(edge.relation == "supersedes" for edge in claim.edges)][-1:]
        return latest or claims
