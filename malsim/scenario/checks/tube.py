"""How far a series may be from its baseline, in value and in time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError
from malsim.sim.world.clock import span

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = {
    "cells": ("rep", "cell"),
    "signals": ("rep", "row", "signal"),
    "writers": ("rep", "writer"),
    "events": ("rep", "kind", "subject"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tube:
    """How far a column may be from its baseline.

    A value v at time t is inside if min b − tol ≤ v ≤ max b + tol over the baseline's values b from t − lag to t + lead,
    with tol = absolute + relative · |b|; and, the other way round, each baseline value must be met by the run. Words,
    truth values and events must be equal to one of those in that time.

    Parameters
    ----------
    absolute
        In the column's unit, 0 or more.
    relative
        A share of the baseline's value, 0 or more; the default covers the nine digits of a baseline.
    lead, lag
        How much earlier or later than the baseline the run may be: durations such as `2d`.
    """

    absolute: float = 0.0
    relative: float = 1e-8
    lead: str = "0s"
    lag: str = "0s"

    def __post_init__(self) -> None:
        for name in ("absolute", "relative"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ScenarioError("a tolerance is 0 or more", where=name, given=getattr(self, name), hint="write 0.01")
        for name in ("lead", "lag"):
            span(getattr(self, name), where=name)

    @property
    def ahead(self) -> int:
        """The lead in milliseconds."""
        return span(self.lead)

    @property
    def behind(self) -> int:
        """The lag in milliseconds."""
        return span(self.lag)


def tube_of(tubes: Mapping[str, Tube], name: str, column: str, series: Mapping[str, Any]) -> Tube:
    """The narrowest tube said: of the signal or the kind of event, the frame's column, the column, the rest."""
    own = series.get("signal", series.get("kind", ""))
    for key in (own, f"{name}.{column}", column, name, "*"):
        if key in tubes:
            return tubes[key]
    return Tube()
