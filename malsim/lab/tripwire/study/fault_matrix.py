"""Which faults in the loop blind which alarm: every fault's run against the run without any, episode by episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import MalsimError
from malsim.intervals import student
from malsim.lab.tripwire.runs.block_intervals import share
from malsim.lab.tripwire.runs.episode_scores import onsets, spans
from malsim.lab.tripwire.runs.observation import observe
from malsim.lab.tripwire.study.faulty import FAULTS, faulty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.lab.tripwire.runs.reference_charts import Charts

    Ints = NDArray[np.int64]

__all__ = ["matrix"]

KINDS = {
    "fault": pl.String, "what": pl.String, "alarm": pl.String, "verdict": pl.String, "detected": pl.Int64, "lost": pl.Int64,
    "low": pl.Float64, "high": pl.Float64, "later": pl.Float64, "later_low": pl.Float64, "later_high": pl.Float64,
    "false_alarms": pl.Float64, "false_low": pl.Float64, "false_high": pl.Float64,
}  # fmt: skip


def matrix(base: Observation, charts: Charts) -> pl.DataFrame:
    """Run the scenario under each fault and compare, on common random numbers.

    Returns
    -------
    pl.DataFrame
        One row a fault and alarm, the tripwire's first and then the charts': verdict (`holds`, `blinded`, `late`,
        `false alarms`, `error`, `nothing to lose`), episodes detected without the fault, how many of them it `lost` with the
        share's interval, ticks `later` on the mean of those kept and false alarms more a replication with theirs; of one
        replication there is none. Ticks that a fault took away show what stood before.
    """
    rows: list[dict[str, object]] = []
    before = {base.name: base.alarm} | charts.alarms(base)
    for name, scenario in faulty(base.scenario):
        said: dict[str, object] = {"fault": name, "what": FAULTS[name]}
        try:
            seen = observe(scenario, base.name)
        except MalsimError as problem:
            nothing = dict.fromkeys(list(KINDS)[4:])
            rows += [said | nothing | {"what": str(problem), "alarm": alarm, "verdict": "error"} for alarm in before]
            continue
        after = {base.name: seen.alarm} | charts.alarms(seen)
        rows += [
            said | {"alarm": alarm} | _against(base.truth, before[alarm], _filled(after[alarm], seen, base))
            for alarm in before
        ]
    return pl.DataFrame(rows, schema=KINDS)


def _filled(alarm: Bools, seen: Observation, base: Observation) -> Bools:
    """An alarm of a run at the ticks of another, as it stood last."""
    at = np.searchsorted(seen.trace.times, base.trace.times, side="right") - 1
    filled = alarm[np.maximum(at, 0)].copy()
    filled[at < 0] = False
    return np.asarray(filled)


def _against(truth: Bools, was: Bools, alarm: Bools) -> dict[str, object]:
    rep, start, stop = spans(truth)
    before, after = (_first(one, rep, start, stop) for one in (was, alarm))
    detected = before < stop
    lost = detected & (after >= stop)
    later = _paired((after - before)[detected & ~lost])
    false = _paired((onsets(alarm) & ~truth).sum(axis=0) - (onsets(was) & ~truth).sum(axis=0))
    how = share(lost.astype(np.float64), detected.astype(np.float64))
    verdict = "blinded" if lost.any() else "late" if _above(later) else "false alarms" if _above(false) else "holds"
    return {
        "verdict": verdict if detected.any() else "nothing to lose",
        "detected": int(detected.sum()), "lost": int(lost.sum()),
        "low": _known(how.low), "high": _known(how.high),
        **dict(zip(("later", "later_low", "later_high"), later, strict=True)),
        **dict(zip(("false_alarms", "false_low", "false_high"), false, strict=True)),
    }  # fmt: skip


def _paired(differences: Ints) -> tuple[float | None, float | None, float | None]:
    """The mean of differences with Student's interval; of one, the one alone."""
    if not len(differences):
        return None, None, None
    mean, low, high = student(differences.astype(np.float64))
    return mean, _known(low), _known(high)


def _above(found: tuple[float | None, float | None, float | None]) -> bool:
    """Whether a mean is above 0 by its interval, or where it has none, by itself."""
    mean, low, _ = found
    return mean is not None and mean > 0 and (low is None or low > 0)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _first(alarm: Bools, rep: Ints, start: Ints, stop: Ints) -> Ints:
    """The first tick of each span with the alarm on, or its end."""
    ticks = np.arange(len(alarm))[:, None]
    at = np.where(alarm, ticks, len(alarm))
    following = np.minimum.accumulate(at[::-1], axis=0)[::-1]
    made: Ints = np.minimum(following[start, rep], stop)
    return made
