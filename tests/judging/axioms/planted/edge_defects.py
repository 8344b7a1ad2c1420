"""Test memories, each with one planted defect in its handling of edges between claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.judging.axioms.planted.sound import Edged, Sound

if TYPE_CHECKING:
    from malsim.adapters import Claim


class NeverFalls(Edged):
    """Memory that does not lower the score of a claim derived from a refuted claim."""

    axiom = "derived-falls"

    def standing(self, text: str, now: float) -> float:
        return 1.0


class FirstHopOnly(Edged):
    """Memory that lowers the scores of claims derived directly, but not indirectly, from a refuted claim."""

    axiom = "derived-falls"

    def standing(self, text: str, now: float) -> float:
        source = next((claim for claim in self.claims if claim.text == text), None)
        return Sound.shares(self, source.object, now)[source.value] if source else 1.0


class BothSidesFall(Edged):
    """Memory in which a contradiction lowers the scores of both its source and its target."""

    axiom = "edge-target"

    def grounded(self, score: float, text: str, now: float) -> float:
        return super().grounded(score, text, now) * (0.9 if self.targets(text, "contradicts") else 1.0)


class Strays(Edged):
    """Memory that redirects an edge with a missing target to the previous claim."""

    axiom = "edge-target"

    def targets(self, text: str, relation: str) -> set[str]:
        texts = [claim.text for claim in self.claims]
        before = texts[max(0, texts.index(text) - 1)] if text in texts else text
        return {target if target in texts else before for target in super().targets(text, relation)}


class DefenceHurts(Edged):
    """Memory in which every contradiction lowers the scores of all claims."""

    axiom = "loop-polarity"

    def factor(self, value: str, about: str, now: float) -> float:
        return 0.8 ** sum(edge.relation == "contradicts" for claim in self.claims for edge in claim.edges)


class StaleReplaces(Edged):
    """Memory in which a superseding claim replaces even values that its writer has never read."""

    axiom = "no-lost-update"

    def about(self, name: str) -> list[Claim]:
        claims = super().about(name)
        return [claim for claim in claims if any(edge.relation == "supersedes" for edge in claim.edges)][-1:] or claims


class AttackRaises(Edged):
    """Memory in which every edge, even a contradiction, raises the score of its target."""

    axiom = "polarity"

    def shares(self, about: str, now: float) -> dict[str, float]:
        targets = [edge.target for claim in self.claims for edge in claim.edges]
        shares = Sound.shares(self, about, now)
        raised = [value for value in shares if len(shares) > 1 and f"{about} is {value}" in targets]
        return shares | dict.fromkeys(raised, 1.0)


class Selfish(Edged):
    """Memory that counts a writer's support for the writer's own claim."""

    axiom = "self-support"

    def factor(self, value: str, about: str, now: float) -> float:
        edges = [edge for claim in self.claims for edge in claim.edges if edge.relation == "supports"]
        return 1.02 ** sum(edge.target == f"{about} is {value}" for edge in edges)


class Rings(Edged):
    """Memory whose scores alternate between two levels from tick to tick."""

    axiom = "settling"

    def factor(self, value: str, about: str, now: float) -> float:
        return 1.0 if self.ticks % 2 else 0.9


class KeepsSuperseded(Edged):
    """Memory in which a superseded value stays in the lead."""

    axiom = "superseded"

    def shares(self, about: str, now: float) -> dict[str, float]:
        former = {edge.target for claim in self.claims for edge in claim.edges if edge.relation == "supersedes"}
        shares = super().shares(about, now)
        return {value: 0.95 if f"{about} is {value}" in former else share for value, share in shares.items()}


class KeepsChallenges(Edged):
    """Memory that still counts a challenge after its writer has superseded the challenge."""

    axiom = "superseded"

    def is_superseded(self, claim: Claim) -> bool:
        return False
