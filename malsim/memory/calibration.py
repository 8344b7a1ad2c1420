"""A writer's record, turned into the factor its claims are multiplied by: the law's own functions, by their older names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.memory.law import CALIBRATIONS, factor_of, factors

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools

__all__ = ["factor_of", "factors", "penalty"]


def penalty(stated: Array, wrong: Bools, *, form: str) -> Array:
    """What each outcome adds to its writer's mean penalty, under a form of `law.CALIBRATIONS`."""
    return CALIBRATIONS[form](stated, wrong)
