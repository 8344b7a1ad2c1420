"""Mutation testing: the scenario is run and judged with each mutant of its netlist."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import MalsimError
from malsim.lab.tripwire.runs.observation import netlist_of
from malsim.lab.tripwire.study.netlist_mutants import mutants
from malsim.scenario.judge.judge import judge
from malsim.scenario.proof.prove import prove
from malsim.scenario.proof.questions.safety import safety
from malsim.scenario.proof.same_outputs import beside, same

if TYPE_CHECKING:
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.lab.tripwire.study.netlist_mutants import Mutant
    from malsim.netlist.wiring import Net
    from malsim.sim.run import Run
    from malsim.sim.settings.netlist_config import NetlistConfig

SECONDS = 20.0
KINDS = {
    "kind": pl.String, "what": pl.String, "line": pl.Int64, "verdict": pl.String, "by": pl.String, "shows": pl.Boolean,
}  # fmt: skip


def mutation_results(base: Observation) -> pl.DataFrame:
    """Judge every mutant of the scenario's netlist by the scenario's own checks.

    Returns
    -------
    pl.DataFrame
        kind, what, line, verdict, by, shows. Verdict `caught`: by the first check that passes on the netlist and fails on
        the mutant, or by a ready-made proof that is sound for the netlist and not for the mutant. `equal`: the outputs of
        both are proved the same for all inputs. `crashed`: the run broke off, or a check could not be judged. Otherwise
        `not caught`. `shows` is true if the alarm differed in the run.
    """
    scenario = base.scenario
    passing = {item.check.name for item in judge(scenario).outcomes if item.status == "pass"}
    config = netlist_of(scenario)
    rows = [_row(item, config, passing, base) for item in mutants(config.document, config.net)]
    sound = _sound(config.net) if any(row[3] == "not caught" for row in rows) else frozenset()
    if sound:
        rows = [
            _settled(row, item, config, sound) for row, item in zip(rows, mutants(config.document, config.net), strict=True)
        ]
    return pl.DataFrame(rows, schema=KINDS, orient="row")


def _row(one: Mutant, config: NetlistConfig, passing: set[str], base: Observation) -> tuple[object, ...]:
    head = (one.kind, one.what, one.line)
    try:
        scenario = base.scenario.replace(netlist=replace(config, document=one.document))
    except MalsimError as problem:
        return (*head, "crashed", str(problem), None)
    judgement = judge(scenario)
    failed = [item.check.name for item in judgement.outcomes if item.status == "fail" and item.check.name in passing]
    if failed:
        verdict, by = "caught", failed[0]
    elif judgement.status == "error":
        messages = (item.message for item in judgement.outcomes if item.status == "error")
        verdict, by = "crashed", judgement.error or next(messages)
    else:
        verdict, by = "not caught", ""
    return (*head, verdict, by, _shows(judgement.run, base))


def _sound(net: Net) -> frozenset[str]:
    """The ready-made questions with a sound answer; none where they cannot be asked, as without a solver."""
    try:
        return frozenset(item.question for item in safety(net) if item.status == "sound")
    except MalsimError:
        return frozenset()


def _settled(row: tuple[object, ...], one: Mutant, config: NetlistConfig, sound: frozenset[str]) -> tuple[object, ...]:
    kind, what, line, verdict, by, shows = row
    if verdict == "not caught":
        net = replace(config, document=one.document).net
        try:
            proof = prove(beside(config.net, net), same(config.net, net), timeout=SECONDS)
            flaws = sorted(sound - _sound(net))
        except MalsimError:
            return row
        if proof.result == "proved":
            verdict, by = "equal", f"proof: {proof.verdict}"
        elif flaws:
            verdict, by = "caught", f"proof: {flaws[0]}"
    return kind, what, line, verdict, by, shows


def _shows(run: Run | None, base: Observation) -> bool | None:
    """Return whether the alarm's signal differs; None without a run."""
    if run is None:
        return None
    mine, other = (
        frame.filter(pl.col("signal") == base.name).select("t", "rep", "value") for frame in (base.run.signals, run.signals)
    )
    return not mine.equals(other)
