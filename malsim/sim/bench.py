"""The bench: SimPy holds the calendar, the real gate and tick do the work, the recorder keeps what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import simpy

from malsim.memory import Memory, admit, tick
from malsim.sim.clock import DAY, days, milliseconds
from malsim.sim.inbox import Inbox
from malsim.sim.recorder import SIGNALS, Recorder
from malsim.sim.run import Run

if TYPE_CHECKING:
    from collections.abc import Generator

    from malsim.sim.script import Scenario

__all__ = ["run"]


def run(scenario: Scenario) -> Run:
    """Run a scenario from its start to its last tick.

    The clock counts whole milliseconds. Claims wait in the inbox; each turn the scan drains what is stamped before its
    own instant, takes it through the gate, ticks, and records.
    """
    bench = _Bench(scenario)
    bench.calendar.run()
    recorder = bench.recorder
    return Run(
        scenario=scenario,
        cells=recorder.cells(),
        signals=pl.DataFrame(schema=SIGNALS),
        events=recorder.events(),
        writers=recorder.writers(),
        memory=bench.memory,
        unseen=len(bench.inbox),
    )


class _Bench:
    """The one thing that changes while a run is made."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.calendar = simpy.Environment(initial_time=0)
        self.inbox = Inbox()
        self.recorder = Recorder(scenario)
        self.memory = Memory.empty()
        if scenario.claims.height:
            self.calendar.process(self._script())
        self.calendar.process(self._thread())

    def _script(self) -> Generator[simpy.Event, None, None]:
        """Post the scripted claims, each at its time, in every replication."""
        claims = _replicated(self.scenario.claims, self.scenario.first, self.scenario.replications)
        for batch in claims.sort("t", maintain_order=True).partition_by("t", maintain_order=True):
            due = milliseconds(batch["t"][0])
            yield self.calendar.timeout(max(0, due - self.calendar.now))
            self.inbox.post(batch)

    def _thread(self) -> Generator[simpy.Event, None, None]:
        """Tick at the end of every turn, and nowhere else."""
        period = self.scenario.turn_every
        turns = int(self.scenario.days * DAY) // period
        for turn in range(1, turns + 1):
            yield self.calendar.timeout(period)
            self._scan(days(turn * period), last=turn == turns)

    def _scan(self, now: float, *, last: bool) -> None:
        """Read the inputs, recompute, record."""
        rules = self.scenario.rules
        before = self.memory
        self.memory, verdicts = admit(before, self.inbox.drain(now), rules)
        self.recorder.admitted(verdicts, before, self.memory)
        self.memory = tick(self.memory, now, rules)
        self.recorder.tick(self.memory, now, last=last)


def _replicated(claims: pl.DataFrame, first: int, replications: int) -> pl.DataFrame:
    reps = pl.DataFrame({"rep": pl.arange(first, first + replications, dtype=pl.Int32, eager=True)})
    return claims.drop("rep").join(reps, how="cross").select(claims.columns)
