"""Result of a decay fit: constants with intervals, goodness of fit, and curves for plotting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import kaplan_meier
from malsim.lab.decay.goodness import UNTESTED, Goodness
from malsim.lab.decay.likelihood import EXPONENTIAL
from malsim.memory import Rules
from malsim.memory.law import currency
from malsim.memory.schema import STABILITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.decay.log import Log
    from malsim.memory.graph.arrays import Array
    from malsim.showing.plots.style import Sheet

POINTS = 200
FACTOR = 10.0  # an interval determines τ if the ratio of its ends is at most this large
MEANING = {
    "error": "share of claims that are wrong",
    "reports": "reports per object and day",
    "invisible": "share of changes that nobody reported in time",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Decay:
    """Survival law that was fitted to a log of claim lifetimes.

    `constants` has rows tau (days) and floor; columns law, parameter, value, low, high (95 % profile likelihood), unit. An
    end that the log does not bound is 0 or infinity; the value is NaN if neither end is bounded, or if the law is rejected
    or cannot be fitted. `rates` has quantity (error, reports, invisible), value, low, high, unit; it is empty for a log
    without writers and values. `goodness` has the test of the exponential law. `claims` is the number of claims in the log,
    `stability` their class (empty for several or none). `notes` are sentences about what the log does not determine.
    """

    constants: pl.DataFrame
    log: Log
    rates: pl.DataFrame
    claims: int = 0
    stability: str = ""
    notes: tuple[str, ...] = ()
    goodness: Goodness = UNTESTED

    @property
    def _tau(self) -> dict[str, Any]:
        return self.constants.row(0, named=True)

    @property
    def cannot_tell(self) -> bool:
        """True if the interval of τ is unbounded on both sides or spans more than a factor of ten."""
        return _is_wide(self._tau) and not self.goodness.rejected

    @property
    def more_claims(self) -> int | None:
        """Approximate number of additional claims needed to bound τ within a factor of ten; None if unknown.

        The width on the logarithmic scale shrinks as 1/√N, so N (ln(high / low) / ln 10)² claims are needed.
        """
        row = self._tau
        if not self.cannot_tell or not 0.0 < row["low"] < row["high"] < np.inf:
            return None
        more = self.claims * ((np.log(row["high"] / row["low"]) / np.log(FACTOR)) ** 2 - 1.0)
        return int(float(f"{more:.1g}"))

    def rules(self, stability: str | None = None) -> str:
        """Return the `[rules]` lines of a scenario or rules file that set the fitted constant for a class of claims.

        Raises `UsageError` if the log does not determine τ, or if the class is unknown or missing.
        """
        name, row = stability or self.stability, self._tau
        if name not in STABILITY:
            problem = "no such class of claims" if name else "the class of the claims is missing"
            allowed, hint = ", ".join(STABILITY), "fit one class alone, or name the class: rules('volatile')"
            raise UsageError(problem, where="rules", given=name or None, allowed=allowed, hint=hint)
        if not np.isfinite(row["value"]) or _is_wide(row):
            hint = "print the fit to see why"
            raise UsageError("the log does not determine a time constant", where="rules", hint=hint)
        return f"[rules]\ntau_{name} = {row['value']:.4g}  # days, 95 % interval {row['low']:.4g} to {row['high']:.4g}\n"

    def currency(self, rules: Rules | None = None, *, stability: str | None = None) -> Sheet:
        """Plot currency over a claim's age for the fitted τ, with its interval as a band, and for the τ of the rules.

        Raises `UsageError` as `rules` does.
        """
        from malsim.showing.plots.studies.estimates import currency_band

        self.rules(stability)
        shipped, name, row = rules or Rules(), stability or self.stability, self._tau
        default, floor = float(getattr(shipped, f"tau_{name}")), shipped.currency_floor
        ages = np.linspace(0.0, 3.0 * max(float(row["value"]), min(default, 10.0 * row["value"])), POINTS)
        constants = {"fitted": row["value"], "low": row["low"], "high": row["high"], "shipped": default}
        lines = {key: currency(np.ones(POINTS), ages, np.full(POINTS, tau), floor=floor)
                 for key, tau in constants.items()}  # fmt: skip
        labels = {
            "fitted": f"fitted {row['value']:.3g} d [{row['low']:.3g}, {row['high']:.3g}]",
            "shipped": f"rules {default:g} d",
        }
        title = f"Currency of {name} claims, tau_{name} {row['value']:.3g} d (rules {default:g} d)"
        return currency_band(pl.DataFrame({"age": ages, **lines}), labels, title=title)

    def survival(self, t: Array | Sequence[float]) -> Array:
        """Return the share of claims still true after t days, shape (n,); NaN if no constants could be fitted."""
        tau, floor = self.constants["value"]
        return np.exp(EXPONENTIAL.log_survival(np.asarray(t, dtype=np.float64), float(np.log(tau)), floor))

    @property
    def curves(self) -> pl.DataFrame:
        """Observed survival (Kaplan-Meier, with low and high) and fitted survival: law, t (days), survival, low, high."""
        t, share, low, high = kaplan_meier(self.log.duration, self.log.ended)
        observed = pl.DataFrame({"law": ["observed"] * len(t), "t": t, "survival": share, "low": low, "high": high})
        grid = np.linspace(0.0, self.log.duration.max(), POINTS)
        fitted = pl.DataFrame({"t": grid, "survival": self.survival(grid), "law": "exponential"})
        return pl.concat([observed, fitted], how="diagonal")

    @property
    def at_risk(self) -> pl.DataFrame:
        """Number of claims at risk (neither ended nor censored) at each age, in the columns t (days) and standing."""
        ages, leaving = np.unique(self.log.duration, return_counts=True)
        standing = len(self.log) - np.cumsum(leaving)
        return pl.DataFrame({"t": np.append(0.0, ages), "standing": np.append(len(self.log), standing)})

    def figure(self, *, title: str = "Survival of claims, observed and fitted") -> Sheet:
        """Plot the observed survival, the fitted curve, and the number of claims at risk."""
        from malsim.showing.plots.studies.estimates import decay

        return decay(self.curves, {"exponential": self.label}, self.at_risk, title=title)

    @property
    def label(self) -> str:
        """Legend label of the fitted curve: its constants with their intervals, or why there are none."""
        if self.goodness.rejected:
            return f"exponential: rejected (p {self.goodness.p:.2g})"
        if np.isnan(self._tau["value"]):
            return "exponential: not determined by the log"
        if self.cannot_tell:
            more = f"; about {self.more_claims} more claims are needed" if self.more_claims else ""
            return f"exponential: τ not determined{more}"
        rows = self.constants.to_dicts()
        return "exponential: " + ", ".join(f"{r['parameter']} {_number(r)}" + " d" * (r["unit"] == "d") for r in rows)

    def __repr__(self) -> str:
        ended = int(self.log.ended.sum())
        lines = [f"{ended} stretches ended, {len(self.log) - ended} did not", f"  {self.label}"]
        lines += [f"  {MEANING[row['quantity']]} {_number(row)}" for row in self.rates.to_dicts()]
        notes = (*self.notes, str(self.goodness)) if self.goodness.rejected else self.notes
        lines += [f"  {note}" for note in notes]
        if self.stability and np.isfinite(self._tau["value"]) and not self.cannot_tell:
            lines += [f"  {line}" for line in self.rules().splitlines()]
        return "\n".join(lines)


@dataclass(frozen=True)
class DecayGroups(Mapping[str, Decay]):
    """Decay fits keyed by group: a class, topic, namespace, or value of another column of the log."""

    by: str
    fits: dict[str, Decay]

    def __getitem__(self, group: str) -> Decay:
        return self.fits[group]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    def rules(self) -> str:
        """Return a `[rules]` section with one line for each class whose constant could be fitted."""
        able = [fit for fit in self.fits.values() if fit.stability and not fit.cannot_tell]
        lines = [fit.rules().splitlines()[1] for fit in able if np.isfinite(fit._tau["value"])]  # noqa: SLF001  # of this module
        return "\n".join(["[rules]", *dict.fromkeys(lines)]) + "\n"

    def __repr__(self) -> str:
        lines = [f"  {group}: {fit.label}; {fit.claims} claims" for group, fit in self.fits.items()]
        return "\n".join([f"by {self.by}", *lines])


def _is_wide(row: dict[str, Any]) -> bool:
    """Return whether an interval is unbounded on both sides or spans more than a factor of ten."""
    low, high = row["low"], row["high"]
    return bool((low, high) == (0.0, np.inf) or (np.isfinite(high) and low > 0.0 and high > FACTOR * low))


def _number(row: dict[str, Any]) -> str:
    return f"{row['value']:.4g} [{row['low']:.4g}, {row['high']:.4g}]"
