"""Changes that a user makes to a scenario, the thread that runs them, and their encoding as a query string."""

from __future__ import annotations

import threading
import time
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from malsim import api
from malsim.base.errors import MalsimError, UsageError
from malsim.lab.space.scenario_options import number_or_text
from malsim.lab.space.settings import changed, settings_of
from malsim.lab.workbench.trace_lines import TraceLine, traces_of
from malsim.laws import shipped_laws
from malsim.netlist import parse
from malsim.scenario.judge.judge import judge_run
from malsim.scenario.properties import Property
from malsim.sim.settings.memory_law import askable
from malsim.sim.settings.netlist_config import Input, NetlistConfig
from malsim.sim.settings.scenario import Check
from ops import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from malsim.api import Run
    from malsim.scenario.judge.judge import Outcome
    from malsim.sim.settings.scenario import Scenario

LAW = "law"
RESERVED = ("scenario", "netlist", "check", "input")  # query keys that do not name a setting
LONG = 0.4  # seconds after which a run is abandoned if a newer change is waiting
PROGRESS = 0.2  # seconds after which a run starts to report its progress
INTERVAL = 0.1  # minimum number of seconds between two progress reports


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Scenario together with the user's changes to it.

    `values` maps dotted setting names to new values; the key `law` has the law. `netlist` is the text of a replacement
    netlist. `checks` and `inputs` are added to the scenario's own.
    """

    base: Scenario
    values: Mapping[str, Any] = field(default_factory=dict)
    netlist: str | None = None
    checks: tuple[Check, ...] = ()
    inputs: tuple[Input, ...] = ()

    @cached_property
    def scenario(self) -> Scenario:
        """Scenario with all changes applied. Raises `MalsimError` for an invalid value, netlist or check."""
        scenario = self.law_scenario
        if self.netlist is not None:
            wires = scenario.netlist or NetlistConfig.of("")
            inputs = tuple(input_ for input_ in wires.inputs if self._accepts(input_))
            document = parse(self.netlist, file="netlist")
            scenario = scenario.replace(netlist=replace(wires, document=document, inputs=inputs))
        if self.inputs:
            wires = scenario.netlist or NetlistConfig.of("")
            inputs = tuple(sorted((*wires.inputs, *self.inputs), key=lambda input_: input_.at))
            scenario = scenario.replace(netlist=replace(wires, inputs=inputs))
        values = {name: value for name, value in self.values.items() if name != LAW}
        scenario = changed(scenario, values, where="workbench")
        scenario = scenario.replace(checks=(*scenario.checks, *self.checks))
        return askable(scenario)[0]

    @property
    def law_scenario(self) -> Scenario:
        """Scenario as read from its file, but with the chosen law."""
        law = self.values.get(LAW, self.base.law)
        return self.base if law == self.base.law else self.base.replace(law=law)

    @property
    def unset(self) -> Scenario:
        """Scenario with the chosen law and netlist, and with every other setting as in its file."""
        return replace(self, values={LAW: self.values[LAW]} if LAW in self.values else {}, inputs=(), checks=()).scenario

    @property
    def netlist_text(self) -> str:
        if self.netlist is not None:
            return self.netlist
        return self.base.netlist.text if self.base.netlist else ""

    def with_value(self, name: str, value: Any) -> Tuning:
        """Return a copy of the tuning with one setting changed. Setting the value from the file removes the change."""
        values = {key: old for key, old in self.values.items() if key != name}
        if name == LAW:
            values = {key: old for key, old in values.items() if not key.startswith("law.")}
            if value not in shipped_laws():
                raise UsageError("no such law", where=LAW, given=value, allowed=", ".join(shipped_laws()))
            before: Any = self.base.law
        else:
            settings = settings_of(self.unset)
            if name not in settings:
                raise UsageError("no such setting", where="workbench", given=name)
            before, value = settings[name].value, settings[name].checked(value, where="workbench")
        if value != before:
            values[name] = value
        return replace(self, values=values)

    def with_check(self, name: str, text: str) -> Tuning:
        """Return a copy of the tuning with one more check. Raise `ScenarioError` if the property is invalid."""
        names = [check.name for check in (*self.base.checks, *self.checks)]
        if not name.strip() or name in names:
            raise UsageError(
                "the name of the check is missing or already used", given=name or None, hint="choose another name"
            )
        return replace(self, checks=(*self.checks, Check(name=name.strip(), property=Property(text).text)))

    def _accepts(self, input_: Input) -> bool:
        try:
            NetlistConfig.of(self.netlist or "").check(input_)
        except MalsimError:
            return False
        return True


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """Result of running a tuned scenario: the run, the outcome of each check, and the traces keyed by panel."""

    tuning: Tuning
    run: Run
    outcomes: tuple[Outcome, ...]
    traces: Mapping[str, tuple[TraceLine, ...]]

    def trace(self, name: str) -> TraceLine | None:
        return next((trace for traces in self.traces.values() for trace in traces if trace.name == name), None)


def run_tuning(tuning: Tuning, *, watch: Any = iter) -> Result:
    """Run a tuned scenario and judge its checks. `watch` wraps the sequence of ticks, as in `malsim.sim.bench.run`."""
    run = api.run(tuning.scenario, watch=watch)
    return Result(tuning=tuning, run=run, outcomes=judge_run(run), traces=traces_of(run))


class _AbandonedError(Exception):
    """Exception that abandons a run in favour of a newer change."""


class Runner:
    """Runner that executes one tuning at a time. Of the tunings that arrive during a run, it keeps only the latest.

    `schedule` calls a function on the page's thread. `done` receives the result, `failed` the tuning and an error message,
    and `progress` the share of completed ticks, or -1 at the end. With `at_once` (for notebooks), tunings run on the
    calling thread.
    """

    def __init__(
        self,
        schedule: Callable[[Callable[[], None]], None],
        *,
        done: Callable[[Result], None],
        failed: Callable[[Tuning, str], None],
        progress: Callable[[float], None],
        at_once: bool = False,
    ) -> None:
        self._at_once = at_once
        self._schedule, self._done, self._failed, self._progress = schedule, done, failed, progress
        self._lock = threading.Lock()
        self._next: Tuning | None = None
        self._busy = False

    def ask(self, tuning: Tuning) -> None:
        """Run a tuning as soon as the current run ends, or immediately if the runner is idle."""
        if self._at_once:
            self._run(tuning)
            return
        with self._lock:
            self._next = tuning
            if self._busy:
                return
            self._busy = True
        work = partial(copy_context().run, self._work)  # the copied context carries the caller's limits into the thread
        threading.Thread(target=work, daemon=True, name="malsim workbench").start()

    def _work(self) -> None:
        while True:
            with self._lock:
                tuning, self._next = self._next, None
                if tuning is None:
                    self._busy = False
                    break
            self._run(tuning)

    def _run(self, tuning: Tuning) -> None:
        try:
            result = run_tuning(tuning, watch=self._watch)
        except _AbandonedError:
            return
        except (MalsimError, OpError) as problem:
            self._tell(partial(self._failed, tuning, str(problem)))
        except (Exception, SystemExit) as crash:  # noqa: BLE001  # a crash of the engine must not end the page
            self._tell(partial(self._failed, tuning, f"the run raised {type(crash).__name__}: {crash}"))
        else:
            self._tell(partial(self._done, result))

    def _tell(self, show: Callable[[], None]) -> None:
        def tell() -> None:
            self._progress(-1.0)
            show()

        self._schedule(tell)

    def _watch(self, times: Sequence[int]) -> Iterator[int]:
        """Yield the ticks while reporting progress. Abandon the run if a newer change is waiting."""
        start = reported = time.monotonic()
        for index, time_ms in enumerate(times):
            now = time.monotonic()
            if now - start > LONG and self._next is not None:
                raise _AbandonedError
            if now - start > PROGRESS and now - reported > INTERVAL:
                reported = now
                self._schedule(partial(self._progress, index / len(times)))
            yield time_ms


def query_of(tuning: Tuning, scenario: str, token: str = "") -> str:
    """Encode a tuning as a query string, for example `?scenario=tripwire&rules.challenge_ceiling=0.3`."""
    pairs: list[tuple[str, Any]] = [(name, text) for name, text in (("token", token), ("scenario", scenario)) if text]
    pairs += list(tuning.values.items())
    if tuning.netlist is not None:
        pairs.append(("netlist", tuning.netlist))
    pairs += [("check", f"{check.name}: {check.property}") for check in tuning.checks]
    pairs += [("input", f"{input_.signal}@{input_.at}={input_.value:g}") for input_ in tuning.inputs]
    return f"?{urlencode(pairs)}" if pairs else ""


def tuning_of(base: Tuning, query: Mapping[str, Sequence[str]]) -> Tuning:
    """Apply the changes in a parsed query string to a tuning. Raise `MalsimError` for an invalid name or value."""
    tuning = base
    if "netlist" in query:
        tuning = replace(tuning, netlist=query["netlist"][0])
    for name in sorted(query, key=lambda name: name != LAW):
        if name not in RESERVED:
            tuning = tuning.with_value(name, number_or_text(query[name][0]))
    for text in query.get("check", ()):
        name, _, property_ = text.partition(": ")
        tuning = tuning.with_check(name, property_)
    inputs = tuple(_input(text) for text in query.get("input", ()))
    return replace(tuning, inputs=inputs) if inputs else tuning


def _input(text: str) -> Input:
    signal, _, rest = text.partition("@")
    at, _, value = rest.partition("=")
    try:
        return Input(signal, int(at), float(value))
    except ValueError as error:
        raise UsageError("not a scheduled input", where="input", given=text, allowed="SIGNAL@MILLISECONDS=VALUE") from error
