"""One run of a scenario as a tripwire sees it: its signals as arrays, the truth of the episodes beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import UsageError
from malsim.lab.space.settings import scenario_of
from malsim.lab.tripwire.boolean.part import part_of
from malsim.lab.tripwire.boolean.statics import alarms
from malsim.lab.tripwire.runs.noise import Noise
from malsim.scenario.file.episodes import during
from malsim.scenario.properties.frames import trace_of
from malsim.sim import bench
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.netlist.wiring import Net
    from malsim.scenario.properties import Trace
    from malsim.sim.run import Run
    from malsim.sim.settings.netlist_config import NetlistConfig
    from malsim.sim.settings.scenario import Scenario
    from ops.pin import Array

__all__ = ["Observation", "alarm_of", "noise_of", "observe", "wired"]


@dataclass(frozen=True)
class Observation:
    """A run with its trace, the alarm asked about, and the truth.

    Parameters
    ----------
    alarm, truth
        Ticks × replications.
    tests
        Name of each episode that tests the wire to its ticks × replications; they are part of the truth too.
    """

    run: Run
    trace: Trace
    name: str
    alarm: Bools
    truth: Bools
    tests: dict[str, Bools]

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return self.run.scenario

    @property
    def days(self) -> NDArray[np.float64]:
        """Of each tick."""
        return np.asarray(self.trace.times / DAY)

    def signal(self, name: str) -> Array:
        """Ticks × replications of a signal; NaN where it has no value."""
        missing = np.full((len(self.trace.times), len(self.trace.replications)), np.nan)
        known = self.run.signals["signal"].unique().to_list()
        return np.asarray(self.trace.read(name), dtype=np.float64) if name in known else missing

    def bit(self, name: str) -> Bools:
        """Ticks × replications of a bit."""
        return np.asarray(self.signal(name) == 1.0)


def wired(scenario: Scenario) -> NetlistConfig:
    """The netlist of a scenario. Raises `UsageError` where it has none."""
    if scenario.netlist is None:
        raise UsageError("this scenario has no netlist", where=scenario.path, hint="add [netlist] file = …, or name one")
    return scenario.netlist


def alarm_of(net: Net, asked: str | None = None) -> str:
    """The signal that is the alarm: as asked, else a latch's, else a watchdog's, else the Boolean part's one output.

    Raises `UsageError` where there is no such bit, or several that might be meant.
    """
    bits = [name for name, signal in net.signals.items() if signal.type == "bit" and signal.domain == "run"]
    if asked is not None:
        if asked not in bits:
            raise UsageError("no such bit in this netlist", given=asked, allowed=" ".join(bits))
        return asked
    known = alarms(net) or _guards(net) or list(part_of(net).outputs)
    if len(known) != 1:
        problem = "this netlist has several alarms" if known else "this netlist has no alarm"
        raise UsageError(problem, allowed=" ".join(known or bits), hint="say which: --alarm NAME")
    return known[0]


def _guards(net: Net) -> list[str]:
    """The signals by which watchdogs trip."""
    return [
        name
        for name, signal in net.signals.items()
        if signal.writer and signal.writer.pin and signal.writer.pin.name == "tripped"
    ]


def observe(scenario: Scenario, alarm: str | None = None) -> Observation:
    """Run a scenario with its netlist and read what the tripwire did against the episodes.

    Raises
    ------
    UsageError
        Where it has no netlist, or no one alarm.
    """
    name = alarm_of(wired(scenario).net, alarm)
    run = bench.run(scenario.replace(record="all", record_every=1))
    trace = trace_of(run)
    truth = during(scenario.episodes, trace)
    tests = {one.name: during([one], trace) for one in scenario.episodes if one.test}
    seen = Observation(run, trace, name, np.zeros_like(truth), truth, tests)
    return Observation(run, trace, name, seen.bit(name), truth, tests)


def noise_of(scenario: ScenarioOrPath, signal: str, *, alarm: str | None = None) -> tuple[Noise, float]:
    """What a signal of a scenario's netlist does in quiet ticks, and how far its mean moves in the episodes."""
    seen = observe(scenario_of(scenario), alarm)
    values = seen.signal(signal)
    noise = Noise.of(values, ~seen.truth)
    moved = values[seen.truth & ~np.isnan(values)]
    if not len(moved):
        raise UsageError("the signal has no value in an episode", given=signal, hint="add an [[episode]], or give --shift")
    return noise, float(moved.mean()) - noise.mean
