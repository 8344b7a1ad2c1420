"""Which point is best, within what interval, and whether the difference may be chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.studies.measure import name_of
from malsim.lab.tuning.surrogate import lowest
from malsim.lab.tuning.trials import bootstrap, loss_of, triple
from malsim.lab.tuning.tuning_result import TuningResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.space.space import Space
    from malsim.lab.studies.measure import Array, Measure
    from malsim.lab.tuning.trials import Job, Triple

SHARE = 0.95
EQUAL = 1e-12
UNKNOWN = "as the settings are more than a half of the spells last longer than was seen; this is the best that was tried"
BOUND = "the settings as they are do not keep the bounds, and of what does this is the best that was tried"

Tries = list[list[list["Array"]]]


def evaluate_tries(
    space: Space, values: list[dict[str, Any]], tries: Tries, holdout: Job, *, worst: bool, starts_within: bool = True
) -> TuningResult:
    """Choose the best of the tries (the first is as it was), resample for the intervals, and see what was held out.

    Of many points that differ by chance alone one always looks best and one worst; so whether the objective is flat is asked
    of units that chose neither. Where the first does not keep the bounds (`starts_within`), it is not chosen.
    """
    losses = np.stack([loss_of(units, worst=worst) for units in tries])
    if np.isnan(losses).all(axis=0).any():
        raise UsageError("no point has a value", where="tune", hint="is there truth to score against?")
    total, spreads = losses.mean(axis=-1), bootstrap(tries, worst=worst).mean(axis=-1)
    starts = starts_within and not np.isnan(total[0])
    best = int(np.nanargmin(total)) if starts else 1 + int(np.nanargmin(total[1:]))
    before, after, poorest = (holdout(values[place]) for place in (0, best, int(np.nanargmax(total))))
    was, now = (float(loss_of(units, worst=worst).mean()) for units in (before, after))
    test = bootstrap([before, after, poorest], worst=worst, seed=1).mean(axis=-1)
    held_gain = triple(was - now, test[:, 0] - test[:, 1])
    flat = bool(np.quantile(test[:, 2] - test[:, 1], (1.0 - SHARE) / 2.0) <= EQUAL)
    names = _names(holdout.measures, losses.shape[1])
    return TuningResult(
        objectives=names,
        candidates=_candidates(values, losses, names),
        best=values[best],
        interval=_intervals(space, values, spreads, best),
        loss=triple(float(total[best]), spreads[:, best]),
        gain=triple(float(total[0] - total[best]), spreads[:, 0] - spreads[:, best]),
        held_out=triple(now, test[:, 1]),
        held_gain=held_gain,
        recommended=(not starts or (not flat and held_gain[1] > 0.0)) and losses.shape[1] == 1,
        reason=BOUND
        if not starts_within
        else UNKNOWN
        if not starts
        else _reason(flat=flat, held_gain=held_gain, objectives=losses.shape[1]),
        units={one.name: one.unit for one in space.dimensions},
    )


def pareto_front(losses: Array) -> NDArray[np.bool_]:
    """Which points no other beats: as good in every objective and better in one. Losses of shape (points, objectives).

    >>> pareto_front(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).tolist()
    [True, True, False]
    """
    as_good = np.all(losses[None, :, :] <= losses[:, None, :], axis=2)
    better = np.any(losses[None, :, :] < losses[:, None, :], axis=2)
    beaten: NDArray[np.bool_] = np.any(as_good & better, axis=1) | np.any(np.isnan(losses), axis=1)
    return ~beaten


def _names(measures: tuple[Measure, ...], count: int) -> tuple[str, ...]:
    names = tuple(name_of(one) for one in measures)
    return names if count == len(names) else (f"worst of {', '.join(names)}",)


def _candidates(values: list[dict[str, Any]], losses: Array, names: tuple[str, ...]) -> pl.DataFrame:
    points = pl.DataFrame(values, infer_schema_length=None).with_row_index("number")
    titles = [f"loss of {name}" for name in names] if len(names) > 1 else ["loss"]
    return points.with_columns(*pl.DataFrame(losses, schema=titles), pl.Series("front", pareto_front(losses)))


def _reason(*, flat: bool, held_gain: Triple, objectives: int) -> str:
    gain = f"{held_gain[0]:.4g} [{held_gain[1]:.4g}, {held_gain[2]:.4g}]"
    if flat:
        return (
            "the objective is flat: on what was held out even the worst point tried is no worse than the best but for chance"
        )
    if objectives > 1:
        return "of several objectives one chooses from the front"
    if held_gain[1] <= 0.0:
        return f"on what was held out the gain {gain} may be nothing"
    return f"on what was held out it gains {gain}"


def _intervals(space: Space, values: list[dict[str, Any]], spreads: Array, best: int) -> dict[str, tuple[Any, Any]]:
    """Of each setting, the range over the points that cannot be told from the best, and where resamples put the least.

    A point can be told from the best where the 95 % interval of the paired difference leaves 0 out. What lies between the
    points tried is seen by a quadratic through those of the same choices, whose least is found anew in each resample.
    """
    apart = spreads - spreads[:, best : best + 1]
    alike = np.flatnonzero(~(np.quantile(apart, (1.0 - SHARE) / 2.0, axis=0) > EQUAL))
    numbers = [place for place, one in enumerate(space.dimensions) if not one.choices]
    chose = [one.name for one in space.dimensions if one.choices]
    same = [row for row, one in enumerate(values) if all(one[name] == values[best][name] for name in chose)]
    points = np.array([space.point(values[row]) for row in same])[:, numbers]
    least = lowest(points, spreads[:, same]) if numbers else None
    ranges = {}
    for place, one in enumerate(space.dimensions):
        inside = [values[row][one.name] for row in alike]
        if least is not None and place in numbers:
            ends = np.quantile(least[:, numbers.index(place)], [(1.0 - SHARE) / 2.0, (1.0 + SHARE) / 2.0])
            inside += [one.at(float(end)) for end in ends]
        ranges[one.name] = min(inside), max(inside)
    return ranges
