"""Search for the settings with the lowest loss on some problems, and a test of these settings on held-out problems."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError
from malsim.base.limits import within
from malsim.base.progress import progress_bar
from malsim.lab.space.space import Space
from malsim.lab.tuning.attainable import exclusions
from malsim.lab.tuning.held_out import evaluate_tries
from malsim.lab.tuning.problems import REPLICATIONS, PriceBound, as_problem, keeps_bounds
from malsim.lab.tuning.search import ModelSearch, Search
from malsim.lab.tuning.trials import loss_of, losses_of, scales_of, worst_margins
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from malsim.lab.studies.measure import Array, Measure
    from malsim.lab.tuning.problems import Problem
    from malsim.lab.tuning.tuning_result import TuningResult
    from malsim.memory import Rules

BUDGET = 256
START, SIZE = 32, 8
SAME_SCALE = 4.0
SCALE = re.compile(r"\bscale\b")


class Tuner:
    """Tuning study for any optimiser: propose settings, `evaluate` them, and get the best from `result`.

    study.optimize(lambda trial: tuner.evaluate([{"rules.damping": trial.suggest_float("rules.damping", 0.1, 1)}])[0])
    """

    def __init__(  # noqa: PLR0913  # the parts of a study, all by keyword
        self,
        problems: Sequence[Any] | Any,
        *,
        space: Mapping[str, Sequence[Any]],
        objective: Measure | Sequence[Measure] | None = None,
        requirements: Sequence[str] = (),
        keep: Sequence[str] = (),
        holdout: Sequence[Any] | None = None,
        replications: int = REPLICATIONS,
        rules: Rules | None = None,
        seed: int = 0,
    ) -> None:
        if requirements and objective is not None:
            raise UsageError("objective and requirements cannot be combined", where="tune", hint="leave out objective")
        several = isinstance(objective, (list, tuple))
        self.measures: tuple[Measure, ...] = tuple(requirements or (objective if several else (objective or "brier",)))  # type: ignore[arg-type]
        self.worst = bool(requirements)
        self.problems, test = _split(problems, holdout, seed, replications, rules)
        self.space = Space.of(space, *(problem.subject for problem in self.problems))
        self.holdout = partial(losses_of, test, self.measures) if test else None
        self.scales: tuple[float, ...] = ()
        self.holds_others = holdout is not None
        self.keeps_bounds = partial(keeps_bounds, tuple(map(PriceBound.of, keep)), self.problems)
        self.losses_of = partial(losses_of, self.problems, self.measures)
        self.values: list[dict[str, Any]] = []
        self.tries: list[list[list[Array]]] = []
        self._try([{dimension.name: dimension.value for dimension in self.space.dimensions}])
        self.starts_within = self.keeps_bounds(self.values[0])

    def evaluate(self, values: Sequence[Mapping[str, Any]], executor: Executor | None = None) -> list[float]:
        """Return each point's loss: the mean of its objectives or, for requirements, minus the worst margin."""
        return [float(loss.mean()) for loss in self.losses(values, executor)]

    def losses(self, values: Sequence[Mapping[str, Any]], executor: Executor | None = None) -> list[Array]:
        """Return each point's losses, one per objective. The losses do not depend on the number of workers.

        Points that break a bound on prices are not run, and their losses are NaN.
        """
        complete = [{name: point[name] for name in self.space.names} for point in values]
        within = list((executor.map if executor else map)(self.keeps_bounds, complete))
        losses = iter(self._try([point for point, holds in zip(complete, within, strict=True) if holds], executor))
        objectives = 1 if self.worst else len(self.measures)
        return [next(losses) if holds else np.full(objectives, np.nan) for holds in within]

    def _try(self, values: list[dict[str, Any]], executor: Executor | None = None) -> list[Array]:
        tries = list((executor.map if executor else map)(self.losses_of, values))
        self.values += values
        self.tries += tries
        return [loss_of(units, worst=self.worst, scales=self.scales) for units in tries]

    def rescale(self) -> list[Array]:
        """Set each requirement's scale from all tries, and return the scaled losses of the tries.

        Requirements are not scaled if one of them sets its own `scale`, or if their scales lie within a factor of 4.
        """
        texts = [str(measure) for measure in self.measures]
        if self.worst and len(texts) > 1 and not any(SCALE.search(text) for text in texts):
            scales = scales_of(self.tries)
            self.scales = tuple(scales) if max(scales) > SAME_SCALE * min(scales) else ()
        return [loss_of(units, worst=self.worst, scales=self.scales) for units in self.tries]

    def result(self) -> TuningResult:
        """Return the best settings tried, with their intervals and their performance on held-out units."""
        return evaluate_tries(self)

    def exclusions(self) -> dict[str, str]:
        """Return the requirements that no setting in the space can meet, with the reason for each."""
        best = np.max([worst_margins(units) for units in self.tries], axis=0)
        missed = tuple(str(measure) for measure, margin in zip(self.measures, best, strict=True) if margin < 0.0)
        scenarios = [problem.subject for problem in self.problems if isinstance(problem.subject, Scenario)]
        return {key: text for scenario in scenarios for key, text in exclusions(missed, scenario, self.space).items()}


def tune(
    problems: Sequence[Any] | Any,
    *,
    space: Mapping[str, Sequence[Any]],
    budget: int = BUDGET,
    seed: int = 0,
    executor: Executor | None = None,
    progress: bool = False,
    **settings: Any,
) -> TuningResult:
    """Search a space of settings for the lowest loss, and test the best setting on held-out units.

    Parameters
    ----------
    problems
        Scenarios or their files, real claims or their folders; one or several.
    space
        Map of setting names to (low, high) or to lists of choices: {"rules.support_ceiling": (0, 0.9)}.
    budget
        Number of points to try in addition to the original settings: 32, then whole generations of 8 (of 32 for several
        objectives).
    executor
        Any `concurrent.futures` executor; the number of workers changes only the running time.
    progress
        Show a progress bar if stderr is a terminal.
    objective
        A measure (see `lab.studies.measure.measured`; None: "brier"), averaged over replications, then over problems; for
        real claims brier, log_loss, accuracy or trust_brier. For several objectives, the Pareto front is sought.
    requirements
        Properties instead of an objective: the worst margin over all problems and replications is maximised.
    keep
        Bounds on prices that every point must keep, such as "gap >= 3" (see `price_figures.PRICES`); other points are not
        run. If the original settings break a bound, the best point that keeps all bounds is recommended, whatever its loss.
    holdout
        Problems used only for testing. If None, half of the objects of real claims, and more replications of scenarios.
    replications
        Minimum number of replications of each scenario.
    rules
        Rules to start from; if None, those of the scenarios, and the defaults for claims.

    Nothing is recommended if the objective differs only by chance, if the interval of the held-out gain contains 0, or if
    no point meets the requirements. In the last case `best` is the closest point, and `margins` has its margin for each
    requirement. If requirements have different scales, each margin is divided by the best that any point reaches, unless
    one requirement sets its own `scale`. If nothing is random, nothing is held out and there are no intervals.

    Raises
    ------
    UsageError
        If the space is invalid, there is no problem, truth or second replication, an objective is combined with
        requirements, the budget is too small for the settings, or the objective is the same at every point.
    """
    # enough points for the coefficients of a quadratic, plus one generation
    needed = max(START, (len(space) + 1) * (len(space) + 2) // 2 + SIZE)
    if budget < needed:
        allowed = f"{needed} or more for {len(space)} settings"
        raise UsageError("the budget is too small", where="tune", given=budget, allowed=allowed)
    within({"points": budget}, where="tune")
    tuner = Tuner(problems, space=space, seed=seed, **settings)
    several = len(tuner.measures) > 1 and not tuner.worst
    dimensions, size = len(tuner.space.dimensions), START if several else SIZE
    search = (
        Search(dimensions, size=size, seed=seed, pull=0.0)
        if several
        else ModelSearch(dimensions, size=size, seed=seed, start=START)
    )
    losses: list[Array] = []
    with progress_bar(what="tune", unit="point", visible=progress, total=budget) as bar:
        for count in [START] + [size] * ((budget - START) // size):
            points = [search.ask() for _ in range(count)]
            losses += tuner.losses([tuner.space.values(point) for _, point in points], executor)
            if tuner.worst and len(losses) == START:
                scaled = iter(tuner.rescale()[1:])  # skip the first try, which has the original settings
                # a NaN loss marks a point that was not run
                losses = [loss if np.isnan(loss).any() else next(scaled) for loss in losses]
            _refuse_constant(losses, tuner, bounded=bool(settings.get("keep")))
            worth = _weighted_loss(np.stack(losses[:START]), np.stack(losses[-count:]))
            for (number, _), value in zip(points, worth, strict=True):
                search.tell(number, float(value))
            bar.update(count)
    return tuner.result()


def _refuse_constant(losses: Sequence[Array], tuner: Tuner, *, bounded: bool) -> None:
    stacked = np.stack(losses)
    if np.isnan(stacked).all() and not bounded:
        hint = "run more days, because the mean time is unknown if more than half of the spells outlast the run"
        raise UsageError("the objective has no value at any point tried", where="tune", hint=hint)
    if np.isnan(stacked).all():
        raise UsageError(
            "no point tried satisfies the bounds on prices", where="--keep", hint="widen the space or relax the bounds"
        )
    if not tuner.worst and not np.isnan(stacked).any() and np.ptp(stacked, axis=0).max() == 0.0:
        problem, hint = (
            "the objective is exactly the same at every point tried",
            "tune settings that ms.sensitivity ranks high",
        )
        raise UsageError(problem, where="tune", given=", ".join(tuner.space.names), hint=hint)


def _weighted_loss(first: Array, last: Array) -> Array:
    """Return one loss per point: the maximum over objectives of w (loss − low) / (high − low) (Chebyshev).

    Low and high are the extremes of the first generation. The weights w vary over a generation to spread points over the
    front.
    """
    if last.shape[1] == 1:
        return last[:, 0]
    share = np.linspace(0.02, 0.98, START)
    weight = np.stack([share, *[(1.0 - share) / (last.shape[1] - 1)] * (last.shape[1] - 1)], axis=1)
    low, high = np.nanmin(first, axis=0), np.nanmax(first, axis=0)
    worth: Array = (weight * (last - low) / np.maximum(high - low, 1e-12)).max(axis=1)
    return worth


def _split(
    problems: Any, holdout: Sequence[Any] | None, seed: int, replications: int, rules: Rules | None
) -> tuple[list[Problem], list[Problem]]:
    if not isinstance(problems, (list, tuple)):
        problems = [problems]
    if not problems:
        raise UsageError("nothing to tune on", where="tune", hint="give one or more scenarios or folders of claims")
    training = [as_problem(problem, replications=replications, rules=rules) for problem in problems]
    if holdout is None:
        pairs = [problem.halved(seed) for problem in training]
        test = [other for _, other in pairs if other is not None]
        return [problem for problem, _ in pairs], test if len(test) == len(pairs) else []
    if not holdout:
        raise UsageError(
            "the list of held-out problems is empty",
            where="tune: holdout",
            hint="leave out holdout to hold out half of each problem's units",
        )
    return training, [as_problem(problem, replications=replications, rules=rules) for problem in holdout]
