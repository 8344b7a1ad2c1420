"""Defects of edges, by writers who had not seen the axioms; the axioms of that day missed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.judging.axioms.planted.sound import Edged, Sound

if TYPE_CHECKING:
    from malsim.adapters import Claim


class BothSidesFall(Edged):
    """A contradiction lowers who makes it as well as its target."""

    axiom = "edge-target"

    def grounded(self, score: float, text: str, now: float) -> float:
        return super().grounded(score, text, now) * (0.9 if self.targets(text, "contradicts") else 1.0)


class Spills(Edged):
    """A contradiction is held against every value of its target's thing."""

    axiom = "edge-target"

    def grounded(self, score: float, text: str, now: float) -> float:
        about = {claim.object for claim in self.claims if claim.text == text}
        spilt = any(self.is_attacked(claim.text) for claim in self.claims if claim.object in about)
        return super().grounded(score, text, now) * (0.9 if spilt else 1.0)


class Strays(Edged):
    """An edge to what is not there hits the claim that came before it."""

    axiom = "edge-target"

    def targets(self, text: str, relation: str) -> set[str]:
        texts = [claim.text for claim in self.claims]
        before = texts[max(0, texts.index(text) - 1)] if text in texts else text
        return {target if target in texts else before for target in super().targets(text, relation)}


class ByPrefix(Edged):
    """An edge hits each claim whose text begins like its target."""

    axiom = "edge-target"

    def targets(self, text: str, relation: str) -> set[str]:
        named = super().targets(text, relation)
        return {claim.text for claim in self.claims if any(claim.text.startswith(target) for target in named)}


class EachEdge(Edged):
    """Every contradiction counts anew, a delivery of the same one too."""

    axiom = "delivered-twice"

    def grounded(self, score: float, text: str, now: float) -> float:
        edges = [edge.target for claim in self.claims for edge in claim.edges if edge.relation == "contradicts"]
        return super().grounded(score, text, now) * 0.9 ** edges.count(text)


class FirstHopOnly(Edged):
    """What was derived from a refuted claim falls, and what was derived from that stands."""

    axiom = "derived-falls"

    def stands(self, text: str, now: float) -> float:
        source = next((claim for claim in self.claims if claim.text == text), None)
        return Sound.scores(self, source.object, now)[source.value] if source else 1.0


class NeverTakenBack(Edged):
    """A challenge counts on after its writer superseded it."""

    axiom = "superseded"

    def is_superseded(self, claim: Claim) -> bool:
        return False


class SupportAdds(Edged):
    """Supporters raise a value without bound."""

    axiom = "bounds"

    def grounded(self, score: float, text: str, now: float) -> float:
        backed = sum(text in self.targets(claim.text, "supports") for claim in self.claims)
        return super().grounded(score, text, now) + 0.05 * backed


class Tombstones(Edged):
    """A value that was superseded once stays dead, whoever says it again."""

    axiom = "superseded"

    def grounded(self, score: float, text: str, now: float) -> float:
        dead = any(text in self.targets(claim.text, "supersedes") for claim in self.claims)
        return 0.0 if dead else super().grounded(score, text, now)


class ByValue(Edged):
    """An edge hits the value of its target, of whatever thing it is."""

    axiom = "edge-target"

    def targets(self, text: str, relation: str) -> set[str]:
        named = super().targets(text, relation)
        values = {claim.value for claim in self.claims if claim.text in named}
        return {claim.text for claim in self.claims if claim.value in values and claim.text != text}
