"""The edges that populations' habits add to what their behaviours say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import DraftEdge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Bools
    from malsim.sim.engine.claim_schedule import DueClaims
    from malsim.sim.settings.population import Population
    from malsim.sim.writers.engine.claim_context import ClaimDraft, LatestClaims, ShownRows


class EdgePolicies:
    """Edges by habit: dispute the best rival shown, support the best agreeing row, supersede the writer's own claim.

    Claims that judge an own claim get no such edges, and a writer's own latest claim is neither disputed nor supported.
    """

    def __init__(self, populations: Sequence[Population]) -> None:
        self._disputes = _Share("disputes", [population.disputes for population in populations])
        self._supports = _Share("supports", [population.supports for population in populations])
        self._mutual = np.array([population.mutual for population in populations], dtype=bool)
        self._revises = np.array([population.revises for population in populations], dtype=bool)
        self._some_are_mutual = bool(self._mutual.any())

    def edges(self, due: DueClaims, push: ShownRows, own: LatestClaims, draft: ClaimDraft) -> list[DraftEdge]:
        edges: list[DraftEdge] = []
        others = (push.value != NONE) & (push.row != own.row[:, None])
        agrees = push.value == draft.value[:, None]
        plain = True if draft.graded is None else ~draft.graded
        if self._disputes.some:
            rival = push.pick(push.row, push.best(others & ~agrees))
            rival = np.where(self._disputes.happens(due) & plain, rival, NONE)
            if self._some_are_mutual:
                mutual = self._mutual[due.population]
                edges.append(DraftEdge("contradicts", np.where(mutual, rival, NONE), mutual=True))
                rival = np.where(mutual, NONE, rival)
            edges.append(DraftEdge("contradicts", rival))
        if self._supports.some:
            friend = push.pick(push.row, push.best(others & agrees))
            edges.append(DraftEdge("supports", np.where(self._supports.happens(due) & plain, friend, NONE)))
        revises = self._revises[due.population] & plain
        return edges + [DraftEdge("supersedes", np.where(revises, row, NONE)) for row in (own.row, *own.unsuperseded.T)]


class _Share:
    """Probability of a habit in each population; `some` is True if any population has the habit."""

    def __init__(self, habit: str, share: Sequence[float]) -> None:
        self._habit, self._share = habit, np.array(share)
        self._always = self._share == 1.0
        self._is_random = bool((~self._always & (self._share > 0.0)).any())
        self.some = bool((self._share > 0.0).any())

    def happens(self, due: DueClaims) -> Bools:
        """Return which claims follow the habit. Nothing is drawn if every probability is 0 or 1."""
        does: Bools = (
            due.uniform(self._habit) < self._share[due.population] if self._is_random else self._always[due.population]
        )
        return does
