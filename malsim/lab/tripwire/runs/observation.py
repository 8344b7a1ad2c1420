"""Observation of one run for a tripwire: its signals as arrays, and the truth of the episodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import UsageError
from malsim.lab.space.settings import scenario_of
from malsim.lab.tripwire.boolean.part import part_of
from malsim.lab.tripwire.boolean.statics import alarms
from malsim.lab.tripwire.runs.noise import Noise
from malsim.scenario.file.actors import during
from malsim.scenario.proof.questions.cones import line_of, op_of
from malsim.scenario.proof.questions.sinks import acts
from malsim.scenario.properties.frames import trace_of
from malsim.sim import bench
from malsim.sim.world.clock import DAY

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
        """Scenario of the run."""
        return self.run.scenario

    @property
    def days(self) -> NDArray[np.float64]:
        """Day of each tick."""
        return np.asarray(self.trace.times / DAY)

    def signal(self, name: str) -> Array:
        """Ticks × replications of a signal; NaN where it has no value."""
        if name not in self.run.signals["signal"]:
            return np.full((len(self.trace.times), len(self.trace.replications)), np.nan)
        return np.asarray(self.trace.read(name), dtype=np.float64)

    def bit(self, name: str) -> Bools:
        """Ticks × replications of a bit."""
        return np.asarray(self.signal(name) == 1.0)


def netlist_of(scenario: Scenario) -> NetlistConfig:
    """Return the netlist of a scenario; raise `UsageError` if it has none."""
    if scenario.netlist is None:
        raise UsageError("this scenario has no netlist", where=scenario.path, hint="add [netlist] file = …, or name one")
    return scenario.netlist


def alarm_of(net: Net, name: str | None = None) -> str:
    """Return the signal that is the alarm: the one named, else the only one of the first kind that there is.

    The kinds are what a latch writes, what a watchdog writes, bits that set a flag or act on the loop, and outputs of the
    Boolean part. Raises `UsageError` for a name that is no bit, for no alarm, and for several, with their lines.
    """
    bits = [key for key, signal in net.signals.items() if signal.type == "bit" and signal.domain == "run"]
    if name is not None:
        if name not in bits:
            raise UsageError("the alarm is not a bit of this netlist", given=name, allowed=_with_lines(net, bits))
        return name
    acting = [key for key in bits if op_of(net, net.signals[key])[0] and acts(net, key)]
    candidates = alarms(net) or _guards(net) or acting or list(part_of(net).outputs)
    if not candidates:
        hint = "load one, such as loadrt latch names=alarm, or name a bit: --alarm NAME"
        raise UsageError(
            "no latch, watchdog or flag makes an alarm in this netlist", allowed=_with_lines(net, bits), hint=hint
        )
    if len(candidates) > 1:
        problem, hint = "this netlist has several alarms", f"choose one: --alarm {candidates[-1]}"
        raise UsageError(problem, given=_with_lines(net, candidates), hint=hint)
    return candidates[0]


def _with_lines(net: Net, names: list[str]) -> str:
    return ", ".join(f"{name} (line {line_of(net, name)})" for name in names) or "no bit"


def _guards(net: Net) -> list[str]:
    return [name for name, signal in net.signals.items() if op_of(net, signal)[1] == "tripped"]


def observe(scenario: Scenario, alarm: str | None = None) -> Observation:
    """Run a scenario with its netlist and read what the tripwire did against the episodes.

    Raises
    ------
    UsageError
        Where it has no netlist, or no one alarm.
    """
    name = alarm_of(netlist_of(scenario).net, alarm)
    run = bench.run(scenario.replace(record="all", record_every=1))
    trace = trace_of(run)
    truth = during(scenario.episodes, trace)
    tests = {item.name: during([item], trace) for item in scenario.episodes if item.test}
    silent = Observation(run, trace, name, np.zeros_like(truth), truth, tests)
    return replace(silent, alarm=silent.bit(name))


def noise_of(scenario: ScenarioOrPath, signal: str, *, alarm: str | None = None) -> tuple[Noise, float]:
    """Return the noise of a signal in quiet ticks, and the shift of its mean in the episodes."""
    observation = observe(scenario_of(scenario), alarm)
    values = observation.signal(signal)
    noise = Noise.of(values, ~observation.truth)
    in_episodes = values[observation.truth & ~np.isnan(values)]
    if not len(in_episodes):
        raise UsageError("the signal has no value in an episode", given=signal, hint="add an [[episode]], or give --shift")
    return noise, float(in_episodes.mean()) - noise.mean
