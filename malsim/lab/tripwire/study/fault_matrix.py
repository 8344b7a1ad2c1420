"""Effect of injected faults on alarms: lost, doubled, late or reordered claims, lost ticks, and clock jumps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError
from malsim.base.intervals import difference_interval, ends_if_any
from malsim.lab.tripwire.runs.episode_scores import next_on, onsets, share, spans
from malsim.lab.tripwire.runs.observation import observe
from malsim.sim.settings.population import ClaimFault
from malsim.sim.world.clock import DAY
from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from malsim.lab.tripwire.boolean.part import Bools
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.lab.tripwire.runs.reference_charts import Charts
    from malsim.sim.settings.scenario import Scenario

    Ints = NDArray[np.int64]

HALF = 0.5
LATE = 3  # delay of a late claim, in turns
LOST_TICKS = 0.3
FAULTS = {
    "lost claims": "half of the claims never arrive",
    "doubled claims": "half of the claims arrive twice",
    "late claims": "half of the claims arrive three turns late",
    "reordered claims": "every claim arrives at a random time of its turn",
    "lost ticks": "three ticks in ten are lost",
    "clock jump": "after two fifths of the run the clock jumps ahead by a tenth of the run",
}
KINDS = {
    "fault": pl.String, "what": pl.String, "alarm": pl.String, "verdict": pl.String, "detected": pl.Int64, "lost": pl.Int64,
    "low": pl.Float64, "high": pl.Float64, "later": pl.Float64, "later_low": pl.Float64, "later_high": pl.Float64,
    "false_alarms": pl.Float64, "false_low": pl.Float64, "false_high": pl.Float64,
}  # fmt: skip


def matrix(base: Observation, charts: Charts) -> pl.DataFrame:
    """Run a scenario under each fault and compare its alarms with those of the fault-free run, on common random numbers.

    Returns
    -------
    pl.DataFrame
        One row per fault and alarm, first the tripwire and then the charts: verdict (`holds`, `misses`, `late`, `false
        alarms`, `error`, `nothing to lose`), number of episodes `detected` without the fault, number of these `lost` with
        the interval of their share, mean delay of the others (`later`, in ticks), and additional `false_alarms` per
        replication, with intervals if there are several replications. A tick lost to a fault repeats the previous tick.
    """
    rows: list[dict[str, object]] = []
    before = {base.name: base.alarm} | charts.alarms(base)
    for name, scenario in faulty_scenarios(base.scenario):
        try:
            faulty_run = observe(scenario, base.name)
        except MalsimError as problem:
            rows += [{"fault": name, "what": str(problem), "verdict": "error", "alarm": alarm} for alarm in before]
            continue
        last_tick = np.searchsorted(faulty_run.trace.times, base.trace.times, side="right") - 1
        for alarm, bits in ({base.name: faulty_run.alarm} | charts.alarms(faulty_run)).items():
            aligned = np.asarray(bits[np.maximum(last_tick, 0)] & (last_tick >= 0)[:, None])
            effect = _effect(base.truth, before[alarm], aligned)
            rows.append({"fault": name, "what": FAULTS[name], "alarm": alarm, **effect})
    return pl.DataFrame(rows, schema=KINDS)


def faulty_scenarios(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """Yield the name of each fault and the scenario with that fault.

    Claims about cells wired to the netlist are never lost.

    Faults affect a population's claims by noise on its lines, and scripted claims by separate draws.
    """
    late, claims = LATE * scenario.turn_every / DAY, scenario.claims
    wired = [path.handle for _, path in scenario.netlist.net.paths] if scenario.netlist else []
    noise = {
        "lost claims": {"drop": HALF},
        "doubled claims": {"double": HALF},
        "late claims": {"delay": HALF, "late": late},
        "reordered claims": {"reorder": 1.0},
    }
    scripted: dict[str, Callable[[], pl.DataFrame]] = {
        "lost claims": lambda: claims.filter(~_hit(scenario, "lost") | claims["handle"].is_in(wired).fill_null(value=False)),
        "doubled claims": lambda: pl.concat([claims, claims.filter(_hit(scenario, "doubled"))]),
        "late claims": lambda: claims.with_columns(t=pl.col("t") + _hit(scenario, "late").cast(pl.Float64) * late),
        "reordered claims": lambda: claims.with_columns(t=_random_times(scenario)),
    }
    for name, shares in noise.items():
        lines = tuple(ClaimFault(population=population.name, noise=shares) for population in scenario.writers)
        faulty_claims = scripted[name]() if claims.height else claims
        yield name, replace(scenario, claims=faulty_claims, faults=(*scenario.faults, *lines))
    turns = scenario.turns
    turns_without_tick = np.flatnonzero(_draws(scenario).uniform("tick", rep=0, turn=np.arange(turns - 1)) < LOST_TICKS) + 1
    yield (
        "lost ticks",
        replace(scenario, gaps=scenario.gaps + tuple(_gap(scenario, turn, 1) for turn in turns_without_tick.tolist())),
    )
    jump = _gap(scenario, max(1, 2 * turns // 5), max(1, turns // 10))
    yield "clock jump", replace(scenario, gaps=(*scenario.gaps, jump))


def _draws(scenario: Scenario) -> Draws:
    return Draws(scenario.seed, "fault matrix")


def _gap(scenario: Scenario, turn: int, count: int) -> tuple[int, int]:
    return turn * scenario.turn_every, (turn + count - 1) * scenario.turn_every + 1


def _hit(scenario: Scenario, purpose: str) -> pl.Series:
    return pl.Series(_draws(scenario).uniform(purpose, rep=0, member=np.arange(scenario.claims.height)) < HALF)


def _random_times(scenario: Scenario) -> pl.Series:
    """Draw a random time for each scripted claim within its turn."""
    turn = scenario.turn_every / DAY
    position = _draws(scenario).uniform("place", rep=0, member=np.arange(scenario.claims.height))
    return (scenario.claims["t"] / turn).floor() * turn + pl.Series(position) * turn


def _effect(truth: Bools, without: Bools, alarm: Bools) -> dict[str, object]:
    """Compare an alarm with and without a fault: verdict, lost episodes, added delay and false alarms, with intervals."""
    rep, start, stop = spans(truth)
    before, after = (np.minimum(next_on(bits)[start, rep], stop) for bits in (without, alarm))
    detected = before < stop
    misses = detected & (after >= stop)
    late = detected & ~misses
    later = ends_if_any(difference_interval(after[late].astype(np.float64), before[late].astype(np.float64)))
    false_alarms = ((onsets(bits) & ~truth).sum(axis=0).astype(np.float64) for bits in (alarm, without))
    false = ends_if_any(difference_interval(*false_alarms))
    missed = share(misses.astype(np.float64), detected.astype(np.float64))
    verdict = "misses" if misses.any() else "late" if _above(later) else "false alarms" if _above(false) else "holds"
    return {
        "verdict": verdict if detected.any() else "nothing to lose",
        "detected": int(detected.sum()), "lost": int(misses.sum()),
        **dict(zip(("low", "high"), ends_if_any((missed.value, missed.low, missed.high))[1:], strict=True)),
        **dict(zip(("later", "later_low", "later_high"), later, strict=True)),
        **dict(zip(("false_alarms", "false_low", "false_high"), false, strict=True)),
    }  # fmt: skip


def _above(interval: tuple[float | None, float | None, float | None]) -> bool:
    """Return whether an interval, or its mean if it has no lower end, lies above 0."""
    mean, low, _ = interval
    return mean is not None and mean > 0 and (low is None or low > 0)
