"""Fits of decay time constants to logs of claim lifetimes, with intervals and a test of the exponential law."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.decay.goodness import UNTESTED, Goodness, of_claims, of_lifetimes
from malsim.lab.decay.likelihood import EXPONENTIAL, Likelihood
from malsim.lab.decay.log import SIGHTED, read_log
from malsim.lab.decay.rates import RATES, UNKNOWN, Chain, Rates, rates
from malsim.lab.decay.result import Decay, DecayGroups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.decay.log import Log

FIT = {
    "law": pl.String, "parameter": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "unit": pl.String,
}  # fmt: skip
FEWEST = 10  # minimum number of claims in a group that is fitted
NEVER = "the log is consistent with no change: the time constant has only a lower bound"
NOTHING = "the log does not determine how fast truth changes: any time constant fits"


@overload
def fit_decay(log: pl.DataFrame, *, by: None = None, floor: float | None = None) -> Decay: ...


@overload
def fit_decay(log: pl.DataFrame, *, by: str, floor: float | None = None) -> DecayGroups: ...


def fit_decay(log: pl.DataFrame, *, by: str | None = None, floor: float | None = None) -> Decay | DecayGroups:
    """Fit an exponential survival law to the lifetimes of claims by maximum likelihood.

    The law is S(t) = f + (1 − f) e^(−t/τ), with a floor f. The likelihood of a lifetime that ended between ages a and b is
    S(a) − S(b), that of a claim still true at age a is S(a), both divided by S(e) if first seen at age e.

    A log returned by `histories` has the time and value of each claim. From it, τ and the share of wrong claims are
    estimated together (hidden Markov likelihood; f is 0 unless given), as is the rate of reports.

    If the exponential law is rejected at 3 % (`goodness`), its constants are NaN, and the mean of a law that fits better is
    reported. Otherwise, for a log returned by `histories`, the interval of τ also covers the mean lifetimes under all other
    laws that the claims do not reject. With a given `floor`, the law is assumed and not tested.

    Parameters
    ----------
    log
        One row per lifetime: `after` and `before` (days; null: still true), optionally `entered` (age in days at the first
        sighting; null: unknown, the row is left out). Or `duration` (days) and `ended` (false: still true when last seen).
        `histories(run)` returns such a log.
    by
        Column to group by: `stability` (the class), `topic` (the tags of the claim that started the stretch), `namespace`
        (the part of the object's name before its first `/`, `:` or `.`), or another column of the log. Groups of fewer than
        ten claims are left out.
    floor
        Fixed floor of the law (`Rules.currency_floor`); stretches are then treated as lifetimes. With a floor of 0 and ends
        known to the day, 1/τ is events / exposure.

    Raises
    ------
    DataError
        For missing columns, NaN, values that are not days, or `duration` and `ended` with fewer than ten rows or no end.
    UsageError
        For a floor out of bounds or an unknown group.
    """
    if by is None:
        return _fit(log, floor)
    return DecayGroups(by, {name: _fit(part, floor) for name, part in _groups(log, by)})


def _groups(log: pl.DataFrame, by: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the name and the rows of each group of a log, sorted by name."""
    keys = {"topic": "topics", "namespace": "object"}
    if keys.get(by, by) not in log.columns:
        allowed = f"stability, topic, namespace, or a column of {', '.join(log.columns)}"
        raise UsageError("no such column to group by", where="fit_decay: by", given=by, allowed=allowed)
    if by == "topic":
        log = log.explode("topics").rename({"topics": "topic"})
    elif by == "namespace":
        log = log.with_columns(namespace=pl.col("object").str.extract(r"^([^/:.]+)[/:.]"))
    for (name,), part in log.drop_nulls(by).sort(by, maintain_order=True).group_by(by, maintain_order=True):
        if _claims(part) >= FEWEST:
            yield str(name), part


def _claims(log: pl.DataFrame) -> int:
    """Return the number of claims in a log, including restatements."""
    return log.height + (int(log["restated"].list.len().sum()) if "restated" in log.columns else 0)


def _fit(log: pl.DataFrame, floor: float | None) -> Decay:
    everything = read_log(log, floor=floor)
    lifetimes = everything.of_known_age
    estimate = rates(log) if floor is None and set(log.columns) >= SIGHTED else None
    goodness = UNTESTED
    if floor is None:
        goodness = of_claims(Chain.of(log), estimate) if estimate else of_lifetimes(lifetimes)
    if estimate:
        note = NOTHING if np.isnan(estimate.tau[0]) else NEVER if estimate.tau[0] == np.inf else ""
    else:
        note = "" if everything.ended.any() else NEVER
    return Decay(
        constants=pl.DataFrame(_constants(lifetimes, estimate, floor, goodness), schema=FIT, orient="row"),
        goodness=goodness,
        log=everything,
        claims=_claims(log),
        stability=str(log["stability"][0]) if "stability" in log.columns and log["stability"].n_unique() == 1 else "",
        rates=estimate.table if estimate else pl.DataFrame(schema=RATES),
        notes=(note,) if note else (),
    )


def _constants(log: Log, estimate: Rates | None, floor: float | None, goodness: Goodness) -> list[tuple[object, ...]]:
    tau, fitted_floor = UNKNOWN, UNKNOWN
    if estimate and not goodness.rejected:
        value, low, high = estimate.tau
        tested = goodness.p >= 0.0
        tau = (value, min(low, goodness.mean[1]), max(high, goodness.mean[2])) if tested else (value, low, high)
        fitted_floor = (0.0, 0.0, 0.0)
    elif not goodness.rejected and log.duration.sum() > 0.0:
        likelihood = Likelihood(EXPONENTIAL, log, floor)
        best = likelihood.best()
        low, high = np.exp(likelihood.interval(best, 0)).tolist()
        tau, fitted_floor = (float(np.exp(best[0])), low, high), (float(best[1]), *likelihood.interval(best, 1))
    return [("exponential", "tau", *tau, "d"), ("exponential", "floor", *fitted_floor, "1")]
