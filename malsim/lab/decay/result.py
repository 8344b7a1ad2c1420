"""What a fit found: constants with intervals, whether the laws can be told apart, and the curves to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import kaplan_meier
from malsim.lab.decay.goodness import UNTESTED, Goodness
from malsim.lab.decay.laws import LAWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.decay.log import Log
    from malsim.memory.graph.arrays import Array
    from malsim.showing.plots.style import Sheet

POINTS = 200
NOTHING = (0.0, np.inf)


@dataclass(frozen=True, kw_only=True, repr=False)
class Decay:
    """Fitted laws of survival.

    `constants` has law, parameter (tau in days; floor or k), value, low, high (95 % profile likelihood; 0 or infinite where
    the log leaves an end open; value NaN where it leaves both, or where the law cannot be fitted), unit. `scores` has, on
    later lifetimes, log_loss, rmse_bins and more (log loss above the least) with their intervals (95 % bootstrap over
    lifetimes), and aic on all. `best` is the law of least log loss there, of least aic where there is none; `apart` says
    whether every other law predicted worse by more than chance. `rates` has quantity (error, reports, invisible), value,
    low, high, unit; it is empty for a log that does not say who said what when. `goodness` tests the exponential; where it
    is rejected, no τ is given but the mean of a law that fits better. `notes` are sentences on what the log cannot tell.
    """

    constants: pl.DataFrame
    scores: pl.DataFrame
    best: str
    log: Log
    rates: pl.DataFrame
    notes: tuple[str, ...] = ()
    goodness: Goodness = UNTESTED

    @property
    def apart(self) -> bool:
        """Whether the best law predicted better than every other by more than chance."""
        others = self.scores.filter(pl.col("law") != self.best)["more_low"]
        return bool(((others > 0.0) & others.is_not_nan()).all())

    @property
    def cannot_tell(self) -> bool:
        """Whether the log leaves the time constant of the best law open at both ends."""
        row = self.constants.filter((pl.col("law") == self.best) & (pl.col("parameter") == "tau")).row(0, named=True)
        return (row["low"], row["high"]) == NOTHING and not self.goodness.rejected

    def survival(self, t: Array | Sequence[float], law: str | None = None) -> Array:
        """The share of claims still true after t days by a law (the best, if None); NaN where the log cannot tell."""
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
        observed = pl.DataFrame({"law": ["observed"] * len(t), "t": t, "survival": share, "low": low, "high": high})
        grid = np.linspace(0.0, self.log.duration.max(), POINTS)
        laws = [pl.DataFrame({"t": grid, "survival": self.survival(grid, law), "law": law}) for law in self.scores["law"]]
        return pl.concat([observed, *laws], how="diagonal")

    @property
    def at_risk(self) -> pl.DataFrame:
        """How many claims were neither over nor out of sight at each age: t (days), standing."""
        ages, leaving = np.unique(self.log.duration, return_counts=True)
        standing = len(self.log) - np.cumsum(leaving)
        return pl.DataFrame({"t": np.append(0.0, ages), "standing": np.append(len(self.log), standing)})

    def figure(self, *, title: str = "How long claims stay true") -> Sheet:
        """What was observed, what each law says, and how many claims were in sight."""
        from malsim.showing.plots.studies.decay import decay

        return decay(self.curves, self.labels, self.at_risk, title=title)

    def __repr__(self) -> str:
        """A few lines a person reads."""
        ended = int(self.log.ended.sum())
        lines = [f"{ended} stretches ended, {len(self.log) - ended} had not; {self._choice}"]
        loss = dict(self.scores.select("law", "log_loss").rows())
        lines += [
            f"  {label}" + ("" if np.isnan(loss[law]) else f"; log loss {loss[law]:.4f}")
            for law, label in self.labels.items()
        ]
        lines += [f"  {_words(row)}" for row in self.rates.to_dicts()]
        notes = (*self.notes, str(self.goodness)) if self.goodness.rejected else self.notes
        return "\n".join([*lines, *(f"  {note}" for note in notes)])

    @property
    def _choice(self) -> str:
        if self.apart:
            return f"best predicted by: {self.best}"
        fitted = self.constants.filter(pl.col("value").is_not_nan())["law"].unique(maintain_order=True)
        if len(fitted) < 2:  # noqa: PLR2004  # nothing to choose between
            return f"only the {fitted[0]} law is fitted" if len(fitted) else "no law is fitted"
        near = self.scores.filter((pl.col("law") == self.best) | ~(pl.col("more_low") > 0.0) | pl.col("more_low").is_nan())
        return f"cannot be told apart: {', '.join(near.filter(pl.col('law').is_in(fitted.implode()))['law'])}"

    @property
    def labels(self) -> dict[str, str]:
        """Each law with its constants and their intervals, in words."""
        laws = self.constants.group_by("law", maintain_order=True)
        words = {str(name): f"{name}: {_constants(rows.to_dicts())}" for (name,), rows in laws}
        return words | (
            {"exponential": f"exponential: rejected (p {self.goodness.p:.2g})"} if self.goodness.rejected else {}
        )


def _constants(rows: list[dict[str, Any]]) -> str:
    if np.isnan(rows[0]["value"]):
        return "the log cannot tell"
    return ", ".join(f"{row['parameter']} {_number(row)}" + " d" * (row["unit"] == "d") for row in rows)


def _number(row: dict[str, Any]) -> str:
    return f"{row['value']:.4g} [{row['low']:.4g}, {row['high']:.4g}]"


def _words(row: dict[str, Any]) -> str:
    meaning = {
        "error": "share of claims that are wrong",
        "reports": "reports an object and day",
        "invisible": "share of changes that nobody reported in time",
    }
    return f"{meaning[row['quantity']]} {_number(row)}"
