"""Everything about a tripwire in a scenario, and several side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError, UsageError
from malsim.lab.space.settings import scenario_of
from malsim.lab.tripwire.boolean.card import card
from malsim.lab.tripwire.boolean.coverage import KINDS as OF_COVERAGE
from malsim.lab.tripwire.boolean.coverage import coverage
from malsim.lab.tripwire.boolean.explore import explore
from malsim.lab.tripwire.boolean.part import part_of
from malsim.lab.tripwire.boolean.statics import Finding, statics
from malsim.lab.tripwire.runs.episode_scores import scores
from malsim.lab.tripwire.runs.observation import Observation, netlist_of, observe
from malsim.lab.tripwire.runs.reference_charts import Charts
from malsim.lab.tripwire.runs.silence import blind, inner_numbers, receipt, sensors, watchdog_limits
from malsim.lab.tripwire.study.card_verdict import verdict_of
from malsim.lab.tripwire.study.fault_matrix import KINDS as OF_FAULTS
from malsim.lab.tripwire.study.fault_matrix import matrix
from malsim.lab.tripwire.study.mutation_results import KINDS as OF_MUTANTS
from malsim.lab.tripwire.study.mutation_results import mutation_results
from malsim.lab.tripwire.study.scorecard import Scorecard
from malsim.netlist import Document, parse, read
from malsim.netlist.lint import lint
from malsim.scenario.checks.checks import Goal
from malsim.scenario.proof.questions.answer import SafetyAnswer
from malsim.scenario.proof.questions.safety import safety
from malsim.scenario.properties import Property
from malsim.sim.settings.netlist_config import NetlistConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.tripwire.boolean.card import Card
    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.boolean.part import Part
    from malsim.netlist.wiring import Net
    from malsim.sim.settings.scenario import Scenario
    from ops.pin import Array


def validate(
    netlist: Document | str | Path | None,
    scenario: ScenarioOrPath,
    *,
    alarm: str | None = None,
    mutate: bool = True,
    faults: bool = True,
) -> Scorecard:
    """Measure and prove everything about a tripwire in a scenario.

    Parameters
    ----------
    netlist
        A netlist, its text, or the path of its file, instead of the scenario's own; None takes that.
    scenario
        One, or the path of its file.
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
    scenario = _with(scenario_of(scenario), _document(netlist))
    config, base = netlist_of(scenario), observe(scenario, alarm)
    net, tick = config.net, float(scenario.turn_every)
    part = part_of(net)
    table, no_card, findings = _states(config.document, part, tick, {item.signal for item in config.inputs})
    name, charts = Path(config.document.name).name, Charts.of(base)
    watched = {item: base.signal(item) for item in sensors(net)}
    inner = {item: base.signal(item) for item in inner_numbers(net)}
    bits = {item: base.bit(item) for item in part.inputs}
    answers = _proofs(_open(net, {item.signal for item in config.inputs}), base.name)
    got = receipt(net, watched, inner, base.alarm, base.tests, days=base.days, tick=tick)
    of_scores = _scores({name: base.alarm, **charts.alarms(base)}, base.truth)
    return Scorecard(
        name=name, alarm=base.name, scenario=scenario, findings=tuple(findings), card=table, no_card=no_card,
        scores=of_scores,
        coverage=pl.concat([coverage(part, bits, tick=tick), _goals(base)]),
        mutants=mutation_results(base) if mutate else pl.DataFrame(schema=OF_MUTANTS),
        faults=matrix(base, charts) if faults else pl.DataFrame(schema=OF_FAULTS),
        proofs=answers, verdict=verdict_of(got, answers, findings, of_scores),
        receipt=got,
        timeline=_timeline(base, watched, inner, watchdog_limits(net, tick=tick)), watched=_bands(base, watched),
    )  # fmt: skip


def _open(net: Net, inputs: set[str]) -> Net:
    """Return the net with the signals that the scenario feeds taken as free inputs, whatever they begin with."""
    return replace(net, initial={name: value for name, value in net.initial.items() if name not in inputs})


def _proofs(net: Net, alarm: str) -> tuple[SafetyAnswer, ...]:
    """Return the ready-made answers, or why there are none: no solver, or an op without an exact translation."""
    try:
        return safety(net, alarm=alarm)
    except MalsimError as problem:
        return (SafetyAnswer("the questions for all inputs", None, None, reason=str(problem)),)


def _goals(base: Observation) -> pl.DataFrame:
    """The scenario's `sometimes` goals as rows of the coverage; one that cannot be judged is not reached."""
    rows = []
    for goal in base.scenario.checks:
        if isinstance(goal, Goal):
            try:
                reached = bool(Property(goal.property).margin(base.trace).holds.any())
            except MalsimError:
                reached = False
            rows.append(("goal", goal.name, reached, goal.property, goal.line))
    return pl.DataFrame(rows, schema=OF_COVERAGE, orient="row")


def compare_tripwires(netlists: Sequence[str | Path], scenario: ScenarioOrPath, *, alarm: str | None = None) -> pl.DataFrame:
    """Score tripwires side by side in one scenario, on common random numbers, with CUSUM and EWMA of what the first watches.

    Parameters
    ----------
    netlists
        The paths of their files.
    scenario
        One, or the path of its file.

    Returns
    -------
    pl.DataFrame
        As `episode_scores.scores`, with a column `tripwire` before it.
    """
    if not netlists:
        raise UsageError("nothing to compare", hint="name two netlists")
    base = scenario_of(scenario)
    runs = {Path(item).name: observe(_with(base, read(item)), alarm) for item in netlists}
    first = next(iter(runs.values()))
    charts = Charts.of(first).alarms(first)
    own = pl.concat([_scores({name: item.alarm}, item.truth) for name, item in runs.items()])
    return pl.concat([own, _scores(charts, first.truth)]) if charts else own


def _document(netlist: Document | str | Path | None) -> Document | None:
    if netlist is None or isinstance(netlist, Document):
        return netlist
    if isinstance(netlist, str) and ("\n" in netlist or " " in netlist.strip()):
        return parse(netlist)
    return read(netlist)


def _states(document: Document, part: Part, tick: float, inputs: set[str]) -> tuple[Card | None, str, list[Finding]]:
    """The card and the findings, or why the Boolean part is too large for them; then what lint says alone."""
    try:
        findings = statics(document, tick=tick, inputs=inputs)
        return card(explore(part, tick=tick)) if part.net.instances else None, "", findings
    except UsageError as problem:
        return None, str(problem), [Finding("wiring", note.words, note) for note in lint(document, inputs=inputs)]


def _with(scenario: Scenario, netlist: Document | None) -> Scenario:
    if netlist is None:
        return scenario
    old = scenario.netlist
    return scenario.replace(netlist=replace(old, document=netlist) if old else NetlistConfig(document=netlist))


def _scores(alarms: Mapping[str, Bools], truth: Bools) -> pl.DataFrame:
    return pl.concat(
        [scores(alarm, truth).select(pl.lit(name).alias("tripwire"), pl.all()) for name, alarm in alarms.items()]
    )


def _timeline(
    base: Observation, watched: Mapping[str, Array], inner: Mapping[str, Array], limits: Mapping[str, int]
) -> pl.DataFrame:
    stale = blind(watched, limits) | {name: np.isnan(values) for name, values in inner.items()}
    any_stale = np.any(list(stale.values()), axis=0) if stale else np.zeros_like(base.alarm)
    shares = {"alarm": base.alarm, "truth": base.truth, "blind": any_stale & ~base.alarm}
    return pl.DataFrame({"t": base.days, **{name: bits.mean(axis=1) for name, bits in shares.items()}})


def _bands(base: Observation, watched: Mapping[str, Array]) -> pl.DataFrame:
    frames = []
    for name, values in watched.items():
        some = ~np.isnan(values).all(axis=1)
        low, middle, high = np.nanquantile(values[some], [0.05, 0.5, 0.95], axis=1)
        frame = pl.DataFrame({"t": base.days[some], "low": low, "middle": middle, "high": high})
        frames.append(frame.select(pl.lit(name).alias("signal"), pl.all()))
    kinds = {"signal": pl.String, "t": pl.Float64, "low": pl.Float64, "middle": pl.Float64, "high": pl.Float64}
    return pl.concat([pl.DataFrame(schema=kinds), *frames])
