"""Rates of change, of error and of reporting out of who said what when, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import poisson
from malsim.lab.decay.chain import Chain
from malsim.lab.decay.likelihood import CHI_SQUARE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array

GRID, CLOSER = 21, 5
CLOSINGS = (3, 2)  # of the grids of τ and ε
HIDDEN = 0.15
RATES = {"quantity": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "unit": pl.String}
Estimate = tuple[float, float, float]
UNKNOWN: Estimate = (np.nan, 0.0, np.inf)


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The time constant `tau` (days) and the rates of `error`, `reports` and `invisible` changes: value, low, high.

    Of τ, 0 and infinity stand where the log leaves an end open; the value is NaN where it leaves both open.
    """

    tau: Estimate
    error: Estimate
    reports: Estimate
    invisible: Estimate

    @property
    def lifetimes(self) -> bool:
        """True if a stretch is the lifetime of a truth: no claim need be wrong, and few changes went unseen."""
        return self.error[1] == 0.0 and self.invisible[0] <= HIDDEN

    @property
    def table(self) -> pl.DataFrame:
        """Rows error (share of claims that are wrong), reports (an object and day), invisible (share of changes)."""
        rows = (("error", self.error, "1"), ("reports", self.reports, "1/d"), ("invisible", self.invisible, "1"))
        return pl.DataFrame([(name, *ends, unit) for name, ends, unit in rows], schema=RATES, orient="row")


def rates(log: pl.DataFrame) -> Rates:
    """Return the rates in a log of `histories`.

    Changes and errors are estimated together by a hidden Markov likelihood (`chain`), with 95 % profile intervals. Reports
    are claims an object and day since its first, with the exact interval of a Poisson count. A change is invisible where
    another follows before the next report: (1/τ) / (1/τ + reports).
    """
    reports, chain = _reports(log), Chain.of(log)
    if not (chain.gaps > 0.0).any():
        return Rates(tau=UNKNOWN, error=(np.nan, 0.0, 1.0), reports=reports, invisible=(np.nan, 0.0, 1.0))
    tau, error = (_estimate(chain, place) for place in (0, 1))
    if tau[1:] == UNKNOWN[1:]:
        tau = UNKNOWN
    slowest, fastest = 1.0 / (1.0 + tau[2] * reports[2]), 1.0 / (1.0 + tau[1] * reports[1])
    return Rates(tau=tau, error=error, reports=reports, invisible=(1.0 / (1.0 + tau[0] * reports[0]), slowest, fastest))


def _reports(log: pl.DataFrame) -> Estimate:
    each = log.group_by("rep", "object").agg(
        claims=pl.len() + pl.col("restated").list.len().sum() - 1, days=pl.col("until").max() - pl.col("start").min()
    )
    count, days = float(each["claims"].sum()), float(each["days"].sum())
    if not days > 0.0:
        return UNKNOWN
    low, high = poisson(count)
    return count / days, low / days, high / days


def _estimate(chain: Chain, place: int) -> Estimate:
    """Return the most likely τ (place 0) or ε (1), with its 95 % profile interval."""
    grid = np.linspace(*chain.bounds[place], GRID)
    losses = chain.profile(grid, place=place)[0]
    for _ in range(CLOSINGS[place]):
        more = np.concatenate([np.linspace(grid[at], grid[at + 1], CLOSER)[1:-1] for at in _near(losses)])
        grid, losses = np.append(grid, more), np.append(losses, chain.profile(more, place=place)[0])
        order = np.argsort(grid)
        grid, losses = grid[order], losses[order]
    inside = np.flatnonzero(losses <= losses.min() + CHI_SQUARE / 2.0)
    first, last, best = int(inside[0]), int(inside[-1]), int(losses.argmin())
    allowed = losses[best] + CHI_SQUARE / 2.0
    low = 0.0 if first == 0 else float(np.exp(_crossing(grid, losses, first - 1, first, allowed)))
    top = len(grid) - 1
    open_end = np.inf if place == 0 else 1.0
    high = open_end if last == top else float(np.exp(_crossing(grid, losses, last + 1, last, allowed)))
    value = 0.0 if best == 0 else open_end if best == top else float(np.exp(grid[best]))
    return value, low, high


def _near(losses: Array) -> list[int]:
    """Return the steps of a grid beside its best point, and where the loss passes the interval's."""
    best, last = int(losses.argmin()), len(losses) - 2
    inside = np.append(losses <= losses[best] + CHI_SQUARE / 2.0, False)
    crossings = np.flatnonzero(inside[:-2] != inside[1:-1])
    return sorted({min(max(at, 0), last) for at in (best - 1, best)} | {int(at) for at in crossings})


def _crossing(grid: Array, losses: Array, out: int, inside: int, allowed: float) -> float:
    share = (allowed - losses[inside]) / (losses[out] - losses[inside])
    return float(grid[inside] + share * (grid[out] - grid[inside]))
