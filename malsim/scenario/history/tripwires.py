"""Netlist on a recorded history: it scans each instant and drives nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import ScenarioError
from malsim.scenario.history.history_frames import as_columns
from malsim.sim.agent.netlist_runner import NetlistRunner
from malsim.sim.context.event_log import EventLog
from malsim.sim.context.run_context import RunContext
from malsim.sim.context.signal_log import SignalLog
from malsim.sim.record.recorder import SIGNALS
from malsim.sim.world import World
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.scenario.history.history_frames import History


def with_signals(history: History) -> History:
    """Return the history with the signals and events of its netlist, which scans the memory after each tick.

    Cells and edges of the netlist's text are left out: what there is, the store says. Flags that it would set are noted as
    events and set nowhere; its programs propose nothing. A tick of the net is the usual distance of two scans.

    Raises
    ------
    ScenarioError
        Where a netlist reads cells and the history has no graph of claims.
    """
    scenario = history.scenario
    netlist = scenario.netlist
    if netlist is None:
        return history
    if not history.snapshots:
        hint = "name a store of malsim's, or ask properties instead"
        raise ScenarioError("a netlist needs a store to scan", where=scenario.path, hint=hint)
    times = np.rint(np.array([t for t, _ in history.snapshots]) * DAY).astype(np.int64)
    period = int(np.median(np.diff(times))) if len(times) > 1 else DAY
    scenario = scenario.replace(
        turn_every=period, days=max(1.0, times[-1] / DAY, period / DAY), netlist=replace(netlist, derive=False)
    )
    reps = scenario.first + np.arange(scenario.replications)
    world = World((), seed=0, reps=reps, end=int(times[-1]) + 1)
    log = EventLog(reps, ())
    runner = NetlistRunner(netlist, scenario, RunContext(world=world, reps=reps, seed=0, log=log))
    runner.begin(history.snapshots[0][1])
    signals = SignalLog(reps)
    for at, (t, memory) in zip(times.tolist(), history.snapshots, strict=True):
        runner.scan(memory, at, None, None, lambda _: None)
        runner.record(t, signals)
    events = pl.concat([history.events, log.frame()]).sort("t", maintain_order=True)
    return replace(
        history,
        scenario=scenario,
        events=events,
        signals=pl.concat([history.signals, as_columns(signals.frame(), SIGNALS)]),
    )
