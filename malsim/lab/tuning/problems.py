"""Problems to tune on: scenarios and real claims, each with a loss per random unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from malsim.base.errors import UsageError
from malsim.base.user_formula import UserFormula
from malsim.lab.space.settings import changed
from malsim.lab.studies.measure import Array, Measure, is_better_high, measured_by_running
from malsim.lab.studies.price_figures import PRICES, price_figure
from malsim.lab.studies.real import RealClaims, halves, read_real
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import read
from malsim.sim.record.scoring import CLIPPED, squared_error
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import polars as pl


REPLICATIONS = 16


class Problem(Protocol):
    """Something to tune on, with one loss per unit; the units are the same under all settings."""

    @property
    def name(self) -> str: ...

    @property
    def subject(self) -> Rules | Scenario: ...

    def under(self, values: Mapping[str, Any]) -> Rules | Scenario: ...

    def losses(self, values: Mapping[str, Any], measures: Sequence[Measure]) -> list[Array]:
        """Return, per measure, the loss of each unit (a replication, a question) under some settings; lower is better."""

    def halved(self, seed: int) -> tuple[Problem, Problem | None]:
        """Return two problems with other units, one to tune on and one to hold out (None if nothing is random)."""


@dataclass(frozen=True, eq=False)
class OfScenario:
    """Scenario to tune on; its units are replications, and later replications are held out."""

    subject: Scenario

    @property
    def name(self) -> str:
        return self.subject.name

    def under(self, values: Mapping[str, Any]) -> Scenario:
        return changed(self.subject, values, where="space")

    def losses(self, values: Mapping[str, Any], measures: Sequence[Measure]) -> list[Array]:
        """Return each measure per replication, with the sign flipped if higher is better."""
        columns = measured_by_running(self.under(values), measures)
        return [-item if is_better_high(entry) else item for entry, item in zip(measures, columns, strict=True)]

    def halved(self, seed: int) -> tuple[Problem, Problem | None]:  # noqa: ARG002  # replications are drawn apart already
        """Return the same scenario, and as many further replications (None if nothing is random)."""
        item = self.subject
        return self, OfScenario(item.replace(first=item.first + item.replications)) if has_chance(item) else None


def has_chance(scenario: Scenario) -> bool:
    """Return whether two replications of a scenario may differ: scripted claims alone happen alike in each."""
    actors = (scenario.writers, scenario.faults, scenario.reader, scenario.reviewers, scenario.processes, scenario.adapter)
    return any(actors) or any(fact.hazard for fact in scenario.facts)


@dataclass(frozen=True, eq=False)
class OfClaims:
    """Real claims to tune on; the units are the questions about `objects`."""

    claims: RealClaims
    subject: Rules
    objects: pl.Series

    @property
    def name(self) -> str:
        return self.claims.name

    def under(self, values: Mapping[str, Any]) -> Rules:
        return changed(self.subject, values, where="space")

    def losses(self, values: Mapping[str, Any], measures: Sequence[Measure]) -> list[Array]:
        """Return (p − right)², (p · currency − right)², 1 − right, or the negative log-likelihood, for each answer."""
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
                allowed = ", ".join(by_name)
                raise UsageError("real claims have no such objective", where=self.name, given=measure, allowed=allowed)
        return [by_name[measure] for measure in measures]

    def halved(self, seed: int) -> tuple[Problem, Problem]:
        """Split the objects into two halves; all claims stay in memory, only truths are held out."""
        item, other = halves(self.objects, seed=seed)
        return OfClaims(self.claims, self.subject, item), OfClaims(self.claims, self.subject, other)


def formula_of(subject: object) -> UserFormula | None:
    effective = getattr(getattr(subject, "rules", subject), "effective", None)
    return effective if isinstance(effective, UserFormula) else None


def drawn_subject(problem: Problem) -> Scenario | Path | None:
    """Return what to draw trajectories of: a scenario, or the path of a claims file."""
    if isinstance(problem, OfClaims):
        return problem.claims.path
    return problem.subject if isinstance(problem.subject, Scenario) else None


def as_problem(subject: object, *, replications: int = REPLICATIONS, rules: Rules | None = None) -> Problem:
    """Return a problem from a scenario, real claims, or the path of either; objects with losses are returned unchanged.

    A scenario of fewer replications gets as many as are asked for, at least two, as one has no spread to judge by. A
    scenario in which nothing is random has one.
    """
    if replications < 2:  # noqa: PLR2004  # one has no spread
        raise UsageError("at least two replications are needed", where="tune: replications", given=replications)
    if isinstance(subject, (str, Path)):
        subject = read_real(subject) if Path(subject).is_dir() else read(subject)
    if isinstance(subject, Scenario):
        count = max(subject.replications, replications) if has_chance(subject) else 1
        return OfScenario(subject.replace(rules=rules or subject.rules, replications=count))
    if isinstance(subject, RealClaims):
        return OfClaims(subject, rules or Rules(), subject.objects)
    if not hasattr(subject, "losses"):
        allowed = "scenarios, folders of claims"
        raise UsageError("nothing to tune on", where="tune", given=type(subject).__name__, allowed=allowed)
    return cast("Problem", subject)


FORM = re.compile(rf"\s*({'|'.join(PRICES)})\s*(>=|<=)\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class PriceBound:
    """Bound on a figure of `PRICES`: its name, `>=` or `<=`, and a number."""

    name: str
    relation: str
    value: float

    @classmethod
    def of(cls, text: str) -> PriceBound:
        """Parse a bound; raise `UsageError` if the text is not one.

        >>> PriceBound.of("gap >= 3")
        PriceBound(name='gap', relation='>=', value=3.0)
        """
        if not (match := FORM.fullmatch(text)):
            allowed = f"{', '.join(PRICES)}, then >= or <= and a number"
            raise UsageError("not a bound on a price", where="--keep", given=text, allowed=allowed, hint='--keep "gap >= 3"')
        return cls(match[1], match[2], float(match[3]))

    def holds(self, subject: Scenario | Rules) -> bool:
        figure = price_figure(subject, self.name)
        return figure >= self.value if self.relation == ">=" else figure <= self.value

    def __str__(self) -> str:
        return f"{self.name} {self.relation} {self.value:g}"


@dataclass(frozen=True)
class Within:
    """Callable that tests whether all problems keep the price bounds under some settings; it can be pickled."""

    bounds: tuple[PriceBound, ...]
    problems: tuple[Problem, ...]

    def __call__(self, values: Mapping[str, Any]) -> bool:
        return all(bound.holds(problem.under(values)) for bound in self.bounds for problem in self.problems)
