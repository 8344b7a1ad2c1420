"""One number of a run for each replication, by the name of a figure, by a property's margin, or by a function."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from malsim.errors import MalsimError, UsageError
from malsim.scenario.properties import Property
from malsim.sim.metrics import METRICS, by_replication

if TYPE_CHECKING:
    from malsim.sim.run import Run

__all__ = ["Measure", "interval", "is_better_high", "measured"]

Array: TypeAlias = NDArray[np.float64]
Measure: TypeAlias = "str | Callable[[Run], Array | float]"

_HIGH = ("accuracy", "answered", "auc", "auc_stated", "acted_share", "lessons_written", "grounded_share")


def measured(run: Run, measure: Measure) -> Array:
    """The measure of every replication of a run, shape (replications,); NaN where a replication has none.

    `measure` is the name of a figure of `run.metrics()`, the text of a property (its margin), or a function from the run
    to one number or one a replication. Raises `UsageError` for a name the run has no figure of.
    """
    if callable(measure):
        values = np.atleast_1d(np.asarray(measure(run), dtype=np.float64))
        if values.ndim != 1:
            raise UsageError("a measure gives one number a replication", where="metric", given=f"shape {values.shape}")
        return values
    found = by_replication(run)
    if measure in found:
        return found[measure]
    if measure in METRICS:
        hint = "add [[facts]] and [[writers]] to score against truth, [reader] for its ledger"
        raise UsageError("this run has no such figure", where="metric", given=measure, allowed=", ".join(found), hint=hint)
    try:
        wanted = Property(measure)
    except MalsimError as error:
        near = get_close_matches(measure, METRICS, n=2) or list(found)[:5]
        raise UsageError(
            "neither a figure nor a property", where="metric", given=measure, hint=f"try {' or '.join(near)}; {error.problem}"
        ) from error
    return wanted.margin(run).each


def is_better_high(measure: Measure) -> bool:
    """Whether more of a measure is better: accuracy and the like, and every margin; not so of losses and functions."""
    if callable(measure):
        return False
    return measure in _HIGH or measure not in METRICS


def interval(values: Array, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean and Student's t interval of independent values, NaN left out; with fewer than two the ends are NaN.

    >>> [round(end, 3) for end in interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.484, 4.484]
    """
    from scipy.special import stdtrit

    held = values[~np.isnan(values)]
    count = len(held)
    mean = float(held.mean()) if count else np.nan
    if count < 2:  # noqa: PLR2004  # one value has no spread
        return mean, np.nan, np.nan
    half = float(stdtrit(count - 1, (1.0 + confidence) / 2.0) * held.std(ddof=1) / np.sqrt(count))
    return mean, mean - half, mean + half
