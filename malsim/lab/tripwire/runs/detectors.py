"""The control charts tripwires are compared with, as netlists: CUSUM and EWMA of one signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.netlist.language.parse import parse
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from malsim.netlist.wiring import Net

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
