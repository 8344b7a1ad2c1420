"""Children of differential evolution in the unit cube."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools

SCALE = 0.6


def children(parents: Array, leaders: Array, first: Array, second: Array, mask: Bools, *, pull: float) -> Array:
    """Return children of `parents`: v = x + pull (leader − x) + 0.6 (first − second), taken over where `mask` is True.

    All arguments have the shape of the parents, of which the last axis has the coordinates. Coordinates beyond a wall of
    the cube are reflected at it. Source: Storn and Price, 1997.

    >>> children(*np.array([[0.5], [0.9], [0.8], [0.2]]), np.array([True]), pull=0.5).round(2).tolist()
    [0.94]
    """
    mutants = parents + pull * (leaders - parents) + SCALE * (first - second)
    return reflected(np.where(mask, mutants, parents))


def reflected(points: Array) -> Array:
    """Reflect coordinates into [0, 1]."""
    inside: Array = np.abs((points + 1.0) % 2.0 - 1.0)
    return inside
