"""Sobol indices: the share of a metric's variance over a space that each setting accounts for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.base.errors import UsageError
from malsim.base.intervals import ends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array: TypeAlias = NDArray[np.float64]
FLAT = 0.01
RESAMPLES = 400
LEAST = 8


def sobol(evaluate: Callable[[Array], Array], names: Sequence[str], *, points: int = 64, seed: int = 0) -> pl.DataFrame:
    """Estimate first and total Sobol indices of a function on the unit cube, each with a 95 % bootstrap interval.

    S_i = Var(E[f | x_i]) / Var(f);  T_i = E[Var(f | all but x_i)] / Var(f): what x_i does alone, and what it does with
    others too. Estimators of Saltelli et al. (2010) over a scrambled Sobol sequence, by `scipy.stats.sobol_indices`; the
    interval is the 2.5 % to 97.5 % range over 400 resamples of its points, drawn from the seed. A setting is called flat
    when the top of its total index's interval is below 0.01.

    Parameters
    ----------
    evaluate
        From points, shape (many, settings), to values, shape (many,); called once, with points · (settings + 2) rows.
    points
        A power of two, 8 or more.

    Returns
    -------
    Frame
        setting, first, first_low, first_high, total, total_low, total_high, flat.

    Raises
    ------
    UsageError
        For too few points, a value that is not finite, or a function that has the same value everywhere.
    """
    from scipy.stats import qmc

    count = len(names)
    if points < LEAST or points & (points - 1):
        raise UsageError("not a number of points", where="points", given=points, allowed=f"a power of two, {LEAST} or more")
    both = qmc.Sobol(2 * count, rng=np.random.Generator(np.random.Philox(seed))).random(points)
    a, b = both[:, :count], both[:, count:]
    ab = np.repeat(a[None], count, axis=0)  # a, with one setting of b each
    ab[np.arange(count), :, np.arange(count)] = b.T
    values = np.asarray(evaluate(np.concatenate([a, b, ab.reshape(-1, count)])), dtype=np.float64)
    if not np.isfinite(values).all():
        hint = "some replications have none: run more days, or measure something always there"
        raise UsageError("a point of the space has no value", where="sobol", hint=hint)
    if (values == values[0]).all():
        hint = "none of these settings matters to it; take others, or another metric"
        raise UsageError(
            "the metric is the same at every point of the space", where="sobol", given=float(values[0]), hint=hint
        )
    f_a, f_b, f_ab = values[:points], values[points : 2 * points], values[2 * points :].reshape(count, points)
    indices = _indices(f_a, f_b, f_ab)
    draws = np.random.Generator(np.random.Philox(seed))
    rows = draws.integers(points, size=(RESAMPLES, points))
    resamples = np.stack([_indices(f_a[row], f_b[row], f_ab[:, row]) for row in rows])
    low, high = ends(resamples, axis=0)
    columns = {"setting": list(names)}
    for number, name in enumerate(("first", "total")):
        columns |= {name: indices[number], f"{name}_low": low[number], f"{name}_high": high[number]}
    return pl.DataFrame(columns).with_columns(flat=pl.col("total_high") < FLAT)


def _indices(f_a: Array, f_b: Array, f_ab: Array) -> Array:
    """Return first and total indices, shape (2, settings); NaN if all values of a resample are equal."""
    from scipy.stats import sobol_indices

    if np.ptp(f_a) == np.ptp(f_b) == 0.0 and f_a[0] == f_b[0]:
        return np.full((2, len(f_ab)), np.nan)
    count, f_ab = len(f_ab), f_ab if len(f_ab) > 1 else np.repeat(f_ab, 2, axis=0)  # scipy cannot do with one setting
    values: dict[Literal["f_A", "f_B", "f_AB"], Array] = {"f_A": f_a[None], "f_B": f_b[None], "f_AB": f_ab[:, None]}
    result = sobol_indices(func=values, n=len(f_a))
    return np.stack([result.first_order, result.total_order])[:, :count]
