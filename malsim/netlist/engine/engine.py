"""Scan cycle of a net: read the inputs, call the functions of each due thread in order, then drive the actuators."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import Rules
from malsim.memory.law_steps import update_worth
from malsim.netlist.engine.actuators import EVENTS, Actuators, Happening
from malsim.netlist.engine.expressions import Board, Expressions, formulas
from malsim.netlist.engine.rows import NO_TOPICS, Rows
from malsim.netlist.engine.sources import reader, reduce_or_series
from malsim.netlist.engine.steps import compile_step, extend
from malsim.netlist.language.address import Pin, Reduced
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.programs import Pass, program_cells, programs, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.memory import Memory
    from malsim.netlist.programs import Program, ProgramCell, Ran
    from malsim.netlist.programs.operations import Output
    from malsim.netlist.wiring import Net, Signal
    from ops.pin import Array
    from ops.pin.state import State as OpState

DAY = 8.64e7
DTYPES = {"float": np.float64, "int": np.int64, "bit": np.bool_}


@dataclass(frozen=True)
class State:
    """State that a net carries from one scan to the next: pin values, signals, actuator bits and program outputs.

    `programs` come from prg cells; `search_from` is the first row not yet searched for programs. `aliases` maps each
    handle that no cell has to one row per replication.
    """

    ticks: int = 0
    ops: Mapping[str, OpState] = field(default_factory=dict)
    signals: Mapping[str, Any] = field(default_factory=dict)
    drives: Mapping[str, Array] = field(default_factory=dict)
    program_outputs: Mapping[str, Output] = field(default_factory=dict)
    heights: Mapping[str, int] = field(default_factory=dict)
    topics: pl.DataFrame = field(default_factory=lambda: NO_TOPICS)
    programs: tuple[Program, ...] = ()
    search_from: int = 0
    aliases: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Scan:
    """Result of one scan: new state and memory, events, `outputs` keyed by loop pin, and `derived` values keyed by name."""

    state: State
    memory: Memory
    outputs: Mapping[str, Array]
    happenings: tuple[Happening, ...] = ()
    ran: tuple[Ran, ...] = ()
    derived: Mapping[str, Array] = field(default_factory=dict)

    @property
    def events(self) -> pl.DataFrame:
        return pl.concat([pl.DataFrame(schema=EVENTS), *(happening.frame() for happening in self.happenings)])


class Engine:
    """Linked net compiled for a fixed number of replications and a tick length in milliseconds.

    `first` is the number of the first replication. If `derive` is true, standing programs propose their findings as claims.
    """

    def __init__(
        self, net: Net, *, replications: int = 1, first: int = 0, tick: float = DAY, rules: Rules | None = None,
        derive: bool = False,
    ) -> None:  # fmt: skip
        self.net, self.replications, self.first, self.rules, self.derive = net, replications, first, rules or Rules(), derive
        self.programs = programs(net)
        self.tick = tick
        on = {pin: net.signals[name] for pin, name in net.pins.items()}
        every = {function: thread.every for thread in net.threads for function in thread.functions}
        self.steps = {
            name: compile_step(instance, on, tick=tick * every.get(name, 1)) for name, instance in net.instances.items()
        }
        self.domains = {step.domain for step in self.steps.values()} | {signal.domain for signal in net.signals.values()}
        self.owners = net.derived
        self.expressions = Expressions.of(net)
        self.formulas = formulas(net, self.expressions.order)
        plain = {name: signal for name, signal in net.signals.items() if name not in self.expressions.order}
        self.readers = {name: read for name, signal in plain.items() if (read := reader(signal))}
        writers = {name: str(signal.writer.address) for name, signal in net.signals.items() if signal.writer}
        self.loop_reads = {name: writer for name, writer in writers.items() if writer in LOOP_WRITES}
        self.free = {name for name, signal in net.signals.items() if signal.writer is None and signal.domain == "run"}
        self.followers: dict[str, list[tuple[Signal, Reduced]]] = defaultdict(list)
        for signal in net.signals.values():
            where = signal.writer.address if signal.writer else None
            if isinstance(where, Reduced) and isinstance(where.inner, Pin) and signal.name not in self.expressions.order:
                self.followers[where.inner.instance].append((signal, where))
        self.series = {step.series[0][1] for step in self.steps.values() if step.series}
        self.actuators = Actuators(net, self.rules)
        self._cache: dict[object, Any] = {}  # values computed from the memory, shared by all scans

    def start(self, memory: Memory) -> State:
        return self._resized(State(), Rows(memory, self.replications, first=self.first))

    def scan(
        self, state: State, memory: Memory, inputs: Mapping[str, Any] | None = None, *, now: float | None = None
    ) -> Scan:
        """Run the net once on a memory that has just ticked.

        `inputs` sets loop pins (`{"reviewer.ack": True}`) and unwired signals of the run, each to one value or one per
        replication. `now` is in days and defaults to the number of ticks.
        """
        ticks = state.ticks + 1
        day = ticks * self.tick / DAY if now is None else now
        rows = Rows(
            memory, self.replications, state.topics, first=self.first, now=day, rules=self.rules,
            aliases=state.aliases, cache=self._cache,
        )  # fmt: skip
        state = self._resized(state, rows)
        values: dict[str, Any] = {
            **state.signals,
            **self._loop_inputs({"clock.tick": ticks, "clock.days": day, **(inputs or {})}),
        }
        for name, read in self.readers.items():
            values[name] = read(rows)
        states = dict(state.ops)
        with np.errstate(all="ignore"):  # inf and NaN are valid outputs of ops, so numpy must not warn about them
            for name in self.followers:
                self._update_reduced(name, states[name], values, rows)
            board, stale = Board(rows, values, states), set(self.expressions.order)
            for thread in self.net.threads:
                if ticks % thread.every == 0:
                    self._run_thread(thread.functions, stale, values, states, board)
            self._update_expressions(self.expressions.order, stale, values, board)
        after, drives, happenings = self.actuators.drive(memory, values, state.drives, rows)
        new = program_cells(after, after=state.search_from, tick=ticks, first=self.first)
        standing = (*state.programs, *(program for cell in new for program in cell.programs))
        result = Pass(after, (), state.program_outputs)
        if self.programs or standing:
            result = run(
                sorted((*self.programs, *standing), key=lambda program: program.turn), after, now=day, last=result.last,
                derive=self.derive, rules=self.rules, replications=self.replications, first=self.first,
            )  # fmt: skip
        state = replace(
            state, ticks=ticks, ops=states, signals=values, drives=drives, program_outputs=result.last, programs=standing,
            search_from=after.height,
        )  # fmt: skip
        happenings += tuple(map(_program_event, new))
        derived = {name: values[owner.name] for name, owner in self.owners.items()}
        return Scan(
            state, update_worth(result.memory, memory), self.actuators.outputs(values), happenings, result.ran, derived
        )

    def _run_thread(
        self, names: Iterable[str], stale: set[str], values: dict[str, Any], states: dict[str, OpState], board: Board
    ) -> None:
        for name in names:
            self._update_expressions(self.expressions.before.get(name, ()), stale, values, board)
            step, old = self.steps[name], states[name]
            states[name] = step.call_over(values, board.rows) if step.series else step.call(old, values, board.rows)
            if name in self.followers:
                self._update_reduced(name, states[name], values, board.rows)
            stale.update(self.expressions.after.get(name, ()))

    def _update_expressions(self, names: Iterable[str], stale: set[str], values: dict[str, Any], board: Board) -> None:
        for name in names:
            if name in stale:
                stale.discard(name)
                signal, value = self.net.signals[name], self.formulas[name](board)
                kind, count = DTYPES[signal.type], board.rows.count(signal.domain)
                values[name] = np.asarray(value).astype(kind, copy=False) if np.ndim(value) else np.full(count, value, kind)

    def _update_reduced(self, name: str, state: OpState, values: dict[str, Any], rows: Rows) -> None:
        step = self.steps[name]
        for signal, where in self.followers[name]:
            key, row, _ = step.instance.sheet.slots[where.inner.name]  # type: ignore[union-attr]
            members, groups = rows.groups(step.domain, signal.domain)
            output = state[key] if row is None else state[key][row]
            values[signal.name] = reduce_or_series(where.reducer, output[members], groups, rows.count(signal.domain))

    def _loop_inputs(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        values = {}
        for name in (*self.loop_reads, *(self.free & inputs.keys())):
            kind = DTYPES[self.net.signals[name].type]
            value: Array = np.asarray(inputs.get(self.loop_reads.get(name, name), 0), kind)
            values[name] = value if value.shape == (self.replications,) else np.full(self.replications, value)
        return values

    def _resized(self, state: State, rows: Rows) -> State:
        heights = {domain: rows.count(domain) for domain in self.domains}
        if heights == state.heights:
            return state
        states, values = dict(state.ops), dict(state.signals)
        for name, step in self.steps.items():
            count = heights[step.domain]
            if name not in states:
                states[name] = step.start(count)
            elif more := count - state.heights[step.domain]:
                states[name] = extend(step, states[name], more)
        for name, signal in self.net.signals.items():
            # Signals written by expressions also need a value before the first scan.
            if name not in self.readers and name not in self.loop_reads:
                old: Array = values.get(name, np.empty(0, DTYPES[signal.type]))
                if more := heights[signal.domain] - len(old):
                    values[name] = np.append(old, np.full(more, self._initial_value(signal), DTYPES[signal.type]))
        topics = rows.topics if "topic" in heights else NO_TOPICS
        return replace(state, ops=states, signals=values, heights=heights, topics=topics)

    def _initial_value(self, signal: Signal) -> float | bool:
        if signal.name in self.net.initial:
            return self.net.initial[signal.name]
        links = [signal.writer] if signal.writer else list(signal.readers)
        for link in links:
            pin = link.address if isinstance(link.address, Pin) else None
            instance = self.net.instances.get(pin.instance) if pin else None
            if pin and instance:
                return instance.sheet.slots[pin.name].pin.first
        return 0.0


def _program_event(cell: ProgramCell) -> Happening:
    detail = cell.fault or " ".join(program.operation for program in cell.programs)
    reps, kind = np.array(cell.indices, dtype=np.int64), "refused" if cell.fault else "scheduled"
    return Happening(reps, kind, cell.handle, detail, cell.handle)
