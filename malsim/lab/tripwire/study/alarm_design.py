"""A tripwire from the figures it must reach: level, hysteresis, hold and smoothing by simulation, shown on fresh seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.tripwire.runs.episode_scores import scores
from malsim.lab.tripwire.runs.noise import Noise
from malsim.lab.tripwire.runs.recorded_inputs import replay, standalone
from malsim.lab.tripwire.study.structures import WARM, candidates, preferred, to_compare
from malsim.netlist import parse
from malsim.netlist.engine.engine import DAY
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.netlist.wiring import Net
    from malsim.showing.plots.style import Sheet

    Floats = NDArray[np.float64]

BANDS = (0.0, 0.5, 1.0, 2.0)  # hystereses to try, in spreads of what is compared
DETECTION = ("arl1", "delay", "missed")  # figures of the shifted stream; the others are of the quiet one
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
    """A proposed tripwire; a notebook shows its figure, `print` its text.

    Parameters
    ----------
    arl0, delay
        The targets, in ticks.
    noise, shift
        What the design is for.
    candidates
        gain, hold (ticks), level, arl0, arl1, reached: each structure at the level that gives the target ARL0.
    gain, hold, level, hysteresis
        The proposal: share of the gap that the smoothing closes each tick, ticks a crossing must stand, where it crosses and
        the width of the band, in the unit of what is watched, from its mean.
    text
        The netlist.
    evaluation
        The figures of that netlist on fresh seeds; see `episode_scores.scores`.
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
        """True if on fresh seeds neither target lies outside its interval on the bad side."""
        figures = self._figures
        return bool(figures["arl0"]["high"] >= self.arl0 and figures["arl1"]["low"] <= self.delay)

    @property
    def figure(self) -> Sheet:
        """Figure of the delay of each structure at the target ARL0, and the choice."""
        from malsim.showing.plots.wiring.tripwire import design

        title = f"ARL0 {self.arl0:g} ticks, shift of {self.shift:g}"
        return design(self.candidates, gain=self.gain, hold=self.hold, delay=self.delay, title=title)

    @property
    def _figures(self) -> dict[str, dict[str, Any]]:
        return {row["metric"]: row for row in self.evaluation.to_dicts()}

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()

    def __str__(self) -> str:
        targets = [
            f"  {name.upper()} {_range(self._figures[name])}, asked {word} {target:g}"
            for name, word, target in (("arl0", "at least", self.arl0), ("arl1", "at most", self.delay))
        ]
        smoothing = "no smoothing" if self.gain == 1 else f"smoothing {self.gain:g}"
        head = f"{smoothing}, level {self.level:.4g} from the mean, hysteresis {self.hysteresis:.3g}, held {self.hold} ticks"
        verdict = "reached on fresh seeds" if self.reached else "NOT reached: no structure tried is as fast at that ARL0"
        return "\n".join([head, *targets, f"  {verdict}"])


def _range(row: dict[str, float]) -> str:
    value = "–" if row["value"] is None else f"{row['value']:.4g}"
    return f"{value} [{row['low']:.4g}, {row['high']:.4g}] ticks"


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
    """Find a level, a hysteresis, a hold and a smoothing that ring falsely no oftener, and truly no later, than asked.

    For every smoothing and hold the level is solved for the target ARL0 on one quiet stream; the choice is the simplest of
    those that are fast enough, else the fastest. The hysteresis is the narrowest of a few with no more chatter than asked.

    Parameters
    ----------
    arl0, delay
        Least average run length to a false alarm, and most to detect the shift (its first tick is 1), in ticks.
    noise, shift
        What the value does while all is well, and by how much it moves when it is not, in its unit; a shift below 0 is down.
        By default one sigma of unit normal noise.
    tick
        Milliseconds between two ticks, for the hold.
    chatter
        Most share of alarms that come again within 3 ticks of going off.

    Raises
    ------
    UsageError
        For targets below 1, no shift, or an ARL0 beyond what is simulated (10,000 ticks).
    """
    for name, value, good in (("arl0", arl0, 1 < arl0 <= MOST_NUMBERS / REPS), ("delay", delay, delay >= 1)):
        if not good:
            allowed = f"above 1 and at most {MOST_NUMBERS // REPS}" if name == "arl0" else "1 or more"
            raise UsageError("out of bounds", where=f"design.{name}", given=value, allowed=allowed)
    if not shift:
        raise UsageError("without a shift there is nothing to detect", where="design.shift", given=shift)
    noise = noise or Noise()
    quiet, shifted = _streams(noise, shift, arl0, delay, seed, "calibration")
    structures = candidates(_away(quiet, noise, shift), _away(shifted, noise, shift), arl0, delay)
    choice = preferred(structures)
    plan = _Plan(noise, shift, tick, arl0, choice)
    spread = float(to_compare(_away(quiet, noise, shift), choice["gain"], 1).std())
    band = next(
        (width * spread for width in BANDS if _chatter(plan.net(width * spread), quiet) <= chatter), BANDS[-1] * spread
    )
    evaluation = _evaluation(plan.net(band), *_streams(noise, shift, arl0, delay, seed, "fresh"))
    return AlarmDesign(
        arl0, delay, noise, shift, structures, float(choice["gain"]), int(choice["hold"]), float(choice["level"]), band,
        plan.text(band), evaluation,
    )  # fmt: skip


@dataclass(frozen=True)
class _Plan:
    """A structure, to be written as a netlist with a hysteresis."""

    noise: Noise
    shift: float
    tick: float
    arl0: float
    structure: dict[str, float]

    def text(self, band: float) -> str:
        """The netlist; the upper edge of its band is the level of the structure."""
        sign = 1 if self.shift > 0 else -1
        item = self.structure
        return _TEXT.format(
            shift=self.shift, mean=self.noise.mean, arl0=self.arl0, arl1=item["arl1"], sign=sign,
            offset=-sign * self.noise.mean + 0.0, gain=item["gain"], level=item["level"] - band / 2, band=band,
            hold=(item["hold"] - 1) * self.tick,
        )  # fmt: skip

    def net(self, band: float) -> Net:
        return standalone(link(parse(self.text(band))))


def _streams(noise: Noise, shift: float, arl0: float, delay: float, seed: int, name: str) -> tuple[Floats, Floats]:
    """A quiet stream, and one that shifts after 60 ticks."""
    ticks = int(min(max(1.5 * arl0, 200), MOST_NUMBERS / REPS))
    quiet = noise.sample(seed, f"{name}, quiet", ticks, REPS)
    shifted = noise.sample(seed, f"{name}, shifted", WARM + int(20 * delay), REPS)
    shifted[WARM:] += shift
    return quiet, shifted


def _away(values: Floats, noise: Noise, shift: float) -> Floats:
    away: Floats = (values - noise.mean) * np.sign(shift)
    return away


def _chatter(net: Net, quiet: Floats) -> float:
    """The share of alarms on a quiet stream that come again within 3 ticks."""
    alarm = replay(net, {"x": quiet[: len(quiet) // 2]}, ["stands"])["stands"]
    return float(scores(alarm, np.zeros_like(alarm)).filter(metric="chatter")["value"][0] or 0.0)


def _evaluation(net: Net, quiet: Floats, shifted: Floats) -> pl.DataFrame:
    calm, alarm = (replay(net, {"x": values}, ["stands"])["stands"] for values in (quiet, shifted))
    truth = np.zeros_like(alarm)
    truth[WARM:] = True
    detection = pl.col("metric").is_in(DETECTION)
    return pl.concat([scores(calm, np.zeros_like(calm)).filter(~detection), scores(alarm, truth).filter(detection)])
