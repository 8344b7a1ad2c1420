"""Tripwire design from target run lengths. The level, hysteresis, hold time and smoothing are found by simulation.

A structure is a pair of smoothing gain and hold. Each structure is tried at the level that gives the target ARL0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.tripwire.runs.episode_scores import Interval, run_length, scores
from malsim.lab.tripwire.runs.observation import Noise, replay, standalone
from malsim.netlist import parse
from malsim.netlist.engine.engine import DAY
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.tripwire.boolean.part import Bools
    from malsim.showing.plots.style import Sheet

    Floats = NDArray[np.float64]

GAINS = (1.0, 0.5, 0.3, 0.2, 0.1)
HOLDS = (1, 2, 3, 5)
BANDS = (0.0, 0.5, 1.0, 2.0)  # hysteresis widths to try, in standard deviations of the smoothed value
WARM = 60  # number of quiet ticks before the shift
AIM = 1.05  # multiple of the target ARL0 to aim for, so that random variation rarely misses the target
STEPS = 40  # number of bisection steps in the search for the level
DETECTION = ("arl1", "delay", "missed")  # metrics computed from the shifted stream; the others use the quiet stream
REPS = 400
MOST_NUMBERS = 4_000_000

_TEXT = """\
# Trips when x has moved by {shift:g} from {mean:g}: ARL0 {arl0:g} ticks, ARL1 {arl1:.3g} ticks by simulation.
loadrt scale names=moved
loadrt smooth names=calm
loadrt watch names=beyond
loadrt ton names=standing
loadrt latch names=alarm
net x moved.in
net away moved.out > calm.in
net calmed calm.out > beyond.in
net is-beyond beyond.above > standing.in
net stands standing.out > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out
setp moved.gain {sign}
setp moved.offset {offset:.6g}
setp calm.gain {gain:g}
setp beyond.level {level:.6g}
setp beyond.hysteresis {band:.6g}
setp standing.delay {hold:g}ms
addf moved tick
addf calm tick
addf beyond tick
addf standing tick
addf alarm tick
"""


@dataclass(frozen=True)
class AlarmDesign:
    """Tripwire proposed for given target run lengths. A notebook displays its figure, and `print` shows its text.

    Parameters
    ----------
    arl0, delay
        Targets, in ticks.
    noise, shift
        Noise and shift for which the alarm is designed.
    candidates
        One row per structure, at the level that gives the target ARL0: gain, hold (ticks), level, arl0, arl1, reached.
    gain, hold, level, hysteresis
        The proposal: share of the gap that the smoothing closes per tick, ticks for which a crossing must last, level (a
        distance from the mean) and width of the hysteresis band, both in the unit of the watched value.
    text
        Text of the netlist.
    evaluation
        Scores of the netlist on fresh seeds; see `episode_scores.scores`.
    """

    arl0: float
    delay: float
    noise: Noise
    shift: float
    candidates: pl.DataFrame
    gain: float
    hold: int
    level: float
    hysteresis: float
    text: str
    evaluation: pl.DataFrame

    @property
    def reached(self) -> bool:
        """True if the intervals of ARL0 and ARL1 on fresh seeds both include their targets or better values."""
        figures = self._figures
        return bool(figures["arl0"]["high"] >= self.arl0 and figures["arl1"]["low"] <= self.delay)

    @property
    def figure(self) -> Sheet:
        """Figure of each candidate's detection delay at the target ARL0, with the chosen candidate marked."""
        from malsim.showing.plots.wiring.tripwire import design

        title = f"Candidate designs for ARL0 {self.arl0:g} ticks and a shift of {self.shift:g}"
        return design(self.candidates, gain=self.gain, hold=self.hold, delay=self.delay, title=title)

    @property
    def _figures(self) -> dict[str, dict[str, Any]]:
        return {row["metric"]: row for row in self.evaluation.to_dicts()}

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()

    def __str__(self) -> str:
        smoothing = "no smoothing" if self.gain == 1 else f"smoothing {self.gain:g}"
        hold = f"held {self.hold} tick{'s' if self.hold > 1 else ''}"
        lines = [f"{smoothing}, level {self.level:.4g} from the mean, hysteresis {self.hysteresis:.3g}, {hold}"]
        for name, bound, target in (("arl0", "at least", self.arl0), ("arl1", "at most", self.delay)):
            row = self._figures[name]
            value = "–" if row["value"] is None else f"{row['value']:.4g}"
            interval = f"{value} [{row['low']:.4g}, {row['high']:.4g}]"
            lines.append(f"  {name.upper()} {interval} ticks, target {bound} {target:g}")
        verdict = "reached on fresh seeds" if self.reached else "NOT reached: no structure tried is as fast at that ARL0"
        return "\n".join([*lines, f"  {verdict}"])


def design_tripwire(
    arl0: float,
    delay: float,
    *,
    noise: Noise | None = None,
    shift: float = 1.0,
    tick: float = DAY,
    seed: int = 0,
    chatter: float = 0.1,
) -> AlarmDesign:
    """Find a level, hysteresis, hold time and smoothing that meet targets for false alarms and for detection delay.

    For every smoothing and hold, the level for the target ARL0 is found on one quiet stream. The simplest structure that is
    fast enough is chosen, otherwise the fastest. The hysteresis is the narrowest of a few that limits chatter.

    Parameters
    ----------
    arl0, delay
        Smallest average run length to a false alarm and largest to detection of the shift (first tick: 1), in ticks.
    noise, shift
        Noise in quiet ticks (default: standard normal), and change of the mean to detect, in the value's unit (< 0: a
        fall).
    tick
        Milliseconds between two ticks, for the hold.
    chatter
        Largest share of alarms that may come on again within 3 ticks of going off.

    Raises
    ------
    UsageError
        For targets below 1, a shift of 0, or an ARL0 longer than the simulation (10,000 ticks).
    """
    for name, target, valid in (("arl0", arl0, 1 < arl0 <= MOST_NUMBERS / REPS), ("delay", delay, delay >= 1)):
        if not valid:
            allowed = f"above 1, at most {MOST_NUMBERS // REPS}" if name == "arl0" else "1 or more"
            raise UsageError("out of bounds", where=f"design.{name}", given=target, allowed=allowed)
    if not shift:
        raise UsageError("the shift must not be 0", where="design.shift", given=shift)
    noise = noise or Noise()
    quiet, shifted = _streams(noise, shift, arl0, delay, seed, "calibration")
    calm, moved = ((values - noise.mean) * np.sign(shift) for values in (quiet, shifted))
    structures = _structures(calm, moved, arl0, delay)
    choice = _preferred(structures)
    spread = float(_compared(calm, choice["gain"], 1).std())
    for width in BANDS:
        band = width * spread
        text = _text(choice, band, noise, shift, tick, arl0)
        alarm = _alarm(text, quiet[: len(quiet) // 2])
        if (scores(alarm, np.zeros_like(alarm)).filter(metric="chatter")["value"][0] or 0.0) <= chatter:
            break
    fresh, fresh_shifted = (_alarm(text, values) for values in _streams(noise, shift, arl0, delay, seed, "fresh"))
    truth = np.zeros_like(fresh_shifted)
    truth[WARM:] = True
    detection = pl.col("metric").is_in(DETECTION)
    quiet_scores = scores(fresh, np.zeros_like(fresh)).filter(~detection)
    evaluation = pl.concat([quiet_scores, scores(fresh_shifted, truth).filter(detection)])
    return AlarmDesign(
        arl0, delay, noise, shift, structures, float(choice["gain"]), int(choice["hold"]), float(choice["level"]), band,
        text, evaluation,
    )  # fmt: skip


def _text(structure: dict[str, float], band: float, noise: Noise, shift: float, tick: float, arl0: float) -> str:
    """Return the netlist of a candidate design, whose calibrated level becomes the upper edge of the hysteresis band."""
    sign = 1 if shift > 0 else -1
    return _TEXT.format(
        shift=shift, mean=noise.mean, arl0=arl0, arl1=structure["arl1"], sign=sign, offset=-sign * noise.mean + 0.0,
        gain=structure["gain"], level=structure["level"] - band / 2, band=band, hold=(structure["hold"] - 1) * tick,
    )  # fmt: skip


def _streams(noise: Noise, shift: float, arl0: float, delay: float, seed: int, name: str) -> tuple[Floats, Floats]:
    """Draw one quiet stream, and one stream whose mean shifts after 60 ticks."""
    ticks = int(min(max(1.5 * arl0, 200), MOST_NUMBERS / REPS))
    quiet = noise.sample(seed, f"{name}, quiet", ticks, REPS)
    shifted = noise.sample(seed, f"{name}, shifted", WARM + int(20 * delay), REPS)
    shifted[WARM:] += shift
    return quiet, shifted


def _alarm(text: str, values: Floats) -> Bools:
    """Run a netlist on the signal `x` and return the alarm bit before the latch."""
    return replay(standalone(link(parse(text))), {"x": values}, ["stands"])["stands"]


def _compared(distance: Floats, gain: float, hold: int) -> Floats:
    """Return the value that is compared with the level: the minimum of the last `hold` smoothed values."""
    from scipy.signal import lfilter

    smooth: Floats = distance if gain == 1 else np.asarray(lfilter([gain], [1.0, gain - 1.0], distance, axis=0))
    if hold == 1:
        return smooth
    least: Floats = np.lib.stride_tricks.sliding_window_view(smooth, hold, axis=0).min(axis=-1)
    return np.concatenate([np.full((hold - 1, smooth.shape[1]), -np.inf), least])


def _run_length_to(maxima: Floats, level: float) -> Interval:
    """Return the average run length until a level is first exceeded, given running maxima (ticks × replications)."""
    ticks = len(maxima)
    below = (maxima <= level).sum(axis=0)
    return run_length(np.minimum(below + 1, ticks).astype(np.float64), below < ticks)


def _level(maxima: Floats, arl0: float) -> float:
    """Find the level that yields the target ARL0 by bisection on the running maxima of a quiet stream."""
    low, high = float(maxima[np.isfinite(maxima)].min()), float(maxima[-1].max())
    for _ in range(STEPS):
        middle = (low + high) / 2
        length = _run_length_to(maxima, middle).value
        low, high = (low, middle) if np.isnan(length) or length > arl0 else (middle, high)
    return (low + high) / 2


def _structures(quiet: Floats, shifted: Floats, arl0: float, delay: float) -> pl.DataFrame:
    """Return one row per candidate design with its calibrated level: gain, hold, level, arl0, arl1, reached."""
    rows = []
    for gain in GAINS:
        for hold in HOLDS:
            maxima = np.maximum.accumulate(_compared(quiet, gain, hold), axis=0)
            level = _level(maxima, AIM * arl0)
            values = _compared(shifted, gain, hold)
            silent = ~(values[:WARM] > level).any(axis=0)
            arl1 = _run_length_to(np.maximum.accumulate(values[WARM:, silent], axis=0), level).value
            rows.append((gain, hold, level, _run_length_to(maxima, level).value, arl1, bool(arl1 <= delay)))
    return pl.DataFrame(rows, schema=["gain", "hold", "level", "arl0", "arl1", "reached"], orient="row")


def _preferred(structures: pl.DataFrame) -> dict[str, float]:
    """Return the simplest candidate design that is fast enough, or the fastest candidate if none is."""
    fast = structures.filter("reached")
    if fast.is_empty():
        return structures.sort("arl1", "hold").row(0, named=True)
    parts = (pl.col("gain") < 1).cast(pl.Int8) + (pl.col("hold") > 1).cast(pl.Int8)
    return fast.sort(parts, "arl1", "hold").row(0, named=True)
