"""Choice of the best point tried, its intervals, and the test of its gain on held-out data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.user_formula import UserFormula
from malsim.lab.studies.measure import name_of
from malsim.lab.tuning.problems import drawn_subject
from malsim.lab.tuning.search import lowest
from malsim.lab.tuning.trials import bootstrap, loss_of, triple, worst_margins
from malsim.lab.tuning.tuning_result import TuningResult, triple_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.lab.space.space import Space
    from malsim.lab.studies.measure import Array

Tuner = Any  # alias for `tuner.Tuner`, which cannot be imported here without a cycle
SHARE = 0.95
EQUAL = 1e-12
NEAR_END = 0.005  # a value this close to an end of its range, as a share of the range, counts as being at the end
UNKNOWN = "with the original settings more than half of the spells outlast the run; this is the best setting tried"
BOUND = "the original settings do not keep the bounds; this is the best setting tried that does"
MISSED = "no setting tried meets the requirements; this is the closest"
FLAT = "the objective is flat: on held-out units, not even the worst point tried is significantly worse than the best"
IDLE = "{} has no effect on the loss of the best point, so it keeps its original value"
NO_CHANCE = "nothing is random here: no units were held out, and there are no intervals"
NAN = float("nan")


def evaluate_tries(tuner: Tuner) -> TuningResult:
    """Choose the best point tried and evaluate it on held-out units. The first point has the original settings.

    Among many points that differ only by chance, one always looks best and one worst, so flatness of the objective is
    tested on units not used for that choice. The original settings are not chosen if they break a bound on prices. If the
    units of every try are equal, nothing is random: there are no intervals, and only other problems can be held out.
    """
    tries, losses = tuner.tries, np.stack(tuner.rescale())
    if np.isnan(losses).all(axis=0).any():
        raise UsageError("the objective has no value at any point tried", where="tune", hint="add a truth to score against")
    total = losses.mean(axis=-1)
    starts = tuner.starts_within and not np.isnan(total[0])
    best = int(np.nanargmin(total)) if starts else 1 + int(np.nanargmin(total[1:]))
    settings, idle = _without_idle(tuner, best)
    random = any(len(np.unique(part[~np.isnan(part)])) > 1 for units in tries for parts in units for part in parts)
    if random and tuner.holdout is not None:
        figures = _with_chance(tuner, tuner.holdout, total, best, settings)
    else:
        figures = _without_chance(tuner, total, best, settings)
    names = tuple(name_of(measure) for measure in tuner.measures)
    names = (f"worst of {', '.join(names)}",) if tuner.worst and len(names) > 1 else names
    margins = _margins(tuner, best, settings, random=random) if tuner.worst else None
    verdict = _verdict(figures, margins, starts=starts, objectives=losses.shape[1])
    first = tuner.problems[0].subject
    formula = getattr(getattr(first, "rules", first), "effective", None)
    return TuningResult(
        objectives=names,
        candidates=_candidates(tuner, losses, names),
        subjects=tuple(filter(None, map(drawn_subject, tuner.problems))),
        formula=formula if isinstance(formula, UserFormula) else None,
        best=settings,
        recommended=verdict == "",
        reason=verdict or _recommendation(tuner, figures, starts=starts),
        margins=margins,
        notes=(*_at_ends(tuner.space, settings), *map(IDLE.format, idle), *([] if random else [NO_CHANCE])),
        units={dimension.name: dimension.unit for dimension in tuner.space.dimensions},
        **{name: value for name, value in figures.items() if name != "flat"},
    )


def _without_idle(tuner: Tuner, best: int) -> tuple[dict[str, Any], list[str]]:
    """Return the best point's settings with original values where a setting has no effect, and the names of such settings.

    A setting has no effect if its original value leaves the losses of all units the same, up to rounding. It is not put back
    if that would break a bound on prices.
    """
    settings, idle = dict(tuner.values[best]), list[str]()
    for name, original in tuner.values[0].items():
        point = settings | {name: original}
        if point != settings and tuner.keeps_bounds(point) and _same_losses(tuner.losses_of(point), tuner.tries[best]):
            settings, idle = point, [*idle, name]
    return settings, idle


def _same_losses(some: list[list[Array]], others: list[list[Array]]) -> bool:
    pairs = (pair for parts in zip(some, others, strict=True) for pair in zip(*parts, strict=True))
    return all(np.allclose(loss, other, rtol=EQUAL, atol=EQUAL, equal_nan=True) for loss, other in pairs)


def _with_chance(
    tuner: Tuner, holdout: Callable[[Any], list[list[Array]]], total: Array, best: int, settings: dict[str, Any]
) -> dict[str, Any]:
    how: dict[str, Any] = {"worst": tuner.worst, "scales": tuner.scales}
    spreads = bootstrap(tuner.tries, **how).mean(axis=-1)
    before, after, poorest = map(holdout, (tuner.values[0], settings, tuner.values[int(np.nanargmax(total))]))
    was, now = (float(loss_of(units, **how).mean()) for units in (before, after))
    test = bootstrap([before, after, poorest], seed=1, **how).mean(axis=-1)
    return {
        "interval": _intervals(tuner.space, tuner.values, spreads, best, settings),
        "loss": triple(float(total[best]), spreads[:, best]),
        "gain": triple(float(total[0] - total[best]), spreads[:, 0] - spreads[:, best]),
        "held_out": triple(now, test[:, 1]),
        "held_gain": triple(was - now, test[:, 0] - test[:, 1]),
        "flat": bool(np.quantile(test[:, 2] - test[:, 1], (1.0 - SHARE) / 2.0) <= EQUAL),
    }


def _without_chance(tuner: Tuner, total: Array, best: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the results, without intervals, if nothing is random. `held_out` is None unless other problems are held out."""
    figures: dict[str, Any] = {"interval": {}, "held_out": None, "held_gain": None, "flat": False}
    figures |= {"loss": (float(total[best]), NAN, NAN), "gain": (float(total[0] - total[best]), NAN, NAN)}
    if tuner.holdout is not None and tuner.holds_others:
        units = [tuner.holdout(point) for point in (tuner.values[0], settings)]
        was, now = (float(loss_of(losses, worst=tuner.worst, scales=tuner.scales).mean()) for losses in units)
        figures |= {"held_out": (now, NAN, NAN), "held_gain": (was - now, NAN, NAN)}
    return figures


def _margins(tuner: Tuner, best: int, settings: dict[str, Any], *, random: bool) -> pl.DataFrame:
    """Return one row per requirement: requirement, margin, held_out (null without held-out units), scale, met, excluded."""
    others = worst_margins(tuner.holdout(settings)) if tuner.holdout is not None and random else None
    margins, texts = worst_margins(tuner.tries[best]), [name_of(measure) for measure in tuner.measures]
    both, exclusions = margins if others is None else np.minimum(margins, others), tuner.exclusions()
    return pl.DataFrame({
        "requirement": texts, "margin": margins, "held_out": others if others is not None else [None] * len(texts),
        "scale": tuner.scales or [1.0] * len(texts), "met": both >= -EQUAL,
        "excluded": [exclusions.get(text) for text in texts],
    }, schema_overrides={"held_out": pl.Float64, "excluded": pl.String})  # fmt: skip


def _verdict(figures: dict[str, Any], margins: pl.DataFrame | None, *, starts: bool, objectives: int) -> str:
    """Return the reason why nothing is recommended, or "" if the best setting is recommended."""
    gain = figures["held_gain"] or figures["gain"]
    least = gain[0] if np.isnan(gain[1]) else gain[1]
    no_gain = least <= EQUAL * max(1.0, abs(figures["loss"][0]))
    reasons = (
        (margins is not None and (margins["margin"] < -EQUAL).any(), MISSED),
        (margins is not None and not margins["met"].all(), "the best setting misses a requirement on held-out units"),
        (objectives > 1, "with several objectives, choose from the front"),
        (not starts, ""),
        (figures["flat"], FLAT),
        (no_gain and figures["held_gain"] is None, "no setting tried is better than the original settings"),
        (no_gain, f"the gain on held-out units, {triple_text(gain)}, may be zero"),
    )
    return next((reason for applies, reason in reasons if applies), "")


def _recommendation(tuner: Tuner, figures: dict[str, Any], *, starts: bool) -> str:
    if not starts:
        return UNKNOWN if tuner.starts_within else BOUND
    if figures["held_gain"] is None:
        return f"it gains {figures['gain'][0]:.4g}; the loss was {figures['loss'][0] + figures['gain'][0]:.4g}"
    return f"it gains {triple_text(figures['held_gain'])} on held-out units"


def _at_ends(space: Space, best: dict[str, Any]) -> tuple[str, ...]:
    """Return a note for each setting whose best value is at an end of its range, since the optimum may lie beyond it."""
    lines = []
    for dimension in space.dimensions:
        share = 0.5 if dimension.choices else (best[dimension.name] - dimension.low) / (dimension.high - dimension.low)
        if not NEAR_END < share < 1.0 - NEAR_END:
            end = "low" if share <= NEAR_END else "high"
            span = f"{dimension.low:g} to {dimension.high:g}"
            lines.append(f"the best {dimension.name} is at the {end} end of its range, {span}")
    return tuple(lines)


def pareto_front(losses: Array) -> NDArray[np.bool_]:
    """Return a mask of the non-dominated points. Losses have shape (points, objectives), and lower is better.

    >>> pareto_front(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).tolist()
    [True, True, False]
    """
    as_good = np.all(losses[None, :, :] <= losses[:, None, :], axis=2)
    better = np.any(losses[None, :, :] < losses[:, None, :], axis=2)
    beaten: NDArray[np.bool_] = np.any(as_good & better, axis=1) | np.any(np.isnan(losses), axis=1)
    return ~beaten


def _candidates(tuner: Tuner, losses: Array, names: tuple[str, ...]) -> pl.DataFrame:
    """Return one row per point, with a column that marks the Pareto front of the losses or of the requirements' margins."""
    points = pl.DataFrame(tuner.values, infer_schema_length=None).with_row_index("number")
    titles = [f"loss of {name}" for name in names] if len(names) > 1 else ["loss"]
    columns, front = pl.DataFrame(losses, schema=titles), pareto_front(losses)
    if tuner.worst and len(tuner.measures) > 1:
        margins = np.stack([worst_margins(units) for units in tuner.tries])
        titles = [f"margin of {name_of(measure)}" for measure in tuner.measures]
        columns, front = columns.hstack(pl.DataFrame(margins, schema=titles)), pareto_front(-margins)
    return points.with_columns(*columns, pl.Series("front", front))


def _intervals(
    space: Space, values: list[dict[str, Any]], spreads: Array, best: int, settings: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return each setting's interval, which covers resampled minima and all points not significantly worse than the best.

    A point is significantly worse if the 95 % interval of its paired difference from the best excludes 0. To cover values
    between the points tried, a quadratic fitted to the points with the same choices is minimised in each resample.
    """
    apart = spreads - spreads[:, best : best + 1]
    alike = np.flatnonzero(~(np.quantile(apart, (1.0 - SHARE) / 2.0, axis=0) > EQUAL))
    numeric = [index for index, dimension in enumerate(space.dimensions) if not dimension.choices]
    choices = {dimension.name: values[best][dimension.name] for dimension in space.dimensions if dimension.choices}
    same = [row for row, point in enumerate(values) if all(point[name] == choice for name, choice in choices.items())]
    points = np.array([space.point(values[row]) for row in same])[:, numeric]
    minima = lowest(points, spreads[:, same]) if numeric else None
    ranges = {}
    for index, dimension in enumerate(space.dimensions):
        inside = [settings[dimension.name], *(values[row][dimension.name] for row in alike)]
        if minima is not None and index in numeric:
            ends = np.quantile(minima[:, numeric.index(index)], [(1.0 - SHARE) / 2.0, (1.0 + SHARE) / 2.0])
            inside += [dimension.at(float(end)) for end in ends]
        ranges[dimension.name] = min(inside), max(inside)
    return ranges
