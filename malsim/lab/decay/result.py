"""Result of a decay fit: constants with intervals, significance of the choice of law, and curves to plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import kaplan_meier
from malsim.lab.decay.goodness import UNTESTED, Goodness
from malsim.lab.decay.laws import LAWS
from malsim.memory import Rules
from malsim.memory.law import currency
from malsim.memory.schema import STABILITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.decay.log import Log
    from malsim.memory.graph.arrays import Array
    from malsim.showing.plots.style import Sheet

POINTS = 200
FACTOR = 10.0  # an interval wider than this says nothing
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
    is rejected, no τ is given but the mean of a law that fits better. `claims` counts the claims behind the log; `stability`
    is their class, empty where there are several or none is known. `notes` are sentences on what the log cannot tell.
    """

    constants: pl.DataFrame
    scores: pl.DataFrame
    best: str
    log: Log
    rates: pl.DataFrame
    claims: int = 0
    stability: str = ""
    notes: tuple[str, ...] = ()
    goodness: Goodness = UNTESTED

    @property
    def apart(self) -> bool:
        """True if the best law predicted significantly better than all others."""
        others = self.scores.filter(pl.col("law") != self.best)["more_low"]
        return bool(((others > 0.0) & others.is_not_nan()).all())

    @property
    def cannot_tell(self) -> bool:
        """True if the interval of the best law's time constant is open at both ends, or spans more than a factor of ten."""
        return _is_wide(self._tau(self.best)) and not self.goodness.rejected

    def _tau(self, law: str) -> dict[str, Any]:
        return self.constants.filter((pl.col("law") == law) & (pl.col("parameter") == "tau")).row(0, named=True)

    @property
    def more_claims(self) -> int | None:
        """About how many more claims would bring the interval of τ within a factor of ten; None where nobody can say.

        The interval's logarithm narrows with the square root of the claims: N (ln(high / low) / ln 10)² are needed.
        """
        row = self._tau(self.best)
        if not self.cannot_tell or not 0.0 < row["low"] < row["high"] < np.inf:
            return None
        more = self.claims * ((np.log(row["high"] / row["low"]) / np.log(FACTOR)) ** 2 - 1.0)
        return int(float(f"{more:.1g}"))

    def rules(self, stability: str | None = None) -> str:
        """Return the lines of a scenario or rules file that set the fitted constant for a class of claims.

        Raises `UsageError` where the log cannot tell, or the class is not known and none is named.
        """
        name, row = stability or self.stability, self._tau("exponential")
        if name not in STABILITY:
            hint = "fit one class alone, or name it: rules('volatile')"
            raise UsageError(
                "claims of which class?", where="rules", given=name or None, allowed=", ".join(STABILITY), hint=hint
            )
        if not np.isfinite(row["value"]) or _is_wide(row):
            raise UsageError(
                "no time constant to write", where="rules", hint="print the fit: it says what the log cannot tell"
            )
        return f"[rules]\ntau_{name} = {row['value']:.4g}  # days, 95 % interval {row['low']:.4g} to {row['high']:.4g}\n"

    def currency(self, rules: Rules | None = None, *, stability: str | None = None) -> Sheet:
        """Draw currency over a claim's age under the fitted τ, with its interval as a band, beside the rules' own τ.

        Raises `UsageError` as `rules` does.
        """
        from malsim.showing.plots.studies.decay import currency_band

        self.rules(stability)
        shipped, name, row = rules or Rules(), stability or self.stability, self._tau("exponential")
        own, floor = float(getattr(shipped, f"tau_{name}")), shipped.currency_floor
        ages = np.linspace(0.0, 3.0 * max(float(row["value"]), min(own, 10.0 * row["value"])), POINTS)
        constants = {"fitted": row["value"], "low": row["low"], "high": row["high"], "shipped": own}
        lines = {key: currency(np.ones(POINTS), ages, np.full(POINTS, tau), floor=floor)
                 for key, tau in constants.items()}  # fmt: skip
        labels = {
            "fitted": f"fitted {row['value']:.3g} d [{row['low']:.3g}, {row['high']:.3g}]",
            "shipped": f"rules {own:g} d",
        }
        title = f"Currency of {name} claims, tau_{name} {row['value']:.3g} d (rules {own:g} d)"
        return currency_band(pl.DataFrame({"age": ages, **lines}), labels, title=title)

    def survival(self, t: Array | Sequence[float], law: str | None = None) -> Array:
        """Return the share of claims still true after t days by a law (the best, if None); NaN where the log cannot tell."""
        name = law or self.best
        rows = self.constants.filter(pl.col("law") == name)
        if rows.is_empty():
            raise UsageError("no such law", where="survival", given=name, allowed=", ".join(self.scores["law"]))
        tau, second = rows["value"]
        return LAWS[name].survival(np.asarray(t, dtype=np.float64), tau, second)

    @property
    def curves(self) -> pl.DataFrame:
        """Survival as observed (Kaplan-Meier, with low and high) and by law: law, t (days), survival, low, high."""
        t, share, low, high = kaplan_meier(self.log.duration, self.log.ended)
        observed = pl.DataFrame({"law": ["observed"] * len(t), "t": t, "survival": share, "low": low, "high": high})
        grid = np.linspace(0.0, self.log.duration.max(), POINTS)
        laws = [pl.DataFrame({"t": grid, "survival": self.survival(grid, law), "law": law}) for law in self.scores["law"]]
        return pl.concat([observed, *laws], how="diagonal")

    @property
    def at_risk(self) -> pl.DataFrame:
        """Number of claims at risk (neither ended nor censored) at each age: t (days), standing."""
        ages, leaving = np.unique(self.log.duration, return_counts=True)
        standing = len(self.log) - np.cumsum(leaving)
        return pl.DataFrame({"t": np.append(0.0, ages), "standing": np.append(len(self.log), standing)})

    def figure(self, *, title: str = "How long claims stay true") -> Sheet:
        """Plot the observed survival, the curve of each law, and the number of claims at risk."""
        from malsim.showing.plots.studies.decay import decay

        return decay(self.curves, self.labels, self.at_risk, title=title)

    def __repr__(self) -> str:
        """Return a readable summary."""
        ended = int(self.log.ended.sum())
        lines = [f"{ended} stretches ended, {len(self.log) - ended} had not; {self._choice}"]
        loss = dict(self.scores.select("law", "log_loss").rows())
        lines += [
            f"  {label}" + ("" if np.isnan(loss[law]) else f"; log loss {loss[law]:.4f}")
            for law, label in self.labels.items()
        ]
        lines += [f"  {_words(row)}" for row in self.rates.to_dicts()]
        notes = (*self.notes, str(self.goodness)) if self.goodness.rejected else self.notes
        lines += [f"  {note}" for note in notes]
        if self.stability and np.isfinite(self._tau("exponential")["value"]) and not self.cannot_tell:
            lines += [f"  {line}" for line in self.rules().splitlines()]
        return "\n".join(lines)

    @property
    def _choice(self) -> str:
        if self.apart:
            return f"best predicted by: {self.best}"
        fitted = self.constants.filter(pl.col("value").is_not_nan())["law"].unique(maintain_order=True)
        if len(fitted) < 2:  # noqa: PLR2004  # nothing to choose between
            return f"only the {fitted[0]} law is fitted" if len(fitted) else "no law is fitted"
        near = self.scores.filter((pl.col("law") == self.best) | ~(pl.col("more_low") > 0.0) | pl.col("more_low").is_nan())
        return f"cannot be told apart: {', '.join(near.filter(pl.col('law').is_in(fitted.implode()))['law'])}"

    def _law_words(self, law: str, rows: list[dict[str, Any]]) -> str:
        if law != self.best or not _is_wide(rows[0]) or np.isnan(rows[0]["value"]):
            return _constants(rows)
        more = self.more_claims
        return "cannot tell" + (f"; about {more} more claims would" if more else "")

    @property
    def labels(self) -> dict[str, str]:
        """Legend label of each law, with its constants and their intervals."""
        laws = self.constants.group_by("law", maintain_order=True)
        words = {str(name): f"{name}: {self._law_words(str(name), rows.to_dicts())}" for (name,), rows in laws}
        return words | (
            {"exponential": f"exponential: rejected (p {self.goodness.p:.2g})"} if self.goodness.rejected else {}
        )


@dataclass(frozen=True)
class DecayGroups(Mapping[str, Decay]):
    """Fits by group: of a class, topic or namespace of claims."""

    by: str
    fits: dict[str, Decay]

    def __getitem__(self, group: str) -> Decay:
        return self.fits[group]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    def rules(self) -> str:
        """Return the `[rules]` lines of every class whose constant the log can tell."""
        able = [fit for fit in self.fits.values() if fit.stability and not fit.cannot_tell]
        lines = [fit.rules().splitlines()[1] for fit in able if np.isfinite(fit._tau("exponential")["value"])]  # noqa: SLF001  # its own module
        return "\n".join(["[rules]", *dict.fromkeys(lines)]) + "\n"

    def __repr__(self) -> str:
        """Return one line for each group."""
        lines = [
            f"  {group}: {fit.labels.get('exponential', fit.best)}; {fit.claims} claims" for group, fit in self.fits.items()
        ]
        return "\n".join([f"by {self.by}", *lines])


def _is_wide(row: dict[str, Any]) -> bool:
    """Return whether an interval is open at both ends, or spans more than a factor of ten."""
    low, high = row["low"], row["high"]
    return bool((low, high) == NOTHING or (np.isfinite(high) and low > 0.0 and high > FACTOR * low))


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
