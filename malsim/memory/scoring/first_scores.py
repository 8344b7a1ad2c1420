"""Numbers of a cell that no tick moves: source quality, the bump of a reading, rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array

__all__ = ["bumped_salience", "source_quality", "thousandths"]


def bumped_salience(seed: Array, *, bump: float = 0.2) -> Array:
    """The salience seed after the cell was expanded.

    seed' = clamp01(seed + (1 − seed) · bump)

    >>> bumped_salience(np.array([0.5])).tolist()
    [0.6]
    """
    return np.clip(seed + (1.0 - seed) * bump, 0.0, 1.0)


def source_quality(stated: Array) -> Array:
    """A claim's source quality by its stated confidence: 1 from .8 on, .66 from .5 on, else .33.

    >>> source_quality(np.array([0.8, 0.5, 0.49])).tolist()
    [1.0, 0.66, 0.33]
    """
    return np.where(stated >= 0.8, 1.0, np.where(stated >= 0.5, 0.66, 0.33))  # noqa: PLR2004  # the published steps


def thousandths(value: Array) -> Array:
    """Rounded to three decimals, halves upwards, as the reference rounds.

    >>> thousandths(np.array([0.0625, 0.1005])).tolist()
    [0.063, 0.101]
    """
    nearest: Array = np.floor(value * 1000.0 + 0.5) / 1000.0
    return nearest
