"""Time constants from logs of how long things stayed true, with intervals, and which law predicts later ones best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.decay.chain import Chain
from malsim.lab.decay.choice import SCORES, choose
from malsim.lab.decay.goodness import UNTESTED, Goodness, of_claims, of_lifetimes
from malsim.lab.decay.laws import LAWS
from malsim.lab.decay.likelihood import Likelihood
from malsim.lab.decay.log import SIGHTED, read_log
from malsim.lab.decay.rates import RATES, UNKNOWN, Rates, rates
from malsim.lab.decay.result import Decay, DecayGroups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.lab.decay.laws import Law
    from malsim.lab.decay.log import Log

FIT = {
    "law": pl.String, "parameter": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "unit": pl.String,
}  # fmt: skip
FEWEST = 10  # claims of a group
MEMORYLESS = "exponential"
WRONG = "claims are wrong at a rate above 0, so a stretch of agreement is no lifetime: only the exponential law is fitted"
UNSEEN = "too many changes went unseen for a stretch to be a lifetime: only the exponential law is fitted"
NEVER = "no change need have happened: the time constant has a lower end only"
NOTHING = "the log cannot tell how fast truth changes: any time constant would do"


@overload
def fit_decay(log: pl.DataFrame, *, by: None = None, **options: Any) -> Decay: ...


@overload
def fit_decay(log: pl.DataFrame, *, by: str, **options: Any) -> DecayGroups: ...


def fit_decay(log: pl.DataFrame, *, by: str | None = None, **options: Any) -> Decay | DecayGroups:
    """Fit laws of survival to how long things stayed true, by maximum likelihood.

    Exponential S = f + (1 − f) e^(−t/τ); power S = (1 + t/τ)^−k; Weibull S = e^(−(t/τ)^k). A lifetime that ended between two
    ages a and b counts S(a) − S(b), one still true at a counts S(a), one that came in sight at the age e is divided by S(e).

    A log of `histories` says who said what when. Of it the exponential law's τ and the share of wrong claims are estimated
    together (hidden Markov likelihood; f is 0 unless given), with the rate of reporting beside them. The other laws need
    stretches that are lifetimes: they are fitted where no claim need be wrong and few changes went unseen.

    Where the exponential law is rejected at 3 % (`goodness`) its constants are NaN, and the mean of a law that fits better
    is given instead. Of claims that do not reject it, the interval of τ holds the means under all spreads that they leave
    possible. A `floor` that is given says that the law is known: nothing is tested.

    Parameters
    ----------
    by
        Fit each group by itself: `stability` (the class), `topic` (the tags of the claim that began the stretch),
        `namespace` (the part of the object's name before its first `/`, `:` or `.`), or another column of the log. Returns
        the fits by group; groups of fewer than ten claims are left out.
    log
        A row a lifetime: `after` and `before` (days; null: still true), optionally `entered` (age in days when it came in
        sight; null: unknown, the row is left out) and `start` (day; without it rows stand in order of time). Or `duration`
        (days) and `ended` (false: still true when last seen). `histories(run)` makes one.
    laws
        Those to fit, of exponential, power, weibull.
    share
        Which part of the lifetimes is the earlier, before the four blocks of later ones that are predicted.
    floor
        Holds the exponential law's floor (`Rules.currency_floor`) instead of fitting it, and takes stretches for lifetimes.
        With a floor of 0 and ends known to the day it is the exponential law of rate events / exposure.
    seed
        Of the bootstrap of the scores.

    Raises
    ------
    DataError
        Columns missing, NaN or what is no number of days; of `duration` and `ended` fewer than ten, or none that ended.
    UsageError
        A law, share or floor that is none.
    """
    return (
        _one(log, **options)
        if by is None
        else DecayGroups(by, {name: _one(part, **options) for name, part in _groups(log, by)})
    )


def _groups(log: pl.DataFrame, by: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield name and rows of each group, in the order of their names."""
    keys = {"topic": "topics", "namespace": "object"}
    if keys.get(by, by) not in log.columns:
        allowed = f"stability, topic, namespace, or a column of {', '.join(log.columns)}"
        raise UsageError("no such group", where="fit_decay: by", given=by, allowed=allowed)
    if by == "topic":
        log = log.explode("topics").rename({"topics": "topic"})
    elif by == "namespace":
        log = log.with_columns(namespace=pl.col("object").str.extract(r"^([^/:.]+)[/:.]"))
    for (name,), part in log.drop_nulls(by).sort(by, maintain_order=True).group_by(by, maintain_order=True):
        if _claims(part) >= FEWEST:
            yield str(name), part


def _claims(log: pl.DataFrame) -> int:
    """Return how many claims a log holds: those that began a stretch, and those that restated it."""
    return log.height + (int(log["restated"].list.len().sum()) if "restated" in log.columns else 0)


def _one(
    log: pl.DataFrame, *, laws: Sequence[str] = tuple(LAWS), share: float = 0.5, floor: float | None = None, seed: int = 0
) -> Decay:
    unknown = [name for name in laws if name not in LAWS]
    if unknown or not laws:
        raise UsageError("no such law", where="fit_decay: laws", given=unknown, allowed=", ".join(LAWS))
    everything = read_log(log, share=share, floor=floor)
    lifetimes = everything.of_known_age
    estimate = rates(log) if floor is None and set(log.columns) >= SIGHTED else None
    given, floor = floor, 0.0 if estimate else floor
    fits = estimate is None or estimate.lifetimes
    if fits and lifetimes.ended.any() and lifetimes.duration.sum() > 0.0:
        scores = choose([LAWS[name] for name in laws], lifetimes, share=share, floor=floor, seed=seed)
    else:
        scores = pl.DataFrame([(name, *(np.nan,) * (len(SCORES) - 1)) for name in laws], schema=SCORES, orient="row")
    goodness = _goodness(log, lifetimes, estimate) if MEMORYLESS in laws and given is None else UNTESTED
    constants = [row for name in laws for row in _constants(LAWS[name], lifetimes, estimate, floor, goodness, fits=fits)]
    return Decay(
        constants=pl.DataFrame(constants, schema=FIT, orient="row"),
        scores=scores,
        best=_best(scores, goodness),
        goodness=goodness,
        log=everything,
        claims=_claims(log),
        stability=str(log["stability"][0]) if "stability" in log.columns and log["stability"].n_unique() == 1 else "",
        rates=estimate.table if estimate else pl.DataFrame(schema=RATES),
        notes=_notes(estimate, everything),
    )


def _goodness(log: pl.DataFrame, lifetimes: Log, estimate: Rates | None) -> Goodness:
    """Test the exponential law: on the claims (writer, value, time) if the log has them, else on the lifetimes."""
    return of_claims(Chain.of(log), estimate) if estimate else of_lifetimes(lifetimes)


def _constants(
    law: Law, log: Log, estimate: Rates | None, floor: float | None, goodness: Goodness, *, fits: bool
) -> list[tuple[object, ...]]:
    if law.name == MEMORYLESS and goodness.rejected:
        return [(law.name, "tau", *UNKNOWN, "d"), (law.name, law.second, *UNKNOWN, "1")]
    if estimate and law.name == MEMORYLESS:
        tau, low, high = estimate.tau
        ends = (min(low, goodness.mean[1]), max(high, goodness.mean[2])) if goodness.p >= 0.0 else (low, high)
        return [(law.name, "tau", tau, *ends, "d"), (law.name, law.second, 0.0, 0.0, 0.0, "1")]
    if not fits or not log.duration.sum() > 0.0 or (not log.ended.any() and law.name != MEMORYLESS):
        return [(law.name, "tau", *UNKNOWN, "d"), (law.name, law.second, *UNKNOWN, "1")]
    likelihood = Likelihood.of(law, log, floor)
    best = likelihood.best()
    (low, high), ends = likelihood.interval(best, 0), likelihood.interval(best, 1)
    tau = np.exp([best[0], low, high]).tolist()
    second = [law.outer(float(each)) for each in (best[1], *ends)]
    return [(law.name, "tau", *tau, "d"), (law.name, law.second, *second, "1")]


def _best(scores: pl.DataFrame, goodness: Goodness) -> str:
    """Return the law of least log loss, else of least AIC, else the first; never a rejected law."""
    if goodness.rejected and scores.height > 1:
        scores = scores.filter(pl.col("law") != MEMORYLESS)
    column = "aic" if scores["log_loss"].is_nan().all() else "log_loss"
    return str(scores.sort(column, maintain_order=True)["law"][0])


def _notes(estimate: Rates | None, log: Log) -> tuple[str, ...]:
    if estimate is None:
        return () if log.ended.any() else (NEVER,)
    if np.isnan(estimate.tau[0]):
        return (NOTHING,)
    if estimate.tau[0] == np.inf:
        return (NEVER,)
    return () if estimate.lifetimes else (WRONG if estimate.error[1] > 0.0 else UNSEEN,)
