"""What is tuned on: scenarios and real claims, each giving a loss for every unit that chance deals out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.measure import Array, Measure, is_better_high, measured
from malsim.lab.real import RealClaims, halves, read_real
from malsim.scenario.files import read
from malsim.sim import bench
from malsim.sim.script import Scenario

if TYPE_CHECKING:
    from malsim.memory import Rules

__all__ = ["Problem", "as_problem"]

REPLICATIONS = 16
CLIPPED = 1e-6


class Problem(Protocol):
    """Something to tune on: a loss for each of its units under rules, the same units whatever the rules."""

    @property
    def name(self) -> str:
        """What to call it."""

    @property
    def rules(self) -> Rules:
        """The rules it runs under where nothing is tuned."""

    def losses(self, rules: Rules, measure: Measure) -> Array:
        """One loss a unit (a replication, an object); lower is better."""

    def halved(self, seed: int) -> tuple[Problem, Problem]:
        """Two problems of other units: one to tune on, one to hold out."""


@dataclass(frozen=True, eq=False)
class OfScenario:
    """A scenario; its units are replications, held out are later ones."""

    scenario: Scenario

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.scenario.name

    @property
    def rules(self) -> Rules:
        """The scenario's rules."""
        return self.scenario.rules

    def losses(self, rules: Rules, measure: Measure) -> Array:
        """The measure of each replication, its sign turned where more is better."""
        values = measured(bench.run(self.scenario.replace(rules=rules)), measure)
        return -values if is_better_high(measure) else values

    def halved(self, seed: int) -> tuple[Problem, Problem]:  # noqa: ARG002  # replications are drawn apart already
        """The same scenario, and as many replications more."""
        one = self.scenario
        return self, OfScenario(one.replace(first=one.first + one.replications))


@dataclass(frozen=True, eq=False)
class OfClaims:
    """Real claims; its units are the objects whose truth it may look at."""

    claims: RealClaims
    base: Rules
    objects: pl.Series

    @property
    def name(self) -> str:
        """The data set's name."""
        return self.claims.name

    @property
    def rules(self) -> Rules:
        """The rules tuning starts from."""
        return self.base

    def losses(self, rules: Rules, measure: Measure) -> Array:
        """(p − right)², 1 − right, or −log p of what is the case, of each object's answer."""
        judged = self.claims.judged(rules, self.objects)
        probability, right = judged["probability"].to_numpy(), judged["right"].to_numpy()
        if measure == "brier":
            return np.asarray((probability - right) ** 2, dtype=np.float64)
        if measure == "accuracy":
            return 1.0 - right.astype(np.float64)
        if measure == "log_loss":
            clipped = np.clip(probability, CLIPPED, 1.0 - CLIPPED)
            return -np.log(np.where(right, clipped, 1.0 - clipped))
        raise UsageError("real claims have no such objective", where=self.name, given=measure, allowed="brier, accuracy, log_loss")

    def halved(self, seed: int) -> tuple[Problem, Problem]:
        """Half of the objects, and the other half; all claims stay in memory, only truths are held out."""
        one, other = halves(self.objects, seed=seed)
        return OfClaims(self.claims, self.base, one), OfClaims(self.claims, self.base, other)


def as_problem(given: Problem | Scenario | RealClaims | str | Path, *, replications: int = REPLICATIONS) -> Problem:
    """A problem from a scenario or its file, or from real claims or their folder; else as it is.

    A scenario with fewer than two replications gets `replications`, as one has no spread to judge a difference by.
    """
    from malsim.memory import Rules

    if isinstance(given, (str, Path)):
        given = read_real(given) if Path(given).is_dir() else read(given)
    if isinstance(given, Scenario):
        return OfScenario(given if given.replications > 1 else given.replace(replications=replications))
    if isinstance(given, RealClaims):
        return OfClaims(given, Rules(), given.objects)
    if not hasattr(given, "losses"):
        raise UsageError("nothing to tune on", where="tune", given=type(given).__name__, allowed="scenarios, claim folders")
    return given
