"""Which faults in the loop blind which alarm: every fault's run against the run without any, episode by episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import MalsimError
from malsim.lab.tripwire.faulty import FAULTS, faulty
from malsim.lab.tripwire.intervals import share
from malsim.lab.tripwire.observed import observe
from malsim.lab.tripwire.scores import onsets, spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.tripwire.machine import Bools
    from malsim.lab.tripwire.observed import Observed

    Ints = NDArray[np.int64]

__all__ = ["matrix"]

KINDS = {
    "fault": pl.String, "what": pl.String, "alarm": pl.String, "verdict": pl.String, "detected": pl.Int64, "lost": pl.Int64,
    "low": pl.Float64, "high": pl.Float64, "later": pl.Float64, "false_alarms": pl.Int64,
}  # fmt: skip


def matrix(base: Observed) -> pl.DataFrame:
    """Run the scenario under each fault and compare, on common random numbers.

    Returns
    -------
    pl.DataFrame
        One row a fault: verdict (`holds`, `blinded`, `late`, `cries wolf`, `error`), episodes detected without the fault,
        how many of them it `lost` with the share's interval, ticks `later` on the mean of those kept, and false alarms more.
        Ticks that a fault took away show what stood before.
    """
    rows = []
    for name, scenario in faulty(base.scenario):
        try:
            seen = observe(scenario, base.name)
        except MalsimError as problem:
            said = {"fault": name, "what": str(problem), "alarm": base.name, "verdict": "error"}
            rows.append(said | dict.fromkeys(["detected", "lost", "low", "high", "later", "false_alarms"]))
            continue
        rows.append({"fault": name, "what": FAULTS[name], "alarm": base.name, **_against(base, _filled(seen, base))})
    return pl.DataFrame(rows, schema=KINDS)


def _filled(seen: Observed, base: Observed) -> Bools:
    """The alarm of a run at the ticks of another, as it stood last."""
    at = np.searchsorted(seen.trace.times, base.trace.times, side="right") - 1
    filled = seen.alarm[np.maximum(at, 0)].copy()
    filled[at < 0] = False
    return np.asarray(filled)


def _against(base: Observed, alarm: Bools) -> dict[str, object]:
    rep, start, stop = spans(base.truth)
    before, after = (_first(one, rep, start, stop) for one in (base.alarm, alarm))
    detected = before < stop
    lost = detected & (after >= stop)
    kept = detected & ~lost
    later = float((after - before)[kept].mean()) if kept.any() else 0.0
    false = int((onsets(alarm) & ~base.truth).sum() - (onsets(base.alarm) & ~base.truth).sum())
    how = share(lost.astype(np.float64), detected.astype(np.float64))
    verdict = "blinded" if lost.any() else "late" if later > 0 else "cries wolf" if false > 0 else "holds"
    return {
        "verdict": verdict if detected.any() else "nothing to lose",
        "detected": int(detected.sum()), "lost": int(lost.sum()),
        "low": None if np.isnan(how.low) else how.low, "high": None if np.isnan(how.high) else how.high,
        "later": later, "false_alarms": false,
    }  # fmt: skip


def _first(alarm: Bools, rep: Ints, start: Ints, stop: Ints) -> Ints:
    """The first tick of each span with the alarm on, or its end."""
    ticks = np.arange(len(alarm))[:, None]
    at = np.where(alarm, ticks, len(alarm))
    following = np.minimum.accumulate(at[::-1], axis=0)[::-1]
    made: Ints = np.minimum(following[start, rep], stop)
    return made
