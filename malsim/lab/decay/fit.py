"""Time constants from histories, with intervals, and how well each law foretells later claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.decay.laws import LAWS
from malsim.lab.decay.likelihood import Likelihood
from malsim.lab.decay.log import Log, read_log
from malsim.lab.decay.scores import HORIZONS, foretold, kaplan_meier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.decay.laws import Array, Law

__all__ = ["Decay", "fit_decay"]

POINTS = 200
FIT = ["law", "parameter", "value", "low", "high", "unit"]
SCORES = ["law", "log_loss", "log_loss_low", "log_loss_high", "rmse_bins", "rmse_bins_low", "rmse_bins_high", "aic"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Decay:
    """Fitted laws of survival.

    `constants` has law, parameter (tau in days; floor or k), value, low, high (95 % profile likelihood; infinite where the
    log leaves an end open), unit. `scores` has, on the later claims, log_loss and rmse_bins with their intervals (95 %
    bootstrap over claims), and aic on all. `best` is the law of least log loss there, of least aic where there is none.
    """

    constants: pl.DataFrame
    scores: pl.DataFrame
    best: str
    log: Log

    def survival(self, t: Array | Sequence[float], law: str | None = None) -> Array:
        """The share of claims still true after t days by a law (the best, if None)."""
        name = law or self.best
        rows = self.constants.filter(pl.col("law") == name)
        if rows.is_empty():
            raise UsageError("no such law", where="survival", given=name, allowed=", ".join(self.scores["law"]))
        tau, second = rows["value"]
        return LAWS[name].survival(np.asarray(t, dtype=np.float64), tau, second)

    @property
    def curves(self) -> pl.DataFrame:
        """What was observed (Kaplan-Meier, with low and high) and what each law says: law, t (days), survival, low, high."""
        t, share, low, high = kaplan_meier(self.log.duration, self.log.ended)
        seen = pl.DataFrame({"law": ["observed"] * len(t), "t": t, "survival": share, "low": low, "high": high})
        grid = np.linspace(0.0, self.log.duration.max(), POINTS)
        said = [pl.DataFrame({"t": grid, "survival": self.survival(grid, law), "law": law}) for law in self.scores["law"]]
        return pl.concat([seen, *said], how="diagonal")

    @property
    def at_risk(self) -> pl.DataFrame:
        """How many claims were neither over nor out of sight at each age: t (days), standing."""
        ages, leaving = np.unique(self.log.duration, return_counts=True)
        left = len(self.log.duration) - np.cumsum(leaving)
        return pl.DataFrame({"t": np.append(0.0, ages), "standing": np.append(len(self.log.duration), left)})

    def __repr__(self) -> str:
        """A few lines a person reads."""
        lines = [f"{self.log.ended.sum()} claims ended, {(~self.log.ended).sum()} had not; best foretold by: {self.best}"]
        loss = dict(self.scores.select("law", "log_loss").rows())
        return "\n".join(lines + [f"  {said}; log loss {loss[law]:.4f}" for law, said in self.labels.items()])

    @property
    def labels(self) -> dict[str, str]:
        """Each law with its constants and their intervals, in words."""
        return {
            name: f"{name}: "
            + ", ".join(
                f"{row['parameter']} {row['value']:.4g} [{row['low']:.4g}, {row['high']:.4g}]" + " d" * (row["unit"] == "d")
                for row in rows.to_dicts()
            )
            for (name,), rows in self.constants.group_by("law", maintain_order=True)
        }


def fit_decay(
    log: pl.DataFrame, *, laws: Sequence[str] = tuple(LAWS), share: float = 0.7, floor: float | None = None, seed: int = 0
) -> Decay:
    """Fit laws of survival to how long claims stayed true, by maximum likelihood with right-censoring.

    log L = Σ over ended log −S'(t) + Σ over censored log S(t), so that a claim never contradicted counts for as long as it
    was watched. Exponential S = f + (1 − f) e^(−t/τ); power S = (1 + t/τ)^−k; Weibull S = e^(−(t/τ)^k). The constants are
    fitted on all claims. For the scores the laws are fitted on the earlier claims alone, as they were known when the
    later ones began, and foretell those: "still true after h days" at nine horizons.

    Parameters
    ----------
    log
        A row a claim: `duration` (days, 0 or more), `ended` (false: still true when last seen), optionally `start` (days);
        without it rows stand in order of time. `histories(memory)` makes one.
    laws
        Those to fit, of exponential, power, weibull.
    share
        Which part of the claims is the earlier.
    floor
        Holds the exponential law's floor (`Rules.currency_floor`) instead of fitting it. With a floor of 0 it is the
        exponential law of rate events / exposure.
    seed
        Of the bootstrap of the scores.

    Raises
    ------
    DataError
        Columns missing, a duration that is none, fewer than ten claims, or none that ended.
    """
    unknown = [name for name in laws if name not in LAWS]
    if unknown or not laws:
        raise UsageError("no such law", where="fit_decay: laws", given=unknown, allowed=", ".join(LAWS))
    known = read_log(log, share=share, floor=floor)
    early, late = known.split(share)
    constants, scores = [], []
    for law in (LAWS[name] for name in laws):
        likelihood = Likelihood.of(law, known.duration, known.ended, floor)
        best = likelihood.best()
        (low, high), ends = likelihood.interval(best, 0), likelihood.interval(best, 1)
        constants.append((law.name, "tau", *(float(np.exp(each)) for each in (best[0], low, high)), "d"))
        constants.append((law.name, law.second, *(law.outer(float(each)) for each in (best[1], *ends)), "1"))
        free = 1 if likelihood.held is not None else 2
        scores.append((law.name, *_scored(law, early, late, floor, seed), 2.0 * free + 2.0 * likelihood.loss(best)))
    table = pl.DataFrame(scores, schema=SCORES, orient="row")
    judged = "aic" if table["log_loss"].is_nan().all() else "log_loss"
    best_law = table.sort(judged, maintain_order=True)["law"][0]
    return Decay(constants=pl.DataFrame(constants, schema=FIT, orient="row"), scores=table, best=best_law, log=known)


def _scored(law: Law, early: Log, late: Log, floor: float | None, seed: int) -> tuple[float, ...]:
    """How well the law, fitted on the early claims, foretells the late; see `scores.foretold`."""
    if not (early.ended.any() and early.duration.sum() > 0.0 and len(late.duration)):
        return (np.nan,) * 6
    horizons = np.unique(np.quantile(early.duration[early.ended], np.linspace(0.1, 0.9, HORIZONS)))
    log_tau, second = Likelihood.of(law, early.duration, early.ended, floor).best()
    said = np.exp(law.log_survival(horizons, float(log_tau), float(second)))
    return foretold(said, late.duration, late.ended, horizons, np.random.Generator(np.random.Philox(key=seed)))
