"""Tuning problems: scenarios and real claims, with one loss per random unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from malsim.base.errors import UsageError
from malsim.lab.space.settings import changed
from malsim.lab.studies.measure import Array, Measure, is_better_high, measured_by_running
from malsim.lab.studies.price_figures import PRICES, price_figure
from malsim.lab.studies.real import RealClaims, halves, read_real
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import read
from malsim.sim.record.scoring import CLIPPED, squared_error
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

REPLICATIONS = 16


class Problem(Protocol):
    """Problem to tune on, with one loss per unit (replication or question). The units do not depend on the settings."""

    @property
    def name(self) -> str: ...

    @property
    def subject(self) -> Rules | Scenario: ...

    def under(self, values: Mapping[str, Any]) -> Rules | Scenario: ...

    def losses(self, values: Mapping[str, Any], measures: Sequence[Measure]) -> list[Array]:
        """Return one array per measure with each unit's loss under the settings `values`. Lower is better."""

    def halved(self, seed: int) -> tuple[Problem, Problem | None]:
        """Return two problems with disjoint units: one to tune on, and one to hold out (None if nothing is random)."""


@dataclass(frozen=True, eq=False)
class OfScenario:
    """Scenario to tune on. The units are replications, and additional replications are held out."""

    subject: Scenario

    @property
    def name(self) -> str:
        return self.subject.name

    def under(self, values: Mapping[str, Any]) -> Scenario:
        return changed(self.subject, values, where="space")

    def losses(self, values: Mapping[str, Any], measures: Sequence[Measure]) -> list[Array]:
        """Return each measure per replication, negated if higher is better."""
        columns = measured_by_running(self.under(values), measures)
        return [-column if is_better_high(measure) else column for measure, column in zip(measures, columns, strict=True)]

    def halved(self, seed: int) -> tuple[Problem, Problem | None]:  # noqa: ARG002  # replications are independent already
        """Return this problem, and one with as many additional replications (None if nothing is random)."""
        later = self.subject.replace(first=self.subject.first + self.subject.replications)
        return self, OfScenario(later) if has_chance(self.subject) else None


def has_chance(scenario: Scenario) -> bool:
    """Return whether replications of the scenario can differ. Scripted claims are the same in every replication."""
    actors = (scenario.writers, scenario.faults, scenario.reader, scenario.reviewers, scenario.processes, scenario.adapter)
    return any(actors) or any(fact.hazard for fact in scenario.facts)


@dataclass(frozen=True, eq=False)
class OfClaims:
    """Tuning problem on real claims, whose loss is averaged over questions about `objects`."""

    claims: RealClaims
    subject: Rules
    objects: pl.Series

    @property
    def name(self) -> str:
        return self.claims.name

    def under(self, values: Mapping[str, Any]) -> Rules:
        return changed(self.subject, values, where="space")

    def losses(self, values: Mapping[str, Any], measures: Sequence[Measure]) -> list[Array]:
        """Return each answer's loss: 1 − right, log loss, Brier (p − right)²; for `trust_brier` (p · currency − right)²."""
        answers = self.claims.answers(self.under(values), self.objects)
        probability, right = (answers[name].to_numpy().astype(np.float64) for name in ("probability", "right"))
        clipped = np.clip(probability, CLIPPED, 1.0 - CLIPPED)
        by_name: dict[Any, Array] = {
            "accuracy": 1.0 - right,
            "brier": squared_error(probability, right),
            "trust_brier": squared_error(probability * answers["currency"].to_numpy(), right),
            "log_loss": -right * np.log(clipped) - (1.0 - right) * np.log(1.0 - clipped),
        }
        for measure in measures:
            if measure not in by_name:
                raise UsageError("no such objective", where=self.name, given=measure, allowed=", ".join(by_name))
        return [by_name[measure] for measure in measures]

    def halved(self, seed: int) -> tuple[Problem, Problem]:
        """Split the objects into two halves. Both halves keep all claims; only the true values are held out."""
        training, test = halves(self.objects, seed=seed)
        return OfClaims(self.claims, self.subject, training), OfClaims(self.claims, self.subject, test)


def drawn_subject(problem: Problem) -> Scenario | Path | None:
    """Return the scenario or the path of the claims file whose trajectories can be drawn, or None."""
    if isinstance(problem, OfClaims):
        return problem.claims.path
    return problem.subject if isinstance(problem.subject, Scenario) else None


def as_problem(subject: object, *, replications: int = REPLICATIONS, rules: Rules | None = None) -> Problem:
    """Convert a scenario, real claims, or the path of either to a problem.

    Objects with a method `losses` are returned unchanged. `replications` (2 or more) is a scenario's minimum number of
    replications; a scenario without randomness is run once.
    """
    if replications < 2:  # noqa: PLR2004  # one replication has no spread
        raise UsageError("at least two replications are needed", where="tune: replications", given=replications)
    if isinstance(subject, (str, Path)):
        subject = read_real(subject) if Path(subject).is_dir() else read(subject)
    if isinstance(subject, Scenario):
        count = max(subject.replications, replications) if has_chance(subject) else 1
        return OfScenario(subject.replace(rules=rules or subject.rules, replications=count))
    if isinstance(subject, RealClaims):
        return OfClaims(subject, rules or Rules(), subject.objects)
    if not hasattr(subject, "losses"):
        allowed = "a scenario, or a folder of claims"
        raise UsageError("not a tuning problem", where="tune", given=type(subject).__name__, allowed=allowed)
    return cast("Problem", subject)


FORM = re.compile(rf"\s*({'|'.join(PRICES)})\s*(>=|<=)\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class PriceBound:
    """Lower or upper bound on one of `PRICES`: its name, `>=` or `<=`, and a number."""

    name: str
    relation: str
    value: float

    @classmethod
    def of(cls, text: str) -> PriceBound:
        """Parse a bound such as `gap >= 3`. Raises `UsageError` for any other text.

        >>> PriceBound.of("gap >= 3")
        PriceBound(name='gap', relation='>=', value=3.0)
        """
        if not (match := FORM.fullmatch(text)):
            allowed = f"{', '.join(PRICES)}, then >= or <= and a number"
            raise UsageError(
                "not a bound on a price", where="--keep", given=text, allowed=allowed, hint='write --keep "gap >= 3"'
            )
        return cls(match[1], match[2], float(match[3]))

    def holds(self, subject: Scenario | Rules) -> bool:
        figure = price_figure(subject, self.name)
        return figure >= self.value if self.relation == ">=" else figure <= self.value


def keeps_bounds(bounds: Iterable[PriceBound], problems: Iterable[Problem], values: Mapping[str, Any]) -> bool:
    """Return whether every problem satisfies all price bounds under the settings `values`."""
    return all(bound.holds(problem.under(values)) for bound in bounds for problem in problems)
