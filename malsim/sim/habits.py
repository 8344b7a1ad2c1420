"""The edges that populations' habits add to what their behaviours say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import NONE
from malsim.sim.occasion import Edge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.sim.occasion import Array, Bools, Own, Said, Seen
    from malsim.sim.populations import Population
    from malsim.sim.roster import Wake

__all__ = ["Habits"]


class Habits:
    """A dispute with the best rival shown, a support of the best that agrees, a revision of the writer's own.

    Claims that judge the writer's own get none of them; nobody disputes or supports its own latest so.
    """

    def __init__(self, populations: Sequence[Population]) -> None:
        self._disputes = np.array([population.disputes for population in populations])
        self._supports = np.array([population.supports for population in populations])
        self._mutual = np.array([population.mutual for population in populations], dtype=bool)
        self._revises = np.array([population.revises for population in populations], dtype=bool)

    def edges(self, wake: Wake, seen: Seen, own: Own, said: Said) -> list[Edge]:
        """The edges of claims of any of the populations."""
        edges: list[Edge] = []
        known = (seen.value != NONE) & (seen.row != own.row[:, None])
        agrees = seen.value == said.value[:, None]
        plain = True if said.graded is None else ~said.graded
        disputes, supports = self._disputes[wake.crowd], self._supports[wake.crowd]
        if disputes.any():
            rival = seen.pick(seen.row, seen.best(known & ~agrees))
            rival = np.where(_happens(disputes, "disputes", wake) & plain, rival, NONE)
            mutual = self._mutual[wake.crowd]
            edges.append(Edge("contradicts", np.where(mutual, NONE, rival)))
            edges.append(Edge("contradicts", np.where(mutual, rival, NONE), mutual=True))
        if supports.any():
            friend = seen.pick(seen.row, seen.best(known & agrees))
            edges.append(Edge("supports", np.where(_happens(supports, "supports", wake) & plain, friend, NONE)))
        revises = self._revises[wake.crowd] & plain
        return edges + [Edge("supersedes", np.where(revises, row, NONE)) for row in (own.row, *own.loose.T)]


def _happens(share: Array, purpose: str, wake: Wake) -> Bools:
    """Whether what has the probability `share` happens at each claim; where all is certain either way nothing is drawn."""
    certain: Bools = (share == 0.0) | (share == 1.0)
    return share == 1.0 if certain.all() else wake.drawn(purpose) < share
