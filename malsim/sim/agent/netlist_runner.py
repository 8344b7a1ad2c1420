"""Runner for a scenario's netlist: it scans the netlist after every tick, applies its changes and logs its events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.gate.verdicts import GateResult
from malsim.memory.graph.replicate import replicated
from malsim.memory.push.ten_cells import ten_cells
from malsim.netlist import load
from malsim.netlist.engine import Engine
from malsim.netlist.engine.rows import Rows
from malsim.netlist.language.statements import Body, Cell, Edges, Prop
from malsim.netlist.shipped import surfaced_of, surfaced_on
from malsim.sim.settings.netlist_config import READER_OPS, NetlistConfig, op_cell
from malsim.sim.world.clock import days

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from malsim.memory import Memory, Rules
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.netlist.engine import Scan
    from malsim.netlist.shipped import SurfacedLines
    from malsim.sim.agent.oversight.written_ops import WrittenOps
    from malsim.sim.agent.reviewer_pool import ReviewerPool
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.recorded_rows import SignalLog
    from malsim.sim.context.turn import TurnCounters
    from malsim.sim.settings.scenario import Scenario

ALARMS = ("tripped", "cleared", "conflict", "refused", "webhook", "escalated")


class NetlistRunner:
    """Runner that scans a scenario's netlist and holds its state between scans."""

    def __init__(self, wires: NetlistConfig, scenario: Scenario, context: RunContext, ops: WrittenOps | None = None) -> None:
        self.ops = ops
        self.wires, self.scenario, self.log, self.reps = wires, scenario, context.log, context.reps
        self.engine = Engine(
            wires.net, replications=scenario.replications, first=scenario.first, tick=scenario.turn_every,
            rules=scenario.rules, derive=wires.derive,
        )  # fmt: skip
        self.outputs: dict[str, Array] = {}
        self.derived: Mapping[str, Array] = {}
        self.surfaced: SurfacedLines | None = None  # signal lines to add to the next push
        self._surfaces = surfaced_of(wires.document, wires.net)
        self._external = sorted(wires.inputs, key=lambda external: external.at)
        self._names = [name for name in wires.net.signals if name not in self.engine.series]

    @classmethod
    def of(cls, scenario: Scenario, context: RunContext, ops: WrittenOps | None = None) -> NetlistRunner | None:
        """Return a runner for the scenario, or None if the scenario has neither a netlist nor program claims.

        `ops` are the ops that the scenario's readers write.
        """
        wires, claims = scenario.netlist, scenario.claims
        if wires is None and (claims["kind"].fill_null(claims["handle"].str.slice(0, 3)) == "prg").any():
            wires = NetlistConfig.of("")
        return cls(wires, scenario, context, ops) if wires else None

    def put(self, memory: Memory) -> Memory:
        scenario, document = self.scenario, self.wires.document
        expected = set(scenario.claims["handle"].drop_nulls()) | set(scenario.claims["key"].drop_nulls())
        if scenario.reader:
            indices = range(int(scenario.reader.ops))
            expected |= set(ten_cells()["handle"]) | {op_cell(index, kind) for index in indices for kind in READER_OPS}
        holds = any(isinstance(statement, (Cell, Edges, Body, Prop)) for statement in document.statements)
        # an empty memory needs to be loaded only once: all replications get a copy
        empty = memory.cells.is_empty()
        for rep in self.reps if (holds or self.wires.net.flags) and not empty else self.reps[:1]:
            memory = load(document, memory, rules=scenario.rules, rep=int(rep), expected=expected).memory
        memory = replicated(memory, self.reps.tolist()) if holds and empty else memory
        self.begin(memory)
        return memory

    def under(self, rules: Rules) -> None:
        """Apply new rules, which determine whether locked cells block actuators and how the gate treats programs."""
        self.engine.rules, self.engine.actuators.enforced = rules, rules.locks == "enforced"

    def begin(self, memory: Memory) -> None:
        self._state, self._labels = self.engine.start(memory), memory

    def scan(
        self, memory: Memory, at: int, counters: TurnCounters | None, reviewers: ReviewerPool | None,
        on_verdicts: Callable[[GateResult], None],
    ) -> Memory:  # fmt: skip
        """Scan the netlist after a tick and return the new memory.

        `on_verdicts` is called with the gate's verdicts on program claims.
        """
        if self.ops:
            self._state = replace(self._state, aliases=self.ops.cells())
        scan = self.engine.scan(self._state, memory, self._inputs(at, counters, reviewers), now=days(at))
        self._state, self._labels, self.outputs = scan.state, memory, dict(scan.outputs)
        self.derived = scan.derived
        if self._surfaces:
            rows = Rows(memory, len(self.reps), scan.state.topics, first=self.scenario.first)
            self.surfaced = surfaced_on(self._surfaces, scan.state.signals, self.wires.net, rows)
        self._log_events(scan, days(at))
        if self.ops:
            self.ops.read(scan.state.signals)
        for happening in scan.happenings:
            if reviewers and happening.kind == "escalated":
                reviewers.summon(happening.reps, at)
        verdicts = [ran.verdicts for ran in scan.ran if ran.verdicts is not None]
        if verdicts:
            on_verdicts(GateResult.between(memory, scan.memory, pl.concat(verdicts)))
        return scan.memory

    def of_runs(self) -> dict[str, Array]:
        signals = self.wires.net.signals
        return {name: self._value(name) for name in self._names if signals[name].domain == "run"}

    def record(self, t: float, log: SignalLog) -> None:
        log.add(t, self.of_runs())
        for name in self._names:
            domain = self.wires.net.signals[name].domain
            if domain != "run":
                log.add_column(t, *self._rows(domain), name, self._value(name))

    def _value(self, name: str) -> Array:
        return np.asarray(self._state.signals[name], dtype=np.float64)

    def _rows(self, domain: str) -> tuple[Ints, NDArray[Any]]:
        if domain == "topic":
            topics = self._state.topics
            return topics["rep"].to_numpy(), topics["topic"].to_numpy()
        table = self._labels.table("cells" if domain == "cell" else "writers")
        return table.column("rep"), table.column("handle" if domain == "cell" else "writer")

    def _inputs(self, at: int, counters: TurnCounters | None, reviewers: ReviewerPool | None) -> dict[str, Any]:
        pins: dict[str, Any] = {}
        if counters:
            turn = counters.turn
            pins |= {"reader.demand": turn["demand"], "reader.pushed": turn["words"], "reader.expanded": turn["expanded"],
                      "reader.blocked": turn["blocks"] > 0}  # fmt: skip
        if reviewers:
            pins |= {"reviewer.ack": reviewers.acknowledged, "reviewer.waiting": reviewers.waiting}
        if self.ops:
            pins |= self.ops.captures()
        return pins | {external.signal: external.value for external in self._external if external.at <= at}

    def _log_events(self, scan: Scan, now: float) -> None:
        for event in scan.happenings:
            self.log.record(event.kind, now, event.reps, subject=event.subject, detail=event.detail, cause=event.cause)
        for ran in scan.ran:
            tripped = ran.output.values.get("tripped")
            if tripped is not None:
                rows = np.flatnonzero(tripped)
                program = ran.program
                cause = program.operation if program.indices is None else program.handle
                self.log.record("tripped", now, rows, subject=program.handle, detail=program.title, cause=cause)
