"""Effect of each fault in the loop on each alarm: the run with the fault against the run without, by episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError
from malsim.base.intervals import difference_interval
from malsim.lab.tripwire.runs.block_intervals import share
from malsim.lab.tripwire.runs.episode_scores import next_on, onsets, spans
from malsim.lab.tripwire.runs.observation import observe
from malsim.lab.tripwire.study.faulty import FAULTS, faulty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.lab.tripwire.runs.reference_charts import Charts

    Ints = NDArray[np.int64]

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
        One row a fault and alarm, the tripwire's first and then the charts': verdict (`holds`, `misses`, `late`,
        `false alarms`, `error`, `nothing to lose`), episodes detected without the fault, how many of them it `lost` with the
        share's interval, ticks `later` on the mean of the others and false alarms more a replication with theirs; of one
        replication there is none. Ticks that a fault removes repeat the tick before.
    """
    rows: list[dict[str, object]] = []
    before = {base.name: base.alarm} | charts.alarms(base)
    for name, scenario in faulty(base.scenario):
        try:
            faulty_run = observe(scenario, base.name)
        except MalsimError as problem:
            rows += [{"fault": name, "what": str(problem), "verdict": "error", "alarm": alarm} for alarm in before]
            continue
        for alarm, bits in ({base.name: faulty_run.alarm} | charts.alarms(faulty_run)).items():
            effect = _effect(base.truth, before[alarm], _at_ticks(bits, faulty_run, base))
            rows.append({"fault": name, "what": FAULTS[name], "alarm": alarm, **effect})
    return pl.DataFrame(rows, schema=KINDS)


def _at_ticks(alarm: Bools, observation: Observation, base: Observation) -> Bools:
    at = np.searchsorted(observation.trace.times, base.trace.times, side="right") - 1
    return np.asarray(alarm[np.maximum(at, 0)] & (at >= 0)[:, None])


def _effect(truth: Bools, was: Bools, alarm: Bools) -> dict[str, object]:
    """Return the effect of a fault on an alarm: verdict, episodes lost, added delay and false alarms, with intervals."""
    rep, start, stop = spans(truth)
    before, after = (np.minimum(next_on(item)[start, rep], stop) for item in (was, alarm))
    detected = before < stop
    misses = detected & (after >= stop)
    late = detected & ~misses
    later = _mean(after[late], before[late])
    false = _mean((onsets(alarm) & ~truth).sum(axis=0), (onsets(was) & ~truth).sum(axis=0))
    how = share(misses.astype(np.float64), detected.astype(np.float64))
    verdict = "misses" if misses.any() else "late" if _above(later) else "false alarms" if _above(false) else "holds"
    return {
        "verdict": verdict if detected.any() else "nothing to lose",
        "detected": int(detected.sum()), "lost": int(misses.sum()),
        "low": _or_none(how.low), "high": _or_none(how.high),
        **dict(zip(("later", "later_low", "later_high"), later, strict=True)),
        **dict(zip(("false_alarms", "false_low", "false_high"), false, strict=True)),
    }  # fmt: skip


def _mean(after: Ints, before: Ints) -> tuple[float | None, float | None, float | None]:
    """The mean difference with its interval; of one, or of those all alike, the one alone."""
    mean, low, high = difference_interval(after.astype(np.float64), before.astype(np.float64))
    return _or_none(mean), _or_none(low), _or_none(high)


def _above(interval: tuple[float | None, float | None, float | None]) -> bool:
    """Return whether the interval of a mean, or the mean itself if it has none, lies above 0."""
    mean, low, _ = interval
    return mean is not None and mean > 0 and (low is None or low > 0)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
