"""Losses of every point tried, per unit, and their bootstrap resamples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import ends, mean_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from malsim.lab.studies.measure import Array, Measure
    from malsim.lab.tuning.problems import Problem

RESAMPLES = 400
CHUNK = 50
Triple = tuple[float, float, float]


def losses_of(problems: Sequence[Problem], measures: Sequence[Measure], values: Mapping[str, Any]) -> list[list[Array]]:
    """Return the losses of all units under the settings `values`: a list per problem, with one array per measure."""
    return [problem.losses(values, measures) for problem in problems]


def loss_of(units: Sequence[Sequence[Array]], *, worst: bool, scales: Sequence[float] = ()) -> Array:
    """Return each measure's loss, averaged over units, then over problems. For requirements, return only the worst loss.

    Shape (measures,), or (1,) for requirements, whose margins are divided by their scales. NaN if no unit has a value.
    """
    if worst:
        return np.array([float((worst_margins(units) / (scales or 1.0)).min()) * -1.0])
    means: Array = np.mean([[mean_of(part) for part in parts] for parts in units], axis=0)
    return means


def worst_margins(units: Sequence[Sequence[Array]]) -> Array:
    """Return each requirement's worst margin over all problems and units, shape (requirements,)."""
    parts = [[float(np.nan_to_num(part, nan=np.inf).max()) for part in parts] for parts in units]
    margins: Array = -np.max(parts, axis=0)
    return margins


def scales_of(tries: Sequence[Sequence[Sequence[Array]]]) -> list[float]:
    """Return each requirement's scale: the highest worst margin of any try, so that scaled margins are at most 1.

    If no try meets a requirement, its scale is the spread of its margins, or 1 if the spread is 0.
    """
    margins = np.stack([worst_margins(units) for units in tries])
    best, spread = margins.max(axis=0), np.ptp(margins, axis=0)
    return [float(item) for item in np.where(best > 0.0, best, np.where((spread > 0.0) & np.isfinite(spread), spread, 1.0))]


def bootstrap(
    tries: Sequence[Sequence[Sequence[Array]]], *, worst: bool, seed: int = 0, scales: Sequence[float] = ()
) -> Array:
    """Return the losses of all tries on resampled units, shape (400, tries, measures).

    All tries and measures share each draw of units, so that tries are compared on the same units.
    """
    draws = np.random.Generator(np.random.Philox(key=seed))
    measures = 1 if worst else len(tries[0][0])
    total = np.full((RESAMPLES, len(tries), measures), -np.inf) if worst else np.zeros((RESAMPLES, len(tries), measures))
    for problem in range(len(tries[0])):
        count = len(tries[0][problem][0])
        sample = draws.integers(0, count, (RESAMPLES, count))
        for measure in range(len(tries[0][problem])):
            table = np.stack([units[problem][measure] for units in tries])
            if np.isnan(table).any():
                table = np.where(np.isnan(table), np.array([[mean_of(row)] for row in table]), table)
            if worst:
                table = table / (scales[measure] if scales else 1.0)
                parts = [table[:, sample[at : at + CHUNK]].max(axis=2).T for at in range(0, RESAMPLES, CHUNK)]
                np.maximum(total[:, :, 0], np.concatenate(parts), out=total[:, :, 0])
            else:
                weight = np.apply_along_axis(np.bincount, 1, sample, minlength=count).astype(np.float64)
                total[:, :, measure] += np.einsum("bn,tn->bt", weight, table, optimize=True) / count / len(tries[0])
    return total


def triple(value: float, resamples: NDArray[np.float64]) -> Triple:
    """Return a value with the 2.5 % and 97.5 % quantiles of its resamples."""
    return value, *ends(resamples)
