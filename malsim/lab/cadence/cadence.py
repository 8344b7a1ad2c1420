"""The same scenario under other clocks: ticks often and seldom, late, missed, doubled; and what that changed."""

from __future__ import annotations

import contextlib
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.cadence.invariants import HISTORY, LAWS, Invariant, paired, reads_change_nothing, same_currency, second_tick
from malsim.lab.space.settings import scenario_of
from malsim.lab.studies.pool import executor_of, in_order
from malsim.memory import settle, tick
from malsim.scenario.properties.formula import UNITS
from malsim.sim import bench
from malsim.sim.record.metrics import by_replication
from malsim.sim.settings.timing import Timing
from malsim.sim.world.clock import DAY, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.memory import Memory
    from malsim.showing.plots.style import Sheet
    from malsim.sim.settings.scenario import Scenario

PERIODS = ("1min", "10min", "1h", "6h", "1d", "1w")
JITTERS: Mapping[str, Mapping[str, float]] = {"late": {"late": 0.5}, "missed": {"missed": 0.3}, "doubled": {"doubled": 0.3}}
SHORTEST, LONGEST = 7.0, 14.0
MOST_TICKS = 1_000_000
MOST_RECORDED = 200


@dataclass(frozen=True, kw_only=True, repr=False)
class Cadence:
    """What cadence() found.

    `frame` has a row a clock: clock, period (days), ticks, waits (mean days from a claim to the tick that takes it in),
    shared (cells that the reference has too), alike (active ones of the same history), currency (the largest difference of
    these, read at one instant), effective (the largest difference of the shared, at the end), settles, accuracy (where there
    is truth). `laws` has law, holds, worst, said. `paths` has clock, t, rep, cell, effective, currency as recorded.
    """

    reference: str
    frame: pl.DataFrame
    laws: pl.DataFrame
    paths: pl.DataFrame

    @property
    def holds(self) -> bool:
        """Whether no law is broken."""
        return not (~self.laws["holds"].fill_null(value=True)).any()

    def plot(self, title: str = "") -> Sheet:
        """The cell the clocks disagree on most, and how far the ends differ."""
        from malsim.showing.plots.studies.clocks import clocks

        return clocks(self.frame, self.paths, reference=self.reference, title=title)

    def __repr__(self) -> str:
        """A few lines a person reads."""
        lines = [f"beside {self.reference}:"]
        for row in self.frame.to_dicts():
            rest = "settles" if row["settles"] else "rings"
            gaps = f"effective by up to {row['effective']:.3g}, currency by {row['currency']:.3g}"
            head = f"  {row['clock']:<18} {row['ticks']:>6} ticks, a claim waits {row['waits']:.3g} d"
            lines.append(f"{head}: {gaps}; {rest}")
        for law in self.laws.to_dicts():
            word = {True: "holds", False: "BROKEN", None: "says nothing here"}[law["holds"]]
            lines.append(f"  {law['law']}: {word} ({law['said']})")
        return "\n".join(lines)


def cadence(
    scenario: ScenarioOrPath,
    *,
    periods: Sequence[str] = PERIODS,
    days: float | None = None,
    most_ticks: int = MOST_TICKS,
    executor: Any = None,
    progress: bool = True,
) -> Cadence:
    """Run a scenario at several tick periods, and at its own with late, missed and doubled ticks; say what changed.

    The reference is the scenario's own period, on time. At that period half of the ticks come up to a turn late, three in
    ten are missed, three in ten are made twice, each in a run of its own. Three laws are checked: currency is
    cadence-invariant (active cells of one history, read at the same instant, have one currency under every clock; those
    superseded, annexed or pinned keep what a tick left them, and are counted); a second tick at the same instant changes
    nothing on a settled graph; reads change nothing.

    Parameters
    ----------
    periods
        Durations such as 10min, none longer than the run.
    days
        How long to run; the scenario's own length, but at least 7 and at most 14, if None.
    most_ticks
        Refuse more ticks × replications than this in any run.
    executor
        Any `concurrent.futures` executor or a Dask client; one run after the other here, if None.

    Raises
    ------
    UsageError
        For no period, one longer than the run, or too many ticks.
    """
    scenario = scenario_of(scenario)
    length = min(max(scenario.days, SHORTEST), LONGEST) if days is None else days
    scenario = scenario.replace(days=length, checks=(), episodes=())
    jobs = _jobs(scenario, periods, most_ticks)
    with executor_of(executor) if executor is not None else contextlib.nullcontext() as pool:
        reference, *others = runs = in_order(jobs, pool, title="cadence", unit="clock", progress=progress)
    rows = [_row(job, one, reference) for job, one in zip(jobs, runs, strict=True)]
    laws = [_currency(scenario, reference, others), *reference.laws]
    paths = [one.paths.select(pl.lit(job.clock).alias("clock"), pl.all()) for job, one in zip(jobs, runs, strict=True)]
    return Cadence(
        reference=jobs[0].clock,
        frame=pl.DataFrame(rows, schema_overrides={"accuracy": pl.Float64}),
        laws=pl.DataFrame([astuple(law) for law in laws], schema=LAWS, orient="row"),
        paths=pl.concat(paths),
    )


@dataclass(frozen=True)
class _ClockRun:
    """What a run under one clock comes to."""

    ticks: int
    waits: float
    cells: pl.DataFrame
    settles: bool
    accuracy: float | None
    paths: pl.DataFrame
    laws: tuple[Invariant, ...]


@dataclass(frozen=True)
class _Job:
    """One clock to run under; the laws are checked on the reference."""

    clock: str
    scenario: Scenario
    timing: Timing
    reference: bool = False

    def __call__(self) -> _ClockRun:
        scenario, end = self.scenario, self.scenario.days
        every = max(1, len(self.timing.at) // MOST_RECORDED)
        run = bench.run(scenario.replace(record="all", record_every=every), self.timing)
        memory, rules = run.memory, scenario.rules
        accuracy = by_replication(run).get("accuracy")
        return _ClockRun(
            ticks=len(self.timing.at) + len(self.timing.doubled),
            waits=_waits(memory, self.timing),
            cells=_final(memory, tick(memory, end, rules)),
            settles=settle(memory, end, rules).settled,
            accuracy=None if accuracy is None or np.isnan(accuracy).all() else float(np.nanmean(accuracy)),
            paths=run.cells.select("t", "rep", "cell", "effective", "currency"),
            laws=(second_tick(memory, end, rules), reads_change_nothing(memory, end, rules)) if self.reference else (),
        )


def _jobs(scenario: Scenario, periods: Sequence[str], most_ticks: int) -> list[_Job]:
    """The reference first, then each period, then the jitters."""
    if isinstance(periods, str) or not periods:
        raise UsageError("no periods", where="cadence: periods", given=periods, hint='a list of durations: ["10min", "1d"]')
    own = _in_words(scenario.turn_every)
    clocks = [(own, scenario)]
    for text in periods:
        period = span(text, where="cadence: periods")
        if period > scenario.days * DAY or period < 1:
            allowed = f"at most the run's {scenario.days:g}d"
            raise UsageError("a period longer than the run", where="cadence: periods", given=text, allowed=allowed)
        if period != scenario.turn_every:
            clocks.append((f"every {text}", replace(scenario, turn_every=period)))
    for clock, each in clocks:
        ticks = each.turns * each.replications
        if ticks > most_ticks:
            hint = "run fewer days or replications, leave the shortest periods out, or raise most_ticks"
            where, allowed = f"cadence: {clock}", f"{most_ticks}"
            raise UsageError("too many ticks × replications", where=where, given=ticks, allowed=allowed, hint=hint)
    jobs = [_Job(clock, each, Timing.regular(each), reference=clock == own) for clock, each in clocks]
    return jobs + [_Job(f"{own}, {name}", scenario, Timing.jittered(scenario, **part)) for name, part in JITTERS.items()]


def _row(job: _Job, one: _ClockRun, reference: _ClockRun) -> dict[str, Any]:
    pairs = paired(reference.cells, one.cells)
    alike = pairs.filter("alike", "live")
    return {
        "clock": job.clock,
        "period": job.scenario.turn_every / DAY,
        "ticks": one.ticks,
        "waits": one.waits,
        "shared": pairs.height,
        "alike": alike.height,
        "currency": float(alike["currency_gap"].to_numpy().max(initial=0.0)),
        "effective": float(pairs["effective_gap"].to_numpy().max(initial=0.0)),
        "settles": one.settles,
        "accuracy": one.accuracy,
    }


def _currency(scenario: Scenario, reference: _ClockRun, others: Sequence[_ClockRun]) -> Invariant:
    """The first law; where nothing but the clock acts, the clock must not change a live cell's history either."""
    pairs = pl.concat([paired(reference.cells, one.cells) for one in others])
    live = pairs.filter("live")
    alone = not (scenario.writers or scenario.reader or scenario.reviewers or scenario.netlist)
    return same_currency(live, others=pairs.height - live.height, alone=alone)


def _final(memory: Memory, read: Memory) -> pl.DataFrame:
    """The cells as a run left them, with their currency read anew at its end."""
    return memory.cells.select("rep", "effective", *HISTORY, cell="handle").with_columns(read.cells["currency"])


def _waits(memory: Memory, timing: Timing) -> float:
    """Mean days from a cell's making to the tick that took it in: the first after it."""
    created = np.rint(memory.cells["created"].to_numpy() * DAY).astype(np.int64)
    at = np.array(timing.at, dtype=np.int64)
    place = np.searchsorted(at, created, side="right")
    inside = place < len(at)
    return float(((at[place[inside]] - created[inside]) / DAY).mean()) if inside.any() else 0.0


def _in_words(period: int) -> str:
    """A period in words, in the largest unit it is a whole number of."""
    unit, size = next((unit, size) for unit, size in reversed(UNITS.items()) if period % size == 0)
    return f"every {period // size}{unit}"
