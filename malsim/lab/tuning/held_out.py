"""Choice of the best point, its interval, and the significance of the difference on held-out data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.studies.measure import name_of
from malsim.lab.tuning.search import lowest
from malsim.lab.tuning.trials import bootstrap, loss_of, triple, worst_margins
from malsim.lab.tuning.tuning_result import TuningResult, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.base.user_formula import UserFormula
    from malsim.lab.space.space import Space
    from malsim.lab.studies.measure import Array, Measure
    from malsim.lab.tuning.trials import Job

SHARE = 0.95
EQUAL = 1e-12
NEAR_END = 0.005  # of the range
UNKNOWN = "as the settings are more than a half of the spells last longer than was seen; this is the best that was tried"
BOUND = "the settings as they are do not keep the bounds, and of what does this is the best that was tried"
MISSED = "no setting tried meets the requirements; this is the closest"
FLAT = "the objective is flat: on what was held out even the worst point tried is no worse than the best but for chance"
NO_CHANCE = "nothing is random here: no units were held out, and there are no intervals"

Tries = list[list[list["Array"]]]
NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class Study:
    """Definition of a search: the space, the held-out job (None: none), and how losses are read.

    `subjects` are the scenarios and claims files that can be drawn.
    `worst` marks requirements, each over its scale; `holds_others` that the problems held out are other problems, not
    further units of the same; `starts_within` whether the settings as they are keep the bounds on
    prices; `exclusions` has, by requirement, why no setting can meet it.
    """

    space: Space
    holdout: Job | None
    measures: tuple[Measure, ...]
    worst: bool
    holds_others: bool = False
    starts_within: bool = True
    scales: tuple[float, ...] = ()
    subjects: tuple[Any, ...] = ()
    formula: UserFormula | None = None
    exclusions: Mapping[str, str] = field(default_factory=dict)


def evaluate_tries(study: Study, values: list[dict[str, Any]], tries: Tries) -> TuningResult:
    """Choose the best of the tries (the first has the original settings) and judge it on held-out units.

    Of many points that differ by chance alone one always looks best and one worst; so whether the objective is flat is asked
    of units that chose neither. Where the first does not keep the bounds on prices, it is not chosen. Where the units of
    every try are alike nothing is random: then there is no interval, and only another problem can be held out.
    """
    losses = np.stack([loss_of(units, worst=study.worst, scales=study.scales) for units in tries])
    if np.isnan(losses).all(axis=0).any():
        raise UsageError("no point has a value", where="tune", hint="is there truth to score against?")
    total = losses.mean(axis=-1)
    starts = study.starts_within and not np.isnan(total[0])
    best = int(np.nanargmin(total)) if starts else 1 + int(np.nanargmin(total[1:]))
    random = any(_varies(part) for units in tries for parts in units for part in parts)
    if random and study.holdout is not None:
        figures = _with_chance(study, study.holdout, values, tries, best)
    else:
        figures = _without_chance(study, values, total, best)
    names = _names(study.measures, losses.shape[1])
    margins = _margins(study, values[best], tries[best], random=random) if study.worst else None
    verdict = _verdict(figures, margins, starts=starts, objectives=losses.shape[1])
    return TuningResult(
        objectives=names,
        candidates=_candidates(study, values, tries, losses, names),
        subjects=study.subjects,
        formula=study.formula,
        best=values[best],
        recommended=verdict == "",
        reason=verdict or _recommendation(study, figures, starts=starts),
        margins=margins,
        notes=(*_at_ends(study.space, values[best]), *([] if random else [NO_CHANCE])),
        units={dimension.name: dimension.unit for dimension in study.space.dimensions},
        **{name: value for name, value in figures.items() if name != "flat"},
    )


def _varies(part: Array) -> bool:
    finite = part[~np.isnan(part)]
    return bool(finite.size > 1 and np.ptp(finite) > 0.0)


def _with_chance(study: Study, holdout: Job, values: list[dict[str, Any]], tries: Tries, best: int) -> dict[str, Any]:
    how: dict[str, Any] = {"worst": study.worst, "scales": study.scales}
    total = np.array([loss_of(units, **how).mean() for units in tries])
    spreads = bootstrap(tries, **how).mean(axis=-1)
    before, after, poorest = (holdout(values[index]) for index in (0, best, int(np.nanargmax(total))))
    was, now = (float(loss_of(units, **how).mean()) for units in (before, after))
    test = bootstrap([before, after, poorest], seed=1, **how).mean(axis=-1)
    return {
        "interval": _intervals(study.space, values, spreads, best),
        "loss": triple(float(total[best]), spreads[:, best]),
        "gain": triple(float(total[0] - total[best]), spreads[:, 0] - spreads[:, best]),
        "held_out": triple(now, test[:, 1]),
        "held_gain": triple(was - now, test[:, 0] - test[:, 1]),
        "flat": bool(np.quantile(test[:, 2] - test[:, 1], (1.0 - SHARE) / 2.0) <= EQUAL),
    }


def _without_chance(study: Study, values: list[dict[str, Any]], total: Array, best: int) -> dict[str, Any]:
    """Return the same figures without intervals; held_out is None unless other problems were held out."""
    figures: dict[str, Any] = {"interval": {}, "held_out": None, "held_gain": None, "flat": False}
    figures |= {"loss": (float(total[best]), NAN, NAN), "gain": (float(total[0] - total[best]), NAN, NAN)}
    if study.holdout is not None and study.holds_others:
        units = [study.holdout(values[index]) for index in (0, best)]
        was, now = (float(loss_of(losses, worst=study.worst, scales=study.scales).mean()) for losses in units)
        figures |= {"held_out": (now, NAN, NAN), "held_gain": (was - now, NAN, NAN)}
    return figures


def _margins(study: Study, best: dict[str, Any], units: list[list[Array]], *, random: bool) -> pl.DataFrame:
    """Return requirement, margin, held_out (null if nothing was held out), scale, met, and excluded."""
    others = worst_margins(study.holdout(best)) if study.holdout is not None and random else None
    margins, texts = worst_margins(units), [name_of(measure) for measure in study.measures]
    both = margins if others is None else np.minimum(margins, others)
    return pl.DataFrame({
        "requirement": texts, "margin": margins, "held_out": others if others is not None else [None] * len(texts),
        "scale": study.scales or [1.0] * len(texts), "met": both >= -EQUAL,
        "excluded": [study.exclusions.get(text) for text in texts],
    }, schema_overrides={"held_out": pl.Float64, "excluded": pl.String})  # fmt: skip


def _verdict(figures: dict[str, Any], margins: pl.DataFrame | None, *, starts: bool, objectives: int) -> str:
    """Return why nothing is recommended; empty if the best setting is."""
    gain = figures["held_gain"] or figures["gain"]
    least = gain[0] if np.isnan(gain[1]) else gain[1]
    reasons = (
        (margins is not None and (margins["margin"] < -EQUAL).any(), MISSED),
        (margins is not None and not margins["met"].all(), "the best setting misses a requirement on what was held out"),
        (objectives > 1, "of several objectives one chooses from the front"),
        (not starts, ""),
        (figures["flat"], FLAT),
        (least <= 0.0 and figures["held_gain"] is None, "no setting tried is better than the settings as they are"),
        (least <= 0.0, f"on what was held out the gain {numbers(gain)} may be nothing"),
    )
    return next((reason for applies, reason in reasons if applies), "")


def _recommendation(study: Study, figures: dict[str, Any], *, starts: bool) -> str:
    if not study.starts_within:
        return BOUND
    if not starts:
        return UNKNOWN
    if figures["held_gain"] is None:
        return f"it gains {numbers(figures['gain'])}"
    return f"on what was held out it gains {numbers(figures['held_gain'])}"


def _at_ends(space: Space, best: dict[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each setting whose best value lies at an end of its range, where the optimum may lie beyond."""
    lines = []
    for dimension in space.dimensions:
        share = 0.5 if dimension.choices else (best[dimension.name] - dimension.low) / (dimension.high - dimension.low)
        if not NEAR_END < share < 1.0 - NEAR_END:
            end = "low" if share <= NEAR_END else "high"
            lines.append(
                f"the best {dimension.name} is at the {end} end of its range, {dimension.low:g} to {dimension.high:g}"
            )
    return tuple(lines)


def pareto_front(losses: Array) -> NDArray[np.bool_]:
    """Return the mask of non-dominated points. Losses have shape (points, objectives).

    >>> pareto_front(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).tolist()
    [True, True, False]
    """
    as_good = np.all(losses[None, :, :] <= losses[:, None, :], axis=2)
    better = np.any(losses[None, :, :] < losses[:, None, :], axis=2)
    beaten: NDArray[np.bool_] = np.any(as_good & better, axis=1) | np.any(np.isnan(losses), axis=1)
    return ~beaten


def _names(measures: tuple[Measure, ...], count: int) -> tuple[str, ...]:
    names = tuple(name_of(measure) for measure in measures)
    return names if count == len(names) else (f"worst of {', '.join(names)}",)


def _candidates(
    study: Study, values: list[dict[str, Any]], tries: Tries, losses: Array, names: tuple[str, ...]
) -> pl.DataFrame:
    """Return one row per point; the front is that of the objectives, or of the requirements' margins."""
    points = pl.DataFrame(values, infer_schema_length=None).with_row_index("number")
    titles = [f"loss of {name}" for name in names] if len(names) > 1 else ["loss"]
    columns, front = pl.DataFrame(losses, schema=titles), pareto_front(losses)
    if study.worst and len(study.measures) > 1:
        margins = np.stack([worst_margins(units) for units in tries])
        columns = columns.hstack(
            pl.DataFrame(margins, schema=[f"margin of {name_of(measure)}" for measure in study.measures])
        )
        front = pareto_front(-margins)
    return points.with_columns(*columns, pl.Series("front", front))


def _intervals(space: Space, values: list[dict[str, Any]], spreads: Array, best: int) -> dict[str, tuple[Any, Any]]:
    """Return, per setting, the range over points not significantly worse than the best and over resampled minima.

    A point can be told from the best where the 95 % interval of the paired difference leaves 0 out. What lies between the
    points tried is seen by a quadratic through those of the same choices, whose least is found anew in each resample.
    """
    apart = spreads - spreads[:, best : best + 1]
    alike = np.flatnonzero(~(np.quantile(apart, (1.0 - SHARE) / 2.0, axis=0) > EQUAL))
    numbers = [index for index, item in enumerate(space.dimensions) if not item.choices]
    chose = [item.name for item in space.dimensions if item.choices]
    same = [row for row, item in enumerate(values) if all(item[name] == values[best][name] for name in chose)]
    points = np.array([space.point(values[row]) for row in same])[:, numbers]
    least = lowest(points, spreads[:, same]) if numbers else None
    ranges = {}
    for index, item in enumerate(space.dimensions):
        inside = [values[row][item.name] for row in alike]
        if least is not None and index in numbers:
            ends = np.quantile(least[:, numbers.index(index)], [(1.0 - SHARE) / 2.0, (1.0 + SHARE) / 2.0])
            inside += [item.at(float(end)) for end in ends]
        ranges[item.name] = min(inside), max(inside)
    return ranges
