"""Time constants from histories: how long claims stay true, with those still true counted as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.optimize import minimize

from malsim.errors import DataError, UsageError
from malsim.sim.scoring import BINS, CLIPPED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["LAWS", "Decay", "fit_decay"]

FEWEST = 10
RESAMPLES = 200
TINY = 1e-12


def _exponential(t: Array, p: Array) -> tuple[Array, Array]:
    """Survival with floor: S = f + (1 − f) e^(−t/τ); density (1 − f) e^(−t/τ) / τ."""
    tau, floor = np.exp(p[0]), _share(p[1])
    gone = (1.0 - floor) * np.exp(-t / tau)
    return floor + gone, gone / tau


def _power(t: Array, p: Array) -> tuple[Array, Array]:
    """S = (1 + t/τ)^−k; density k/τ (1 + t/τ)^(−k−1)."""
    tau, k = np.exp(p[0]), np.exp(p[1])
    kept = (1.0 + t / tau) ** -k
    return kept, k / tau * kept / (1.0 + t / tau)


def _weibull(t: Array, p: Array) -> tuple[Array, Array]:
    """S = e^(−(t/τ)^k); density k/τ (t/τ)^(k−1) S."""
    tau, k = np.exp(p[0]), np.exp(p[1])
    scaled = np.maximum(t, TINY) / tau
    kept = np.exp(-(scaled**k))
    return kept, k / tau * scaled ** (k - 1.0) * kept


def _share(x: float) -> float:
    return float(1.0 / (1.0 + np.exp(-x)))


@dataclass(frozen=True)
class Law:
    """A survival law: (t, parameters) → (survival, density), its parameters' names, and how they read."""

    survival: Callable[[Array, Array], tuple[Array, Array]]
    names: tuple[str, str]
    read: tuple[Callable[[float], float], Callable[[float], float]]


LAWS = {
    "exponential": Law(_exponential, ("tau", "floor"), (lambda x: float(np.exp(x)), _share)),
    "power": Law(_power, ("tau", "k"), (lambda x: float(np.exp(x)), lambda x: float(np.exp(x)))),
    "weibull": Law(_weibull, ("tau", "k"), (lambda x: float(np.exp(x)), lambda x: float(np.exp(x)))),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Decay:
    """Fitted laws.

    `laws` has law, parameter, value, low, high (95 %, bootstrap over claims), unit. `scores` has law, log_loss and
    rmse_bins on the later part of the claims, each with low and high, and aic on the earlier. `best` is the law of least
    log loss; `events` claims ended, `censored` had not.
    """

    laws: pl.DataFrame
    scores: pl.DataFrame
    best: str
    events: int
    censored: int

    def survival(self, t: Array, law: str | None = None) -> Array:
        """The share of claims still true after t days by a law (the best, if None)."""
        name = law or self.best
        if name not in LAWS:
            raise UsageError("no such law", where="survival", given=name, allowed=", ".join(LAWS))
        rows = dict(self.laws.filter(pl.col("law") == name).select("parameter", "value").rows())
        first, second = (rows[part] for part in LAWS[name].names)
        inner = np.array([np.log(first), np.log(second / (1 - second)) if name == "exponential" else np.log(second)])
        return LAWS[name].survival(np.asarray(t, dtype=np.float64), inner)[0]

    def __repr__(self) -> str:
        """A few lines a person reads."""
        lines = [f"{self.events} claims ended, {self.censored} had not: {self.best} fits best on the later ones"]
        for row in self.laws.to_dicts():
            lines.append(f"  {row['law']:<12} {row['parameter']:<6} {row['value']:.4g} [{row['low']:.4g}, {row['high']:.4g}] {row['unit']}")
        return "\n".join(lines)


def fit_decay(log: pl.DataFrame, *, share: float = 0.7, seed: int = 0) -> Decay:
    """Fit survival laws to how long claims stayed true, by maximum likelihood with right-censoring.

    log L = Σ over ended of log density(t) + Σ over censored of log survival(t): a claim never contradicted adds what it
    survived, and is not dropped. Laws are fitted on the earlier `share` of the claims (by `start`) and scored on the later:
    log loss and RMSE(bins) of "has it ended by the time it was last seen". Parameters have bootstrap intervals.

    Parameters
    ----------
    log
        `duration` (days, 0 or more), `ended` (false: still true when last seen), optionally `start` (days).

    Raises
    ------
    DataError
        Columns missing, a negative or infinite duration, fewer than ten claims, or none that ended.
    """
    duration, ended = _checked(log, share)
    cut = max(int(len(duration) * share), FEWEST)
    early, late = slice(0, cut), slice(cut, None)
    if not ended[early].any():
        raise DataError("none of the earlier claims ended: nothing to fit", where="fit_decay", given=f"{cut} claims")
    draws = np.random.Generator(np.random.Philox(key=seed))
    rows, scores = [], []
    for name, law in LAWS.items():
        found = _fitted(law, duration[early], ended[early])
        spread = np.stack(
            [
                _fitted(law, duration[early][some], ended[early][some], begin=found)
                for some in draws.integers(0, cut, (RESAMPLES, cut))
                if ended[early][some].any()
            ]
        )
        low, high = np.quantile(spread, [0.025, 0.975], axis=0)
        for place, part in enumerate(law.names):
            read = law.read[place]
            unit = "d" if part == "tau" else "1"
            rows.append((name, part, read(found[place]), read(low[place]), read(high[place]), unit))
        aic = 2.0 * len(law.names) + 2.0 * _loss(law, found, duration[early], ended[early])
        scores.append((name, *_scored(law, found, duration[late], ended[late], draws), aic))
    columns = ["law", "parameter", "value", "low", "high", "unit"]
    kept = ["law", "log_loss", "log_loss_low", "log_loss_high", "rmse_bins", "rmse_bins_low", "rmse_bins_high", "aic"]
    table = pl.DataFrame(scores, schema=kept, orient="row")
    best = table.sort("aic" if table["log_loss"].is_nan().all() else "log_loss", maintain_order=True)["law"][0]
    laws = pl.DataFrame(rows, schema=columns, orient="row")
    return Decay(laws=laws, scores=table, best=best, events=int(ended.sum()), censored=int((~ended).sum()))


def _checked(log: pl.DataFrame, share: float) -> tuple[Array, NDArray[np.bool_]]:
    for name in ("duration", "ended"):
        if name not in log.columns:
            raise DataError("a column is missing", where="fit_decay", given=", ".join(log.columns), hint=f"add {name}")
    if not 0.0 < share <= 1.0:
        raise UsageError("not a share", where="fit_decay: share", given=share, allowed="above 0 to 1")
    if log.height < FEWEST:
        raise DataError("too few claims to fit", where="fit_decay", given=log.height, allowed=f"{FEWEST} or more")
    ordered = log.sort("start", maintain_order=True) if "start" in log.columns else log
    duration = ordered["duration"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = ~((duration >= 0.0) & np.isfinite(duration))
    if bad.any():
        raise DataError("not a duration", where=f"fit_decay: row {int(bad.argmax())}", given=float(duration[bad][0]), allowed="0 days or more")
    return duration, ordered["ended"].cast(pl.Boolean).fill_null(value=False).to_numpy()


def _loss(law: Law, p: Array, duration: Array, ended: NDArray[np.bool_]) -> float:
    kept, density = law.survival(duration, p)
    return -float(np.log(np.maximum(np.where(ended, density, kept), TINY)).sum())


def _fitted(law: Law, duration: Array, ended: NDArray[np.bool_], begin: Array | None = None) -> Array:
    rate = np.log(max(duration.sum() / max(ended.sum(), 1), TINY))
    begins = [begin] if begin is not None else [np.array([rate, second]) for second in (-3.0, 0.0, 0.7)]
    bounds = [(rate - 12.0, rate + 12.0), (-12.0, 5.0)]
    found = [
        minimize(lambda p: _loss(law, p, duration, ended), start, bounds=bounds, method="L-BFGS-B") for start in begins
    ]
    best: Array = min(found, key=lambda one: float(one.fun)).x
    return best


def _scored(
    law: Law, p: Array, duration: Array, ended: NDArray[np.bool_], draws: np.random.Generator
) -> tuple[float, float, float, float, float, float]:
    """Log loss and RMSE(bins) of the law's probability that a claim has ended by when it was last seen, with intervals."""
    if not len(duration):
        return (np.nan,) * 6  # type: ignore[return-value]  # six of them
    gone = np.clip(1.0 - law.survival(duration, p)[0], CLIPPED, 1.0 - CLIPPED)
    weight = np.concatenate([np.ones((1, len(gone))), draws.multinomial(len(gone), np.full(len(gone), 1 / len(gone)), size=500)])
    surprise = -np.log(np.where(ended, gone, 1.0 - gone))
    losses = weight @ surprise / len(gone)
    place = np.minimum((gone * BINS).astype(np.int64), BINS - 1)
    inside = np.eye(BINS)[place]
    gaps, counts = weight @ (inside * (ended - gone)[:, None]), weight @ inside
    errors = np.sqrt((gaps**2 / np.maximum(counts, 1.0)).sum(axis=1) / len(gone))
    spread = [np.quantile(each[1:], [0.025, 0.975]) for each in (losses, errors)]
    return float(losses[0]), *map(float, spread[0]), float(errors[0]), *map(float, spread[1])  # type: ignore[return-value]
