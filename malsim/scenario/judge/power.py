"""The chance of each check to fail on a fresh seed though nothing is wrong, from many replications of its scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from malsim.base.errors import UsageError
from malsim.base.intervals import poisson
from malsim.base.plain_text import one_line
from malsim.scenario.judge.fresh_seeds import with_drawn_checks
from malsim.scenario.judge.judge import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from malsim.base.limits import Limits
    from malsim.scenario.checks.metric_bounds import MetricEstimate
    from malsim.scenario.judge.judge import Judged, Outcome
    from malsim.scenario.properties import Verdict
    from malsim.sim.settings.scenario import Check, Scenario

    Chance: TypeAlias = tuple[float, float, float]

SELDOM = 0.001  # a chance of failing that a check may have
POOL = 200  # replications that chances are estimated from
DRAWS = 2000  # samples of as many replications as the scenario has, drawn from the pool
FEWEST_BLOCKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRow:
    """A check, its chance to fail and to be left undecided on a fresh seed, and the upper end of the first (95 %)."""

    scenario: Scenario
    check: Check
    fails: float
    high: float
    undecided: float

    @property
    def seldom(self) -> bool:
        """Whether it fails as seldom as a check should."""
        return self.fails <= SELDOM

    def __str__(self) -> str:
        """Where the check stands, and how often it fails."""
        path = one_line(self.scenario.path or self.scenario.name)
        also = f", cannot be judged {self.undecided:.2g}" if self.undecided else ""
        return f"{path}:{self.check.line}: fails {self.fails:.2g} (below {self.high:.2g}){also}: {self.check.name}"


@dataclass(frozen=True, slots=True)
class PowerTable:
    """The checks of a suite with their chances, and the scenarios that could not be run."""

    rows: tuple[PowerRow, ...]
    errors: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 all fail seldom, 1 one does not, 2 an error."""
        return 2 if self.errors else int(not all(row.seldom for row in self.rows))

    def lines(self) -> Iterator[str]:
        """The errors, the checks that fail or are left undecided too often, and the count."""
        yield from self.errors
        yield from (str(row) for row in self.rows if not row.seldom or row.undecided > SELDOM)
        often = sum(not row.seldom for row in self.rows)
        yield f"{len(self.rows)} checks: {often} fail on a fresh seed with a chance above {SELDOM:g}"


def chances(suite: Iterable[Judged], replications: int = POOL, *, limits: Limits | None = None) -> PowerTable:
    """Run so many replications of each scenario on the next seed, and work out how often each of its checks would fail.

    - A metric: its verdict on 2,000 samples of as many of these replications as the scenario has.
    - A property: with h of N holding, n replications and the share s asked, P(Binomial(n, h / N) < s n).
    - Others: the share of blocks of n that fail.

    The upper end adds what N replications cannot show. Baselines and goals are not asked. Raises `UsageError` for fewer
    replications than twenty.
    """
    if replications < FEWEST_BLOCKS:
        raise UsageError("too few to tell", where="--power", given=replications, allowed=f"{FEWEST_BLOCKS} or more")
    rows: list[PowerRow] = []
    errors: list[str] = []
    for alone in with_drawn_checks(suite):
        pool = judge(alone.replace(seed=alone.seed + 1, replications=replications), limits=limits)
        if pool.error:
            errors.append(f"{one_line(alone.path or alone.name)}:1: error: {pool.error}")
            continue
        rows += [_row(alone, outcome) for outcome in pool.outcomes]
    return PowerTable(tuple(rows), tuple(errors))


def _row(scenario: Scenario, outcome: Outcome) -> PowerRow:
    if outcome.verdict is not None:
        fails, high, undecided = _of_property(outcome.verdict, scenario.replications)
    elif outcome.estimate is not None:
        fails, high, undecided = _of_metric(outcome.estimate, scenario.replications, scenario.seed)
    else:
        fails = float(outcome.status != "pass")
        high, undecided = fails, 0.0
    return PowerRow(scenario=scenario, check=outcome.check, fails=fails, high=high, undecided=undecided)


def _of_property(verdict: Verdict, count: int) -> Chance:
    from scipy.stats import binom

    holds = verdict.margin.holds
    needed = int(np.ceil(verdict.share * count - 1e-9))
    broken = float((~holds).sum())
    most = min(poisson(broken)[1] / len(holds), 1.0)
    return float(binom.cdf(needed - 1, count, holds.mean())), float(binom.cdf(needed - 1, count, 1.0 - most)), 0.0


def _of_metric(estimate: MetricEstimate, count: int, seed: int) -> Chance:
    each, draws = estimate.each, np.random.Generator(np.random.Philox(key=seed))
    if not np.ptp(each) > 0.0 and estimate.pooled is None:
        return float(not estimate.passed), float(not estimate.passed), 0.0
    times = len(each) if count == 1 else DRAWS
    places = np.arange(times)[:, None] if count == 1 else draws.integers(0, len(each), (times, count))
    samples = [
        replace(estimate, each=each[row], replications=estimate.replications[row],
                pooled=estimate.pooled and estimate.pooled.take(row))
        for row in places
    ]  # fmt: skip
    undecided = sum(sample.undecided for sample in samples)
    fails = sum(not sample.passed for sample in samples) - undecided
    return fails / times, min(poisson(fails)[1] / times, 1.0), undecided / times
