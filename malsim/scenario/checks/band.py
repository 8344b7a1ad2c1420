"""Tolerances of a recorded column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = {
    "cells": ("rep", "cell"),
    "signals": ("rep", "row", "signal"),
    "writers": ("rep", "writer"),
    "events": ("rep", "kind", "subject"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Tolerance of a column: a value v is inside if |v − b| ≤ absolute + relative · |b|, with b the recorded value.

    Words, bits and events must be equal to what was recorded. Both tolerances are 0 or more; `absolute` is in the column's
    unit. The default of `relative` covers the nine digits of a baseline.
    """

    absolute: float = 0.0
    relative: float = 1e-8

    def __post_init__(self) -> None:
        for name in ("absolute", "relative"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ScenarioError("a tolerance is 0 or more", where=name, given=getattr(self, name), hint="write 0.01")


def band_of(bands: Mapping[str, Band], frame: str, column: str, signal: str = "") -> Band:
    """Return the most specific band: of the signal, of the frame's column, of the column, or of all else (`*`)."""
    return next((bands[key] for key in (signal, f"{frame}.{column}", column, "*") if key in bands), Band())
