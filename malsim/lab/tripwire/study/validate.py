"""Validation of a tripwire in a scenario, and comparison of several tripwires."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError, UsageError
from malsim.lab.space.settings import scenario_of
from malsim.lab.tripwire.boolean.card import KINDS as COVERAGE_COLUMNS
from malsim.lab.tripwire.boolean.card import card, coverage
from malsim.lab.tripwire.boolean.explore import explore
from malsim.lab.tripwire.boolean.part import part_of
from malsim.lab.tripwire.boolean.statics import Finding, statics
from malsim.lab.tripwire.runs.episode_scores import scores
from malsim.lab.tripwire.runs.observation import Observation, netlist_of, observe, standalone
from malsim.lab.tripwire.runs.reference_charts import Charts
from malsim.lab.tripwire.runs.silence import blind, receipt, sensors, watchdog_limits
from malsim.lab.tripwire.study.fault_matrix import KINDS as FAULT_COLUMNS
from malsim.lab.tripwire.study.fault_matrix import matrix
from malsim.lab.tripwire.study.mutation_results import KINDS as MUTANT_COLUMNS
from malsim.lab.tripwire.study.mutation_results import mutation_results
from malsim.lab.tripwire.study.scorecard import Scorecard, verdict_of
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
    from malsim.lab.tripwire.boolean.part import Bools, Part
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
    """Score a tripwire in a scenario and prove, where possible, that it is safe for all inputs.

    Parameters
    ----------
    netlist
        A netlist, its text, or the path of its file; None for the netlist of the scenario.
    scenario
        A scenario, or the path of its file.
    alarm
        Name of the alarm signal, needed if there are several candidates (see `observation.alarm_of`).
    mutate, faults
        Whether to also run the scenario once per mutant, and once per fault.

    Raises
    ------
    UsageError
        If there is no netlist, or not exactly one alarm.
    NetlistError
        If the netlist does not link.
    """
    scenario = _with_netlist(scenario_of(scenario), _document(netlist))
    config, base = netlist_of(scenario), observe(scenario, alarm)
    net, tick, inputs = config.net, float(scenario.turn_every), {line.signal for line in config.inputs}
    part = part_of(net)
    table, no_card, findings = _states(config.document, part, tick, inputs)
    name, charts = Path(config.document.name).name, Charts.of(base)
    watched, bits = {signal: base.signal(signal) for signal in sensors(net)}, {bit: base.bit(bit) for bit in part.inputs}
    signals = standalone(net).signals.items()
    inner = {name: base.signal(name) for name, signal in signals if signal.writer is not None and signal.type == "float"}
    stale = blind(watched, watchdog_limits(net, tick=tick))
    stale |= {signal: np.isnan(values) for signal, values in inner.items()}
    # Signals that the scenario drives are free inputs in the proofs, so their initial values are dropped.
    free = replace(net, initial={signal: first for signal, first in net.initial.items() if signal not in inputs})
    answers = _answers(free, base.name)
    undefined = {signal: values for signal, values in inner.items() if stale[signal].any()}
    evidence = receipt(watched | undefined, stale, base.alarm, base.tests, days=base.days)
    any_stale = np.any(list(stale.values()), axis=0) if stale else np.zeros_like(base.alarm)
    masks = {"alarm": base.alarm, "truth": base.truth, "blind": any_stale & ~base.alarm}
    alarm_scores = _scores({name: base.alarm, **charts.alarms(base)}, base.truth)
    return Scorecard(
        name=name, alarm=base.name, scenario=scenario, findings=tuple(findings), card=table, no_card=no_card,
        scores=alarm_scores, coverage=pl.concat([coverage(part, bits, tick=tick), _goals(base)]),
        mutants=mutation_results(base) if mutate else pl.DataFrame(schema=MUTANT_COLUMNS),
        faults=matrix(base, charts) if faults else pl.DataFrame(schema=FAULT_COLUMNS),
        proofs=answers, verdict=verdict_of(evidence, answers, findings, alarm_scores),
        receipt=evidence, watched=_bands(base, watched),
        timeline=pl.DataFrame({"t": base.days} | {key: mask.mean(axis=1) for key, mask in masks.items()}),
    )  # fmt: skip


def _answers(net: Net, alarm: str) -> tuple[SafetyAnswer, ...]:
    """Return the safety answers, or one answer that explains why there are none (for example, no solver)."""
    try:
        return safety(net, alarm=alarm)
    except MalsimError as problem:
        return (SafetyAnswer("the questions for all inputs", None, None, reason=str(problem)),)


def _goals(base: Observation) -> pl.DataFrame:
    """Return the scenario's `sometimes` goals as coverage rows. A goal that cannot be judged counts as not reached."""
    rows = []
    for goal in base.scenario.checks:
        if isinstance(goal, Goal):
            try:
                reached = bool(Property(goal.property).margin(base.trace).holds.any())
            except MalsimError:
                reached = False
            rows.append(("goal", goal.name, reached, goal.property, goal.line))
    return pl.DataFrame(rows, schema=COVERAGE_COLUMNS, orient="row")


def compare_tripwires(netlists: Sequence[str | Path], scenario: ScenarioOrPath, *, alarm: str | None = None) -> pl.DataFrame:
    """Score several tripwires in one scenario on common random numbers, together with CUSUM and EWMA reference charts.

    The charts watch the first signal that the first tripwire watches.

    Parameters
    ----------
    netlists
        Paths of the netlist files.
    scenario
        A scenario, or the path of its file.

    Returns
    -------
    pl.DataFrame
        As `episode_scores.scores`, with `tripwire` as the first column.
    """
    if not netlists:
        raise UsageError("no netlist to compare", hint="name at least one netlist")
    base = scenario_of(scenario)
    runs = {Path(path).name: observe(_with_netlist(base, read(path)), alarm) for path in netlists}
    first = next(iter(runs.values()))
    frames = [_scores({name: run.alarm}, run.truth) for name, run in runs.items()]
    if charts := Charts.of(first).alarms(first):
        frames.append(_scores(charts, first.truth))
    return pl.concat(frames)


def _document(netlist: Document | str | Path | None) -> Document | None:
    if netlist is None or isinstance(netlist, Document):
        return netlist
    if isinstance(netlist, str) and ("\n" in netlist or " " in netlist.strip()):
        return parse(netlist)
    return read(netlist)


def _states(document: Document, part: Part, tick: float, inputs: set[str]) -> tuple[Card | None, str, list[Finding]]:
    """Return the truth table (None if there is none), an error message if it would be too large, and the findings.

    If the Boolean part is too large to explore, the findings are those of lint only.
    """
    try:
        findings = statics(document, tick=tick, inputs=inputs)
        return card(explore(part, tick=tick)) if part.net.instances else None, "", findings
    except UsageError as problem:
        return None, str(problem), [Finding("wiring", note.words, note) for note in lint(document, inputs=inputs)]


def _with_netlist(scenario: Scenario, netlist: Document | None) -> Scenario:
    if netlist is None:
        return scenario
    old = scenario.netlist
    return scenario.replace(netlist=replace(old, document=netlist) if old else NetlistConfig(document=netlist))


def _scores(alarms: Mapping[str, Bools], truth: Bools) -> pl.DataFrame:
    return pl.concat(
        [scores(alarm, truth).select(pl.lit(name).alias("tripwire"), pl.all()) for name, alarm in alarms.items()]
    )


def _bands(base: Observation, watched: Mapping[str, Array]) -> pl.DataFrame:
    frames = []
    for name, values in watched.items():
        valid = ~np.isnan(values).all(axis=1)
        low, middle, high = np.nanquantile(values[valid], [0.05, 0.5, 0.95], axis=1)
        frame = pl.DataFrame({"t": base.days[valid], "low": low, "middle": middle, "high": high})
        frames.append(frame.select(pl.lit(name).alias("signal"), pl.all()))
    kinds = {"signal": pl.String, "t": pl.Float64, "low": pl.Float64, "middle": pl.Float64, "high": pl.Float64}
    return pl.concat([pl.DataFrame(schema=kinds), *frames])
