"""Search for settings of least loss on some problems, judged on others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError
from malsim.base.limits import within
from malsim.lab.space.space import Space
from malsim.lab.tuning.attainable import exclusions
from malsim.lab.tuning.held_out import Study, evaluate_tries
from malsim.lab.tuning.problems import REPLICATIONS, PriceBound, Within, as_problem, drawn_subject, formula_of
from malsim.lab.tuning.search import ModelSearch, Search
from malsim.lab.tuning.trials import Job, loss_of, scales_of, worst_margins
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
    """Ask-and-tell interface for any optimiser: propose settings, `evaluate` them, and judge all with `result`.

    study.optimize(lambda trial: tuner.evaluate([{"rules.damping": trial.suggest_float("rules.damping", 0.1, 1)}])[0])
    """

    def __init__(  # noqa: PLR0913  # what a study is made of, each by its name
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
            raise UsageError("objective and requirements cannot be combined", where="tune")
        several = isinstance(objective, (list, tuple))
        measures: tuple[Measure, ...] = tuple(requirements or (objective if several else (objective or "brier",)))  # type: ignore[arg-type]
        self.worst = bool(requirements)
        training, test = _split(problems, holdout, seed, replications, rules)
        self.space = Space.of(space, *(entry.subject for entry in training))
        self.job, self.holdout = Job(tuple(training), measures), Job(tuple(test), measures) if test else None
        self.scales: tuple[float, ...] = ()
        self.holds_others = holdout is not None
        self._within = Within(tuple(map(PriceBound.of, keep)), tuple(training))
        self.values: list[dict[str, Any]] = []
        self.tries: list[list[list[Array]]] = []
        self._try([{entry.name: entry.value for entry in self.space.dimensions}])
        self.starts_within = self._within(self.values[0])

    def evaluate(self, values: Sequence[Mapping[str, Any]], executor: Executor | None = None) -> list[float]:
        """Return the loss of each of some settings: the mean of the objectives, or minus the worst margin."""
        return [float(loss.mean()) for loss in self.losses(values, executor)]

    def losses(self, values: Sequence[Mapping[str, Any]], executor: Executor | None = None) -> list[Array]:
        """Return the losses of each of some settings, one per objective; independent of the number of workers.

        NaN for settings that do not keep the bounds on prices; they are not run.
        """
        complete = [{name: item[name] for name in self.space.names} for item in values]
        within = list((executor.map if executor else map)(self._within, complete))
        losses = iter(self._try([item for item, holds in zip(complete, within, strict=True) if holds], executor))
        objectives = 1 if self.worst else len(self.job.measures)
        return [next(losses) if holds else np.full(objectives, np.nan) for holds in within]

    def _try(self, values: list[dict[str, Any]], executor: Executor | None = None) -> list[Array]:
        tries = list((executor.map if executor else map)(self.job, values))
        self.values += values
        self.tries += tries
        return [loss_of(units, worst=self.worst, scales=self.scales) for units in tries]

    def rescale(self) -> list[Array]:
        """Set the scale of each requirement from all tries, and return the losses of the tries under it.

        Requirements of which one says its own `scale`, or whose scales are within a factor of 4, are compared as they stand.
        """
        texts = [str(measure) for measure in self.job.measures]
        if self.worst and len(texts) > 1 and not any(SCALE.search(text) for text in texts):
            scales = scales_of(self.tries)
            self.scales = tuple(scales) if max(scales) > SAME_SCALE * min(scales) else ()
        return [loss_of(units, worst=self.worst, scales=self.scales) for units in self.tries]

    def result(self) -> TuningResult:
        """Return the best setting tried, its intervals, and its performance on held-out units."""
        self.rescale()
        study = Study(
            space=self.space, holdout=self.holdout, holds_others=self.holds_others, measures=self.job.measures,
            worst=self.worst, starts_within=self.starts_within, scales=self.scales, exclusions=self._exclusions(),
            formula=formula_of(self.job.problems[0].subject),
            subjects=tuple(filter(None, map(drawn_subject, self.job.problems))),
        )  # fmt: skip
        return evaluate_tries(study, self.values, self.tries)

    def _exclusions(self) -> dict[str, str]:
        """Return why no setting can meet a requirement, for requirements that no try meets."""
        if not self.worst:
            return {}
        best = np.max([worst_margins(units) for units in self.tries], axis=0)
        texts = tuple(str(item) for item, margin in zip(self.job.measures, best, strict=True) if margin < 0.0)
        scenarios = [item.subject for item in self.job.problems if isinstance(item.subject, Scenario)]
        return {key: text for item in scenarios for key, text in exclusions(texts, item, self.space).items()}


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
    """Search a space of settings for the least loss, and judge the best on held-out units.

    Parameters
    ----------
    problems
        Scenarios or their files, real claims or their folders; one or several.
    space
        Setting names to (low, high) or to lists of choices: {"rules.support_ceiling": (0, 0.9)}.
    budget
        Points tried besides the settings as they are: 32, then whole generations of 8 (of 32 for several objectives).
    executor
        Any `concurrent.futures` executor; how many workers it has changes nothing but the time.
    progress
        Whether to show a bar.
    objective
        A measure (see `lab.measure.measured`), "brier" if None; its mean over replications, then over problems. On real
        claims brier, log_loss or accuracy. Of several, the front of those that no other point beats is sought.
    requirements
        Properties instead of an objective: the worst margin over all problems and replications is raised.
    keep
        Bounds on prices that every point must keep, such as "gap >= 3" (see `price_figures.PRICES`); points that do not
        are not run. Where the settings as they are do not, the best that does is recommended, whatever it costs.
    holdout
        Problems that tuning does not see. If None, half of the objects of claims, and further replications of scenarios.
    replications
        At least so many of each scenario.
    rules
        Where the search starts from: those of the scenarios, for claims the defaults, if None.

    Recommends nothing where the objective is flat but for chance, where on what was held out the gain's interval holds 0, or
    where no setting tried meets the requirements: then `best` is the closest, and `margins` has its margin for each. Several
    requirements on different scales are each taken over theirs, the best margin that any point reaches, unless one of them
    says its own `scale`. Where nothing is random nothing is held out and there are no intervals.

    Raises
    ------
    UsageError
        A bad space, nothing to tune on, no truth, one replication, both an objective and requirements, a budget too small
        for the settings, or an objective that is the same at every point.
    """
    from tqdm.auto import tqdm

    needed = max(START, (len(space) + 1) * (len(space) + 2) // 2 + SIZE)  # a quadratic's coefficients, and a generation
    if budget < needed:
        allowed = f"{needed} or more for {len(space)} settings"
        raise UsageError("the budget is too small", where="tune: budget", given=budget, allowed=allowed)
    within({"points": budget}, where="tune")
    tuner = Tuner(problems, space=space, seed=seed, **settings)
    several = len(tuner.job.measures) > 1 and not tuner.worst
    dimensions, size = len(tuner.space.dimensions), START if several else SIZE
    item = ModelSearch(dimensions, size=size, seed=seed, start=START)
    search = Search(dimensions, size=size, seed=seed, pull=0.0) if several else item
    losses: list[Array] = []
    with tqdm(total=budget, desc="tune", unit="point", disable=not progress) as bar:
        for count in [START] + [size] * ((budget - START) // size):
            points = [search.ask() for _ in range(count)]
            losses += tuner.losses([tuner.space.values(point) for _, point in points], executor)
            if tuner.worst and len(losses) == START:
                losses = _rescaled(tuner, losses)
            _refuse_unmoved(losses, tuner, bounded=bool(settings.get("keep")))
            worth = _weighted_loss(np.stack(losses[:START]), np.stack(losses[-count:]))
            for (number, _), value in zip(points, worth, strict=True):
                search.tell(number, float(value))
            bar.update(count)
    return tuner.result()


def _rescaled(tuner: Tuner, losses: Sequence[Array]) -> list[Array]:
    """Return the losses under the scales of the requirements; points that were not run stay NaN."""
    fresh = iter(tuner.rescale()[1:])  # the first try is the settings as they are
    return [loss if np.isnan(loss).any() else next(fresh) for loss in losses]


def _refuse_unmoved(losses: Sequence[Array], tuner: Tuner, *, bounded: bool) -> None:
    stacked = np.stack(losses)
    if np.isnan(stacked).all() and not bounded:
        hint = "a time has no mean where more than a half of its spells outlast the run: run more days"
        raise UsageError("the objective has no value at any point tried", where="tune", hint=hint)
    if np.isnan(stacked).all():
        raise UsageError("no point tried keeps the bounds", where="--keep", hint="widen the space, or ask for less")
    if not tuner.worst and not np.isnan(stacked).any() and np.ptp(stacked, axis=0).max() == 0.0:
        raise UsageError(
            "the objective is the same, to the last digit, at every point tried",
            where="tune",
            given=", ".join(tuner.space.names),
            hint="tune settings that act on it: ms.sensitivity ranks them",
        )


def _weighted_loss(first: Array, last: Array) -> Array:
    """Return one loss per point; several objectives are weighted by the point's position in the generation.

    max over objectives of w (loss − least of the first generation) / its range (Chebyshev), so that places share the front.
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
        raise UsageError("nothing to tune on", where="tune", hint="give scenarios or folders of claims")
    every = [as_problem(problem, replications=replications, rules=rules) for problem in problems]
    if holdout is None:
        pairs = [problem.halved(seed) for problem in every]
        test = [other for _, other in pairs if other is not None]
        return [problem for problem, _ in pairs], test if len(test) == len(pairs) else []
    if not holdout:
        raise UsageError("nothing is held out", where="tune: holdout", hint="leave it out to hold out half of what is given")
    return every, [as_problem(problem, replications=replications, rules=rules) for problem in holdout]
