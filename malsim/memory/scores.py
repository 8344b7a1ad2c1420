"""The formulas and nothing else: effective, currency, salience. Arrays in, arrays out, elementwise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bumped_salience", "currency", "decayed_salience", "effective", "source_quality", "thousandths"]

Array = NDArray[np.float64]


def effective(
    stated: Array,
    calibration: Array,
    support: Array,
    challenge: Array,
    *,
    support_ceiling: float = 0.15,
    challenge_ceiling: float = 0.60,
) -> Array:
    """What a claim is worth, always from its anchor.

    effective = clamp01(stated · calibration + support_ceiling · tanh(support) − challenge_ceiling · tanh(challenge))

    All arrays share one shape; `stated` and `calibration` lie in [0, 1], the masses are ≥ 0, and so lies the result in
    [0, 1]. Source: the published design.

    >>> one = np.ones(3)
    >>> effective(0.9 * one, one, 0 * one, np.array([0.0, 1.0, 2.0])).round(3).tolist()
    [0.9, 0.443, 0.322]
    """
    raw: Array = stated * calibration + support_ceiling * np.tanh(support) - challenge_ceiling * np.tanh(challenge)
    return np.clip(raw, 0.0, 1.0, out=raw) if isinstance(raw, np.ndarray) else np.clip(raw, 0.0, 1.0)


def currency(c0: Array, elapsed: Array, tau: Array, *, floor: float = 0.1) -> Array:
    """How current a claim still is.

    currency = floor + (c0 − floor) · exp(−Δt/τ)

    `elapsed` (Δt) and `tau` (τ) in days; an `elapsed` below 0 counts as 0; τ is an e-folding time, not a half-life.
    Source: the published design.

    >>> currency(np.ones(2), np.array([0.0, 30.0]), np.full(2, 30.0)).round(3).tolist()
    [1.0, 0.431]
    """
    decayed: Array = floor + (c0 - floor) * np.exp(-np.maximum(elapsed, 0.0) / tau)
    return decayed


def decayed_salience(seed: Array, elapsed: Array, *, floor: float = 0.05, tau: float = 30.0) -> Array:
    """How much a cell still stands out, `elapsed` days after it was last read or written.

    salience = floor + (seed − floor) · exp(−Δt/τ)

    Source: the published design, newest form.

    >>> decayed_salience(np.array([0.5]), np.array([30.0])).round(3).tolist()
    [0.216]
    """
    return currency(seed, elapsed, np.float64(tau), floor=floor)  # type: ignore[arg-type]  # a scalar broadcasts


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
    rounded: Array = np.floor(value * 1000.0 + 0.5) / 1000.0
    return rounded
