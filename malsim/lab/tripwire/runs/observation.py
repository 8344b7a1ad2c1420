"""Recorded run of a tripwire, noise model of its signals, and replay of its netlist on recorded inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import DataError, UsageError
from malsim.lab.space.settings import scenario_of
from malsim.lab.tripwire.boolean.part import part_of
from malsim.lab.tripwire.boolean.statics import alarms
from malsim.memory import Memory
from malsim.netlist.engine import Engine
from malsim.netlist.engine.engine import DAY
from malsim.netlist.language.address import Pin
from malsim.netlist.wiring.net import Net
from malsim.scenario.file.actors import during
from malsim.scenario.proof.questions.answer import line_of, op_of
from malsim.scenario.proof.questions.sinks import acts
from malsim.scenario.properties.frames import trace_of
from malsim.sim import bench
from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.tripwire.boolean.part import Bools
    from malsim.scenario.properties import Trace
    from malsim.sim.run import Run
    from malsim.sim.settings.netlist_config import NetlistConfig
    from malsim.sim.settings.scenario import Scenario
    from ops.pin import Array


def standalone(net: Net) -> Net:
    """Return the ops of the domain `run` as a separate net, in which every signal from outside is a free input."""
    inside = {name: item for name, item in net.instances.items() if item.domain == "run"}
    signals = {}
    for name, signal in net.signals.items():
        pins = tuple(link for link in signal.links if isinstance(link.address, Pin) and link.address.instance in inside)
        if signal.domain == "run" and pins:
            signals[name] = replace(signal, links=pins)
    threads = tuple(
        replace(item, functions=tuple(name for name in item.functions if name in inside)) for item in net.threads
    )
    return Net(instances=inside, signals=signals, threads=threads, initial=net.initial)


def replay(net: Net, stream: Mapping[str, Array], names: Iterable[str], *, tick: float = DAY) -> dict[str, Array]:
    """Run a net on input arrays (ticks × replications) and return the signals in `names` as arrays of the same shape."""
    shapes = {np.shape(values) for values in stream.values()}
    shape = next(iter(shapes), ())
    if len(shapes) != 1 or len(shape) != 2:  # noqa: PLR2004
        raise DataError("input arrays must have the same shape, ticks × replications", given=sorted(map(str, shapes)))
    engine, names = Engine(net, replications=shape[1], tick=tick), list(names)
    if unknown := [name for name in (*stream, *names) if name not in net.signals]:
        raise DataError("no such signal in this netlist", given=unknown[0], allowed=" ".join(net.signals))
    memory = Memory.empty()
    state = engine.start(memory)
    outputs = {name: np.empty(shape, state.signals[name].dtype) for name in names}
    for row in range(shape[0]):
        state = engine.scan(state, memory, {name: values[row] for name, values in stream.items()}).state
        for name, values in outputs.items():
            values[row] = state.signals[name]
    return outputs


Floats = NDArray[np.float64]
LEAST = 20  # minimum number of quiet ticks for an estimate of the noise


@dataclass(frozen=True)
class Noise:
    """Stationary AR(1) noise: x(t) − mean = correlation · (x(t−1) − mean) + sigma · sqrt(1 − correlation²) · N(0, 1).

    Mean and sigma (above 0) are in the unit of the watched value; the correlation of successive ticks is in [0, 1).
    """

    mean: float = 0.0
    sigma: float = 1.0
    correlation: float = 0.0

    def __post_init__(self) -> None:
        for name, good, allowed in (
            ("mean", np.isfinite(self.mean), "a number"),
            ("sigma", 0 < self.sigma < np.inf, "above 0"),
            ("correlation", 0 <= self.correlation < 1, "0 to below 1"),
        ):
            if not good:
                raise UsageError("out of bounds", where=f"noise.{name}", given=getattr(self, name), allowed=allowed)

    def sample(self, seed: int, name: str, ticks: int, reps: int) -> Floats:
        """Draw a random series from the noise model for each replication, as an array (ticks × replications)."""
        from scipy.signal import lfilter

        draws = Draws(seed, f"tripwire design {name}")
        fresh = draws.normal("noise", rep=np.arange(reps)[None, :], turn=np.arange(ticks)[:, None])
        fresh[1:] *= np.sqrt(1 - self.correlation**2)
        series: Floats = np.asarray(lfilter([1.0], [1.0, -self.correlation], fresh, axis=0))
        return self.mean + self.sigma * series

    @classmethod
    def of(cls, values: Floats, quiet: Bools) -> Noise:
        """Estimate the noise of a signal (ticks × replications) from its quiet ticks, ignoring NaN.

        Raises `UsageError` if there are fewer than 20 quiet ticks, or if the value never changes.
        """
        valid = quiet & ~np.isnan(values)
        if valid.sum() < LEAST:
            given, allowed = int(valid.sum()), f"{LEAST} or more"
            raise UsageError("too few quiet ticks to estimate the noise", given=given, allowed=allowed)
        mean, sigma = float(values[valid].mean()), float(values[valid].std(ddof=1))
        if sigma == 0:
            hint = "run more replications, add a population of writers, or give --noise"
            raise UsageError("the signal never changes in quiet ticks, so it has no noise", given=mean, hint=hint)
        both = valid[1:] & valid[:-1]
        before, after = values[:-1][both] - mean, values[1:][both] - mean
        correlation = float((before * after).sum() / (before**2).sum()) if both.any() else 0.0
        return cls(mean, sigma, float(np.clip(correlation, 0.0, 0.99)))


@dataclass(frozen=True)
class Observation:
    """Recorded run of a tripwire, with its trace, its alarm (the signal `name`), and the episodes that should trip it.

    `alarm` and `truth` (ticks × replications) are true while the alarm is on, and during an episode, respectively. `tests`
    has the episodes that test the tripwire, keyed by name; `truth` includes them.
    """

    run: Run
    trace: Trace
    name: str
    alarm: Bools
    truth: Bools
    tests: dict[str, Bools]

    @property
    def scenario(self) -> Scenario:
        """Scenario that was run."""
        return self.run.scenario

    @property
    def days(self) -> NDArray[np.float64]:
        """Time of each tick in days."""
        return np.asarray(self.trace.times / DAY)

    def signal(self, name: str) -> Array:
        """Return the values of a signal (ticks × replications), with NaN where the signal has no value."""
        if name not in self.run.signals["signal"]:
            return np.full((len(self.trace.times), len(self.trace.replications)), np.nan)
        return np.asarray(self.trace.read(name), dtype=np.float64)

    def bit(self, name: str) -> Bools:
        """Return the values of a bit as a Boolean array (ticks × replications)."""
        return np.asarray(self.signal(name) == 1.0)


def netlist_of(scenario: Scenario) -> NetlistConfig:
    """Return the netlist of a scenario, or raise `UsageError` if there is none."""
    if scenario.netlist is None:
        hint = "add [netlist] file = …, or name a netlist file"
        raise UsageError("this scenario has no netlist", where=scenario.path, hint=hint)
    return scenario.netlist


def alarm_of(net: Net, name: str | None = None) -> str:
    """Return the name of the alarm signal: `name` if given, otherwise the only signal that can serve as the alarm.

    Candidates are, in order of preference, signals written by a latch, signals written by a watchdog, bits that set a flag
    or act on the loop, and outputs of the Boolean part. Only the most preferred kind present counts. Raises `UsageError` if
    `name` is not a bit, or unless there is exactly one alarm.
    """
    bits = [key for key, signal in net.signals.items() if signal.type == "bit" and signal.domain == "run"]
    if name is not None:
        if name not in bits:
            raise UsageError("the alarm is not a bit of this netlist", given=name, allowed=_with_lines(net, bits))
        return name
    acting = [key for key in bits if op_of(net, net.signals[key])[0] and acts(net, key)]
    guards = [key for key, signal in net.signals.items() if op_of(net, signal)[1] == "tripped"]
    candidates = alarms(net) or guards or acting or list(part_of(net).outputs)
    if not candidates:
        hint = "load one, such as loadrt latch names=alarm, or name a bit: --alarm NAME"
        problem = "no latch, watchdog or flag raises an alarm in this netlist"
        raise UsageError(problem, allowed=_with_lines(net, bits), hint=hint)
    if len(candidates) > 1:
        problem, hint = "this netlist has several alarms", f"choose one: --alarm {candidates[-1]}"
        raise UsageError(problem, given=_with_lines(net, candidates), hint=hint)
    return candidates[0]


def _with_lines(net: Net, names: list[str]) -> str:
    return ", ".join(f"{name} (line {line_of(net, name)})" for name in names) or "no bit"


def observe(scenario: Scenario, alarm: str | None = None) -> Observation:
    """Run a scenario and return its alarm and episodes. Raise `UsageError` if it has no netlist or no unique alarm."""
    name = alarm_of(netlist_of(scenario).net, alarm)
    run = bench.run(scenario.replace(record="all", record_every=1))
    trace = trace_of(run)
    truth = during(scenario.episodes, trace)
    tests = {item.name: during([item], trace) for item in scenario.episodes if item.test}
    observation = Observation(run, trace, name, np.zeros_like(truth), truth, tests)
    return replace(observation, alarm=observation.bit(name))


def noise_of(scenario: ScenarioOrPath, signal: str, *, alarm: str | None = None) -> tuple[Noise, float]:
    """Estimate the noise of a signal in quiet ticks, and the shift of its mean during episodes."""
    observation = observe(scenario_of(scenario), alarm)
    values = observation.signal(signal)
    noise = Noise.of(values, ~observation.truth)
    in_episodes = values[observation.truth & ~np.isnan(values)]
    if not len(in_episodes):
        raise UsageError("the signal has no value in any episode", given=signal, hint="add an [[episode]] or give --shift")
    return noise, float(in_episodes.mean()) - noise.mean
