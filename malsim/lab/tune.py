"""Constants from data: searched, held out, given with intervals, or not recommended at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.problems import as_problem
from malsim.lab.search import Search
from malsim.lab.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from malsim.lab.measure import Array, Measure
    from malsim.lab.problems import Problem
    from malsim.memory import Rules

__all__ = ["Tuned", "tune"]

BUDGET = 256
SIZE = 32
RESAMPLES = 400
CHUNK = 25
FLAT = 1e-9


@dataclass(frozen=True, kw_only=True, repr=False)
class Tuned:
    """What tuning found.

    `candidates` has a row a point tried: number, a column a dimension, and loss (mean over problems; lower is better).
    `interval` gives, for each dimension, where the best of the points tried falls in 95 % of resamples of the units, together
    with where the search's last generation still lay. `loss`, `held_out` are (mean, low, high) of the best point, `gain` and
    `held_gain` of the paired difference default − best. `recommended` is None where `reason` says why nothing is.
    """

    objective: str
    candidates: pl.DataFrame
    best: dict[str, Any]
    interval: dict[str, tuple[Any, Any]]
    loss: tuple[float, float, float]
    gain: tuple[float, float, float]
    held_out: tuple[float, float, float]
    held_gain: tuple[float, float, float]
    recommended: Rules | None
    reason: str

    @property
    def gap(self) -> float:
        """How much worse the best point does on what was held out."""
        return self.held_out[0] - self.loss[0]

    def toml(self) -> str:
        """The recommended rules as a file that run, test, replay and tune accept; raises `UsageError` where there are none."""
        if self.recommended is None:
            raise UsageError("nothing to recommend", where="tune", hint=self.reason)
        lines = [
            f"# {self.objective}: loss {_triple(self.loss)}, held out {_triple(self.held_out)}, gap {self.gap:+.4g}",
            f"# better than the rules before by {_triple(self.held_gain)} on what was held out; 95 % intervals",
            "[rules]",
        ]
        for name, value in self.best.items():
            low, high = self.interval[name]
            between = f"{low:.4g} to {high:.4g}" if isinstance(low, float) else f"{low} to {high}" if low != high else f"{low}"
            lines.append(f"{name.removeprefix('rules.')} = {_literal(value)}  # {between}")
        return "\n".join(lines) + "\n"

    def write(self, path: Path) -> None:
        """Write `toml()`."""
        path.write_text(self.toml(), encoding="utf-8")

    def __repr__(self) -> str:
        """A few lines a person reads."""
        lines = [
            f"{self.objective}: {self.candidates.height} points tried; best loss {_triple(self.loss)}",
            f"  held out {_triple(self.held_out)} (gap {self.gap:+.4g}), better than before by {_triple(self.held_gain)}",
        ]
        for name, value in self.best.items():
            low, high = (_literal(end) for end in self.interval[name])
            lines.append(f"  {name} = {_literal(value)}  [{low}, {high}]")
        return "\n".join([*lines, f"  {'recommended' if self.recommended else 'nothing recommended'}: {self.reason}"])


def tune(
    problems: Sequence[Any] | Any,
    *,
    space: Mapping[str, Sequence[Any]],
    objective: Measure | None = None,
    requirements: Sequence[str] = (),
    holdout: Sequence[Any] | None = None,
    budget: int = BUDGET,
    seed: int = 0,
    executor: Executor | None = None,
    progress: bool = False,
) -> Tuned:
    """Search a space of rules for the least loss, and say how sure that is.

    Parameters
    ----------
    problems
        Scenarios or their files, real claims or their folders; one or several.
    space
        Rule names to (low, high) or to lists of choices: {"rules.support_ceiling": (0, 0.9)}.
    objective
        The name of a figure (a loss for what is better low, turned for accuracy and the like), or a function of a run that
        is better low; its mean over units, then over problems. "brier" if None.
    requirements
        Properties instead of an objective: the worst margin over all problems and replications is raised.
    holdout
        Problems that tuning does not see. If None, half of the objects of claims, and further replications of scenarios.
    budget
        Points tried, in whole generations of 32.
    executor
        Any `concurrent.futures` executor; how many workers it has changes nothing but the time.

    Recommends nothing where the objective is flat, or where on what was held out the gain's interval holds 0.
    """
    if requirements and objective is not None:
        raise UsageError("an objective or requirements, not both", where="tune")
    if budget < SIZE:
        raise UsageError("too few points to choose from", where="tune: budget", given=budget, allowed=f"{SIZE} or more")
    measures: list[Measure] = list(requirements) or [objective or "brier"]
    searched = Space.of(space)
    seen, kept = _split(problems, holdout, seed)
    base = seen[0].rules
    job = _Job(seen, measures, worst=bool(requirements))
    search = Search(len(searched.dimensions), size=SIZE, seed=seed)
    values, losses = [searched.values(np.zeros(len(searched.dimensions)))][:0], [job(base)]
    for _ in _bar(range(budget // SIZE), progress):
        points = [search.ask() for _ in range(SIZE)]
        made = [searched.values(point) for _, point in points]
        found = list((executor.map if executor else map)(job, [searched.rules(one, base) for one in made]))
        for (number, _), units in zip(points, found, strict=True):
            search.tell(number, job.loss(units))
        values, losses = values + made, losses + found
    return _judged(searched, values, losses, job, _Job(kept, measures, worst=bool(requirements)), base)


@dataclass(frozen=True)
class _Job:
    """The losses of every unit of every problem under some rules; it can be sent to another process."""

    problems: list[Problem]
    measures: list[Measure]
    worst: bool

    def __call__(self, rules: Rules) -> list[Array]:
        """One array of losses a problem and measure."""
        return [problem.losses(rules, measure) for problem in self.problems for measure in self.measures]

    def loss(self, units: list[Array]) -> float:
        """Mean over units, then over problems; of requirements, the worst."""
        if self.worst:
            return float(max(part.max() for part in units))
        means = [float(np.nanmean(part)) if (~np.isnan(part)).any() else np.nan for part in units]
        return float(np.mean(means))

    def interval(self, units: list[Array]) -> tuple[float, float, float]:
        """The loss with its 95 % interval: normal, from the spread of units within each problem; of a worst, its range."""
        mean = self.loss(units)
        if self.worst:
            return mean, float(min(part.min() for part in units)), mean
        held = [part[~np.isnan(part)] for part in units]
        half = 1.96 * np.sqrt(sum(part.var(ddof=1) / len(part) for part in held if len(part) > 1)) / len(held)
        return mean, mean - float(half), mean + float(half)


def _split(problems: Any, holdout: Sequence[Any] | None, seed: int) -> tuple[list[Problem], list[Problem]]:
    given = list(problems) if isinstance(problems, (list, tuple)) else [problems]
    if not given:
        raise UsageError("nothing to tune on", where="tune", hint="give scenarios or folders of claims")
    every = [as_problem(one) for one in given]
    if holdout is not None:
        return every, [as_problem(one) for one in holdout]
    pairs = [one.halved(seed) for one in every]
    return [one for one, _ in pairs], [other for _, other in pairs]


def _judged(
    space: Space, values: list[dict[str, Any]], losses: list[list[Array]], job: _Job, held: _Job, base: Rules
) -> Tuned:
    """Choose the best, resample for the intervals, and see what was held out."""
    means = np.array([job.loss(units) for units in losses[1:]])
    if np.isnan(means).all():
        raise UsageError("no point has a value", where="tune", hint="is there truth to score against?")
    chosen = int(np.nanargmin(means))
    best = values[chosen]
    columns = {one.name: [point[one.name] for point in values] for one in space.dimensions}
    before, after = held(base), held(space.rules(best, base))
    gain = job.interval([old - new for old, new in zip(losses[0], losses[1 + chosen], strict=True)])
    held_gain = held.interval([old - new for old, new in zip(before, after, strict=True)])
    if job.worst:
        gain, held_gain = ((gap, gap, gap) for gap in (job.loss(losses[0]) - means[chosen], held.loss(before) - held.loss(after)))
    flat = np.nanmax(means) - np.nanmin(means) <= FLAT * max(1.0, abs(float(means[chosen])))
    reason = _reason(flat=bool(flat), held_gain=held_gain)
    recommended = None if flat or held_gain[1] <= 0.0 else space.rules(best, base)
    name = " and ".join(one if isinstance(one, str) else getattr(one, "__name__", "objective") for one in job.measures)
    return Tuned(
        objective=name,
        candidates=pl.DataFrame({"number": range(len(values)), **columns, "loss": means}),
        best=best,
        interval={one.name: _spread(columns[one.name], _bests(losses[1:], job, means)) for one in space.dimensions},
        loss=job.interval(losses[1 + chosen]),
        gain=gain,
        held_out=held.interval(after),
        held_gain=held_gain,
        recommended=recommended,
        reason=reason,
    )


def _reason(*, flat: bool, held_gain: tuple[float, float, float]) -> str:
    if flat:
        return "the objective is flat: no point of the space does better than another"
    if held_gain[1] <= 0.0:
        return f"on what was held out the gain {_triple(held_gain)} may be nothing"
    return f"on what was held out it gains {_triple(held_gain)}"


def _bests(losses: list[list[Array]], job: _Job, means: Array) -> list[int]:
    """Which points are best in resamples of the units, and those of the last generation that its better half holds."""
    last = np.argsort(means[-SIZE:], kind="stable")[: SIZE // 2] + len(means) - SIZE
    chosen = set(last.tolist()) if len(means) > 2 * SIZE else set()
    if job.worst:
        return sorted(chosen | {int(np.nanargmin(means))})
    draws = np.random.Generator(np.random.Philox(key=0))
    totals = np.zeros((RESAMPLES, len(losses)))
    for part in range(len(losses[0])):
        table = np.stack([units[part] for units in losses])
        table = np.where(np.isnan(table), np.nanmean(table, axis=1, keepdims=True), table)
        count = table.shape[1]
        for at in range(0, RESAMPLES, CHUNK):
            weight = draws.multinomial(count, np.full(count, 1 / count), size=CHUNK)
            totals[at : at + CHUNK] += weight @ table.T / count
    won, times = np.unique(totals.argmin(axis=1), return_counts=True)
    order = np.argsort(-times, kind="stable")
    enough = int(np.searchsorted(np.cumsum(times[order]), 0.95 * RESAMPLES)) + 1
    return sorted(chosen | set(won[order[:enough]].tolist()) | {int(np.nanargmin(means))})


def _spread(column: list[Any], rows: list[int]) -> tuple[Any, Any]:
    """The ends of the values at some rows; of choices, the first and last of those met."""
    met = sorted({column[row] for row in rows})
    return met[0], met[-1]


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _triple(found: tuple[float, float, float]) -> str:
    return f"{found[0]:.4g} [{found[1]:.4g}, {found[2]:.4g}]"


def _bar(steps: Iterable[int], progress: bool) -> Iterable[int]:  # noqa: FBT001  # a switch by nature
    if not progress:
        return steps
    from tqdm.auto import tqdm

    shown: Callable[..., Iterable[int]] = tqdm
    return shown(steps, desc="tune", unit="generation")
