"""CUSUM and EWMA control charts of a tripwire's first watched signal, for comparison with the tripwire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.tripwire.runs.observation import netlist_of, replay
from malsim.lab.tripwire.runs.silence import sensors
from malsim.netlist.language.parse import parse
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.lab.tripwire.boolean.part import Bools
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
    """Control charts of one signal, keyed by name and fitted to the quiet ticks of one run.

    `target` is used until the signal has a value.
    """

    signal: str = ""
    target: float = 0.0
    nets: Mapping[str, Net] = field(default_factory=dict)

    @classmethod
    def of(cls, base: Observation) -> Charts:
        """Fit control charts to a run. The result has no charts if no watched signal has a value in quiet ticks."""
        for name in sensors(netlist_of(base.scenario).net):
            values = _filled_forward(base.signal(name))
            quiet = values[~base.truth & ~np.isnan(values)]
            if len(quiet):
                fit = {"target": float(quiet.mean()), "sigma": max(float(quiet.std()), LEAST_SPREAD)}
                nets = {f"{chart.__name__.upper()} of {name}": chart(**fit) for chart in (cusum, ewma)}
                return cls(name, fit["target"], nets)
        return cls()

    def alarms(self, observation: Observation) -> dict[str, Bools]:
        """Return the alarms that the charts raise on a run, as arrays (ticks × replications) keyed by chart name."""
        if not self.nets:
            return {}
        values = _filled_forward(observation.signal(self.signal))
        stream = {"x": np.where(np.isnan(values), self.target, values)}
        return {name: replay(net, stream, ["alarm"])["alarm"] for name, net in self.nets.items()}


def _filled_forward(values: Array) -> Array:
    return pl.from_numpy(values).fill_nan(None).fill_null(strategy="forward").to_numpy()


def cusum(*, target: float = 0.0, sigma: float = 1.0, slack: float = 0.5, threshold: float = 5.0) -> Net:
    """Return a net with a two-sided CUSUM chart of the signal `x` and the output bit `alarm`.

    Slack and threshold are in units of sigma.

    The sums restart after each alarm. With slack 0.5, the published ARL0 and ARL1 (shift of one sigma) are 167.7 and 8.38
    for threshold 4, and 465.4 and 10.38 for threshold 5 (Hawkins and Olwell, Cumulative Sum Charts, 1998).
    """
    return link(parse(_CUSUM.format(target=target, sigma=sigma, slack=slack, threshold=threshold)))


def ewma(*, target: float = 0.0, sigma: float = 1.0, gain: float = 0.1, width: float = 2.814) -> Net:
    """Return a net with an EWMA (exponentially weighted moving average) chart of the signal `x` and the output bit `alarm`.

        mean += gain · (x − mean);  alarm if |mean − target| > width · sigma · sqrt(gain / (2 − gain))

    With gain 0.1 and width 2.814, the published ARL0 is 500 and the ARL1 (shift of one sigma) is 10.3 (Lucas and Saccucci,
    Technometrics 32, 1990).
    """
    half = width * sigma * (gain / (2 - gain)) ** 0.5
    return link(parse(_EWMA.format(offset=-target, gain=gain, low=-half, high=half)))
