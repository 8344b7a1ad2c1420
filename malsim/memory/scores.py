"""Numbers of a cell that no tick moves: source quality, the bump of a reading, rounding; and the law's own functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.gate.append import source_quality, thousandths
from malsim.memory.law import currency, effective
from malsim.memory.law import salience as decayed_salience

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array

__all__ = ["bumped_salience", "currency", "decayed_salience", "effective", "source_quality", "thousandths"]


def bumped_salience(seed: Array, *, bump: float = 0.2) -> Array:
    """The salience seed after the cell was expanded.

    seed' = clamp01(seed + (1 − seed) · bump)

    >>> bumped_salience(np.array([0.5])).tolist()
    [0.6]
    """
    return np.clip(seed + (1.0 - seed) * bump, 0.0, 1.0)
