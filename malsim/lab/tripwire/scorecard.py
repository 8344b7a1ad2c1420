"""The scorecard of a tripwire: statics, card, statistics, coverage, mutants, silence receipt, fault matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import MalsimError, UsageError
from malsim.lab.tripwire.beside import Charts
from malsim.lab.tripwire.card import card
from malsim.lab.tripwire.coverage import KINDS as OF_COVERAGE
from malsim.lab.tripwire.coverage import coverage
from malsim.lab.tripwire.explore import explore
from malsim.lab.tripwire.killed import KINDS as OF_MUTANTS
from malsim.lab.tripwire.killed import killed
from malsim.lab.tripwire.matrix import KINDS as OF_FAULTS
from malsim.lab.tripwire.matrix import matrix
from malsim.lab.tripwire.observed import Observed, observe, wired
from malsim.lab.tripwire.part import part_of
from malsim.lab.tripwire.scores import scores
from malsim.lab.tripwire.silence import blind, guarded, inner_numbers, receipt, sensors
from malsim.lab.tripwire.statics import Finding, statics
from malsim.netlist.lint import lint
from malsim.scenario.checks import Goal
from malsim.scenario.properties import Property
from malsim.sim.wires import Wires

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.lab.tripwire.card import Card
    from malsim.lab.tripwire.machine import Bools
    from malsim.lab.tripwire.part import Part
    from malsim.lab.tripwire.silence import Receipt
    from malsim.netlist import Document
    from malsim.sim.script import Scenario
    from ops.pin import Array

__all__ = ["Scorecard", "compare", "validate"]


@dataclass(frozen=True)
class Scorecard:
    """What is known of a tripwire.

    Parameters
    ----------
    name, alarm
        The netlist, and the signal that is its alarm.
    findings
        What can be said without running it.
    card
        The truth table of its Boolean part; None where it has none, or where that is too large (`untold` says why).
    scores
        One row a figure and tripwire, CUSUM and EWMA of what it watches beside it: see `scores.scores`.
    coverage, mutants, faults
        See `coverage.coverage`, `killed.killed`, `matrix.matrix`; empty where not asked.
    receipt
        What its silence is worth.
    timeline
        t, and shares over replications: alarm, truth, blind.
    watched
        signal, t, low, middle, high: of each watched signal the 5 %, 50 % and 95 % quantiles over replications.
    """

    name: str
    alarm: str
    scenario: Scenario
    findings: tuple[Finding, ...]
    card: Card | None
    untold: str
    scores: pl.DataFrame
    coverage: pl.DataFrame
    mutants: pl.DataFrame
    faults: pl.DataFrame
    receipt: Receipt
    timeline: pl.DataFrame
    watched: pl.DataFrame

    @property
    def mutation_score(self) -> float | None:
        """Mutants killed by a check over those that ran; None where none did."""
        counts = dict(self.mutants["verdict"].value_counts().rows())
        ran = counts.get("killed", 0) + counts.get("survived", 0)
        return counts.get("killed", 0) / ran if ran else None

    @property
    def survivors(self) -> list[str]:
        """The mutants that no check noticed, with their lines."""
        alive = self.mutants.filter(pl.col("verdict") == "survived")
        return [f"line {line}: {what}" for line, what in alive.select("line", "what").rows()]

    @property
    def covered(self) -> float | None:
        """The share of outputs seen both ways and inputs shown to matter on their own."""
        return sum(self.coverage["shown"].to_list()) / self.coverage.height if self.coverage.height else None


def validate(
    netlist: Document | None, scenario: Scenario, *, alarm: str | None = None, mutate: bool = True, faults: bool = True
) -> Scorecard:
    """Everything about a tripwire in a scenario.

    Parameters
    ----------
    netlist
        What stands for the scenario's own netlist; None takes that.
    alarm
        The signal that is the alarm; by default what its one latch writes.
    mutate, faults
        Whether to run the scenario once a mutant and once a fault, too.

    Raises
    ------
    UsageError
        Where there is no netlist, or no one alarm.
    NetlistError
        Where the netlist does not link.
    """
    scenario = _with(scenario, netlist)
    net, document = wired(scenario).net, wired(scenario).document
    tick = float(scenario.turn_every)
    seen = observe(scenario, alarm)
    part = part_of(net)
    told, untold, findings = _states(document, part, tick)
    name, charts = Path(document.name).name, Charts.of(seen)
    watched = {one: seen.signal(one) for one in sensors(net)}
    inner = {one: seen.signal(one) for one in inner_numbers(net)}
    bits = {one: seen.bit(one) for one in part.inputs}
    return Scorecard(
        name=name, alarm=seen.name, scenario=scenario, findings=tuple(findings), card=told, untold=untold,
        scores=_scored({name: seen.alarm, **charts.alarms(seen)}, seen.truth),
        coverage=pl.concat([coverage(part, bits, tick=tick), _goals(seen)]),
        mutants=killed(seen) if mutate else pl.DataFrame(schema=OF_MUTANTS),
        faults=matrix(seen, charts) if faults else pl.DataFrame(schema=OF_FAULTS),
        receipt=receipt(net, watched, inner, seen.alarm, seen.tests, days=seen.days, tick=tick),
        timeline=_timeline(seen, watched, inner, guarded(net, tick=tick)), watched=_bands(seen, watched),
    )  # fmt: skip


def _goals(seen: Observed) -> pl.DataFrame:
    """What the scenario's `sometimes` goals ask, as rows of the coverage; one that cannot be judged is not met."""
    rows = []
    for goal in seen.scenario.checks:
        if isinstance(goal, Goal):
            try:
                met = bool(Property(goal.property).margin(seen.trace).holds.any())
            except MalsimError:
                met = False
            rows.append(("goal", goal.name, met, goal.property, goal.line))
    return pl.DataFrame(rows, schema=OF_COVERAGE, orient="row")


def compare(netlists: Mapping[str, Document], scenario: Scenario, *, alarm: str | None = None) -> pl.DataFrame:
    """Tripwires side by side in one scenario, on common random numbers, with CUSUM and EWMA of what the first watches.

    Returns
    -------
    pl.DataFrame
        As `scores.scores`, with a column `tripwire` before it.
    """
    found: dict[str, pl.DataFrame] = {}
    charts: dict[str, Bools] = {}
    truth: Bools | None = None
    for name, document in netlists.items():
        own = _with(scenario, document)
        seen = observe(own, alarm)
        if truth is None:
            truth = seen.truth
            charts = Charts.of(seen).alarms(seen)
        found[name] = _scored({name: seen.alarm}, seen.truth)
    if truth is None:
        raise UsageError("nothing to compare", hint="name two netlists")
    return pl.concat([*found.values(), _scored(charts, truth)]) if charts else pl.concat(list(found.values()))


def _states(document: Document, part: Part, tick: float) -> tuple[Card | None, str, list[Finding]]:
    """The card and the findings, or why the Boolean part is too large for them; then what lint says alone."""
    try:
        return card(explore(part, tick=tick)) if part.net.instances else None, "", statics(document, tick=tick)
    except UsageError as problem:
        return None, str(problem), [Finding("wiring", note.words, note) for note in lint(document)]


def _with(scenario: Scenario, netlist: Document | None) -> Scenario:
    if netlist is None:
        return scenario
    old = scenario.netlist
    wires = replace(old, document=netlist) if old else Wires(document=netlist)
    return scenario.replace(netlist=wires)


def _scored(alarms: Mapping[str, Bools], truth: Bools) -> pl.DataFrame:
    return pl.concat(
        [scores(alarm, truth).select(pl.lit(name).alias("tripwire"), pl.all()) for name, alarm in alarms.items()]
    )


def _timeline(
    seen: Observed, watched: Mapping[str, Array], inner: Mapping[str, Array], limits: Mapping[str, int]
) -> pl.DataFrame:
    stale = blind(watched, limits) | {name: np.isnan(values) for name, values in inner.items()}
    blinded = np.any(list(stale.values()), axis=0) if stale else np.zeros_like(seen.alarm)
    shares = {"alarm": seen.alarm, "truth": seen.truth, "blind": blinded & ~seen.alarm}
    return pl.DataFrame({"t": seen.days, **{name: bits.mean(axis=1) for name, bits in shares.items()}})


def _bands(seen: Observed, watched: Mapping[str, Array]) -> pl.DataFrame:
    frames = []
    for name, values in watched.items():
        held = np.where(np.isnan(values).all(axis=1, keepdims=True), 0.0, values)
        low, middle, high = np.nanquantile(held, [0.05, 0.5, 0.95], axis=1)
        frame = pl.DataFrame({"t": seen.days, "low": low, "middle": middle, "high": high})
        there = pl.Series(~np.isnan(values).all(axis=1))
        frames.append(frame.filter(there).select(pl.lit(name).alias("signal"), pl.all()))
    kinds = {"signal": pl.String, "t": pl.Float64, "low": pl.Float64, "middle": pl.Float64, "high": pl.Float64}
    return pl.concat([pl.DataFrame(schema=kinds), *frames])
