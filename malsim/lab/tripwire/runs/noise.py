"""Noise of a watched value in quiet ticks: mean, spread and correlation from tick to tick, given or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import UsageError
from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.machine import Bools

Floats = NDArray[np.float64]
LEAST = 20  # quiet ticks to estimate from


@dataclass(frozen=True)
class Noise:
    """A stationary normal series: x − mean = correlation · (x − mean before) + sigma · sqrt(1 − correlation²) · N(0, 1).

    Parameters
    ----------
    mean, sigma
        In the unit of what is watched; sigma above 0.
    correlation
        Of neighbouring ticks, from 0 on and below 1.
    """

    mean: float = 0.0
    sigma: float = 1.0
    correlation: float = 0.0

    def __post_init__(self) -> None:
        for name, good, allowed in (
            ("mean", np.isfinite(self.mean), "a number"),
            ("sigma", 0 < self.sigma < np.inf, "above 0"),
            ("correlation", 0 <= self.correlation < 1, "0 to below 1"),
        ):
            if not good:
                raise UsageError("out of bounds", where=f"noise.{name}", given=getattr(self, name), allowed=allowed)

    def sample(self, seed: int, name: str, ticks: int, reps: int) -> Floats:
        """Ticks × replications of it."""
        from scipy.signal import lfilter

        draws = Draws(seed, f"tripwire design {name}")
        at = np.arange(ticks)[:, None], np.arange(reps)[None, :]
        fresh = draws.normal("noise", rep=at[1], turn=at[0])
        fresh[1:] *= np.sqrt(1 - self.correlation**2)
        series: Floats = np.asarray(lfilter([1.0], [1.0, -self.correlation], fresh, axis=0))
        return self.mean + self.sigma * series

    @classmethod
    def of(cls, values: Floats, quiet: Bools) -> Noise:
        """The noise of a value's quiet ticks (ticks × replications each); NaN is left out.

        Raises `UsageError` for fewer than 20 quiet ticks, or a value that never moves.
        """
        good = quiet & ~np.isnan(values)
        if good.sum() < LEAST:
            raise UsageError("too few quiet ticks to tell the noise from", given=int(good.sum()), allowed=f"{LEAST} or more")
        quiet_values = values[good]
        mean, sigma = float(quiet_values.mean()), float(quiet_values.std(ddof=1))
        if sigma == 0:
            hint = "more replications, a population of writers, or give --mean and --sigma"
            raise UsageError("the value never moves while all is well, so it has no noise", given=mean, hint=hint)
        both = good[1:] & good[:-1]
        before, after = values[:-1][both] - mean, values[1:][both] - mean
        correlation = float((before * after).sum() / (before**2).sum()) if both.any() else 0.0
        return cls(mean, sigma, float(np.clip(correlation, 0.0, 0.99)))
