"""Mutation testing: the scenario is run and judged with each mutant of the netlist; what no check notices survives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import MalsimError
from malsim.lab.tripwire.runs.observation import netlist_of
from malsim.lab.tripwire.study.netlist_mutants import mutants
from malsim.scenario.judge.judge import judge

if TYPE_CHECKING:
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.lab.tripwire.study.netlist_mutants import Mutant
    from malsim.sim.run import Run
    from malsim.sim.settings.netlist_config import NetlistConfig

__all__ = ["mutation_results"]

KINDS = {
    "kind": pl.String, "what": pl.String, "line": pl.Int64, "verdict": pl.String, "by": pl.String, "shows": pl.Boolean,
}  # fmt: skip


def mutation_results(base: Observation) -> pl.DataFrame:
    """Judge every mutant of the scenario's netlist by the scenario's own checks.

    Returns
    -------
    pl.DataFrame
        kind, what, line, verdict, by, shows. `killed` by the first check that passes on the netlist as it is and fails on
        the mutant; `survived` if every check that passed still does; `crashed` where the run broke off or a check could not
        be judged, which kills nothing. `shows` says whether the alarm was any different.
    """
    scenario = base.scenario
    passing = {one.check.name for one in judge(scenario).outcomes if one.status == "pass"}
    config = netlist_of(scenario)
    rows = [_row(one, config, passing, base) for one in mutants(config.document, config.net)]
    return pl.DataFrame(rows, schema=KINDS, orient="row")


def _row(one: Mutant, config: NetlistConfig, passing: set[str], base: Observation) -> tuple[object, ...]:
    head = (one.kind, one.what, one.line)
    try:
        scenario = base.scenario.replace(netlist=replace(config, document=one.document))
    except MalsimError as problem:
        return (*head, "crashed", str(problem), None)
    judgement = judge(scenario)
    failed = [each.check.name for each in judgement.outcomes if each.status == "fail" and each.check.name in passing]
    if failed:
        verdict, by = "killed", failed[0]
    elif judgement.status == "error":
        messages = (each.message for each in judgement.outcomes if each.status == "error")
        verdict, by = "crashed", judgement.error or next(messages)
    else:
        verdict, by = "survived", ""
    return (*head, verdict, by, _shows(judgement.run, base))


def _shows(run: Run | None, base: Observation) -> bool | None:
    """Whether the alarm's signal is any different; None where there was no run."""
    if run is None:
        return None
    mine, other = (
        frame.filter(pl.col("signal") == base.name).select("t", "rep", "value") for frame in (base.run.signals, run.signals)
    )
    return not mine.equals(other)
