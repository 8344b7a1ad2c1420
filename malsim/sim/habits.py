"""The edges that a population's habits add to what its behaviour says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.index import NONE
from malsim.sim.occasion import Edge

if TYPE_CHECKING:
    from malsim.sim.occasion import Bools, Occasion, Said
    from malsim.sim.populations import Population

__all__ = ["habitual"]


def habitual(population: Population, occasion: Occasion, said: Said, plain: Bools) -> list[Edge]:
    """A dispute with the best rival shown, a support of the best that agrees, a revision of the writer's own.

    Only `plain` claims, not those that judge the writer's own, get them; nobody disputes or supports its own latest so.
    """
    seen, own, edges = occasion.seen, occasion.own, []
    known = (seen.value != NONE) & (seen.row != own.row[:, None])
    agrees = seen.value == said.value[:, None]
    if population.disputes:
        rival = seen.pick(seen.row, seen.best(known & ~agrees))
        chosen = occasion.happens(population.disputes, "disputes") & plain
        edges.append(Edge("contradicts", np.where(chosen, rival, NONE), mutual=population.mutual))
    if population.supports:
        friend = seen.pick(seen.row, seen.best(known & agrees))
        chosen = occasion.happens(population.supports, "supports") & plain
        edges.append(Edge("supports", np.where(chosen, friend, NONE)))
    if population.revises:
        edges += [Edge("supersedes", np.where(plain, row, NONE)) for row in (own.row, *own.loose.T)]
    return edges
