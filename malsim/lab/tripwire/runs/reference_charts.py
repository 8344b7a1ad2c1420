"""Reference charts beside a tripwire: CUSUM and EWMA of the first number it watches, scaled by its quiet ticks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.tripwire.runs.observation import netlist_of
from malsim.lab.tripwire.runs.recorded_inputs import replay
from malsim.lab.tripwire.runs.silence import sensors
from malsim.netlist.language.parse import parse
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.netlist.wiring import Net
    from ops.pin import Array

LEAST_SPREAD = 1e-3
_CUSUM = """\
loadrt cusum names=sums
loadrt or2 names=either
setp sums.target {target!r}
setp sums.sigma {sigma!r}
setp sums.slack {slack!r}
setp sums.threshold {threshold!r}
net x sums.in
net rose sums.rose > either.in-0
net fell sums.fell > either.in-1
net alarm either.out > sums.reset
addf sums tick
addf either tick
"""
_EWMA = """\
loadrt scale names=less
loadrt smooth names=mean
loadrt wcomp names=band
loadrt not names=beyond
setp less.gain 1
setp less.offset {offset!r}
setp mean.gain {gain!r}
setp band.min {low!r}
setp band.max {high!r}
net x less.in
net centred less.out > mean.in
net smoothed mean.out > band.in
net inside band.out > beyond.in
net alarm beyond.out
addf less tick
addf mean tick
addf band tick
addf beyond tick
"""


@dataclass(frozen=True)
class Charts:
    """Charts of one signal, fitted once, to be run on any run that has it.

    Parameters
    ----------
    signal, target
        What is watched, and the value where it has none yet.
    nets
        Each chart by its name.
    """

    signal: str = ""
    target: float = 0.0
    nets: Mapping[str, Net] = field(default_factory=dict)

    @classmethod
    def of(cls, base: Observation) -> Charts:
        """The charts of a run; none where nothing that is watched has a value in quiet ticks."""
        for name in sensors(netlist_of(base.scenario).net):
            values = _filled_forward(base.signal(name))
            calm = values[~base.truth & ~np.isnan(values)]
            if len(calm):
                fit = {"target": float(calm.mean()), "sigma": max(float(calm.std()), LEAST_SPREAD)}
                nets = {f"{chart.__name__.upper()} of {name}": chart(**fit) for chart in (cusum, ewma)}
                return cls(name, fit["target"], nets)
        return cls()

    def alarms(self, observation: Observation) -> dict[str, Bools]:
        """Ticks × replications of each chart's alarm on a run."""
        if not self.nets:
            return {}
        values = _filled_forward(observation.signal(self.signal))
        stream = {"x": np.where(np.isnan(values), self.target, values)}
        return {name: replay(net, stream, ["alarm"])["alarm"] for name, net in self.nets.items()}


def _filled_forward(values: Array) -> Array:
    return pl.from_numpy(values).fill_nan(None).fill_null(strategy="forward").to_numpy()


def cusum(*, target: float = 0.0, sigma: float = 1.0, slack: float = 0.5, threshold: float = 5.0) -> Net:
    """The two-sided cumulative sum of the signal `x` on the bit `alarm`; `slack` and `threshold` in sigma.

    It starts again after each alarm. With slack 0.5 the published ARL0 and ARL1 (one sigma) are 167.7 and 8.38 for threshold
    4, 465.4 and 10.38 for 5 (Hawkins and Olwell, Cumulative Sum Charts, 1998).
    """
    return link(parse(_CUSUM.format(target=target, sigma=sigma, slack=slack, threshold=threshold)))


def ewma(*, target: float = 0.0, sigma: float = 1.0, gain: float = 0.1, width: float = 2.814) -> Net:
    """The exponentially weighted moving average of `x` on the bit `alarm`.

        mean += gain · (x − mean);  alarm where |mean − target| > width · sigma · sqrt(gain / (2 − gain))

    With gain 0.1 and width 2.814 the published ARL0 is 500 and ARL1 of one sigma 10.3 (Lucas and Saccucci, Technometrics
    32, 1990).
    """
    half = width * sigma * (gain / (2 - gain)) ** 0.5
    return link(parse(_EWMA.format(offset=-target, gain=gain, low=-half, high=half)))
