"""Immutable shell session: a memory, its wiring, and the state of both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError, nearest
from malsim.memory import Memory, Rules, tick
from malsim.netlist import Document, load
from malsim.netlist.engine import Engine
from malsim.netlist.engine.engine import DAY, DTYPES, State
from malsim.netlist.hal.removal import without_functions, without_instances, without_pins
from malsim.netlist.language.address import Pin
from malsim.netlist.language.facts import instances as names_of
from malsim.netlist.language.statements import Blank, Load, Schedule, Set, Source, Thread, Wire
from malsim.netlist.language.values import exact
from malsim.netlist.wiring import Net
from ops.pin import In

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Signal

WIRING = (Blank, Load, Schedule, Set, Source, Thread, Wire)
LONGEST_PAST = 4096
_COLUMNS = (
    "stated", "calibration", "support_mass", "challenge_mass", "effective", "currency", "salience", "status", "annexed",
    "locked", "pinned", "requires_review",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Moment:
    """Cells and run-wide signals recorded after one tick."""

    day: float
    cells: pl.DataFrame
    signals: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Session:
    """Immutable session on a claim graph, with its wiring and running state.

    `statements` is the wiring, `day` the time in days, `tick` the milliseconds between two scans, `loop_pins` the values of
    pins that the loop provides (`reviewer.ack`), `past` the most recent ticks, and `pin_names` the LinuxCNC names or
    aliases of pins. The session's file changes only when the session is saved.
    """

    engine: Engine
    state: State
    memory: Memory
    statements: tuple[Statement, ...] = ()
    rules: Rules = field(default_factory=Rules)
    day: float = 0.0
    tick: float = DAY
    loop_pins: Mapping[str, Any] = field(default_factory=dict)
    past: tuple[Moment, ...] = ()
    pin_names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def over(
        cls,
        memory: Memory | None = None,
        document: Document | None = None,
        *,
        rules: Rules | None = None,
        day: float = 0.0,
        tick: float = DAY,
    ) -> Session:
        """Return a new session on a memory, optionally with the graph and wiring of a netlist."""
        memory, rules = memory or Memory.empty(), rules or Rules()
        engine = Engine(Net(), tick=tick, rules=rules)
        session = cls(engine=engine, state=engine.start(memory), memory=memory, rules=rules, day=day, tick=tick)
        return session.with_statements(document.statements) if document is not None else session

    @property
    def net(self) -> Net:
        return self.engine.net

    def with_statements(self, statements: Iterable[Statement]) -> Session:
        """Return the session with additional statements. Raises `NetlistError` if a statement has a fault.

        A pin that is connected to a signal loses its setting, as in HAL.
        """
        new, changed = list(statements), set[str]()
        for statement in new:
            if isinstance(statement, Set):
                changed.add(statement.address)
            elif isinstance(statement, Wire):
                changed |= {end.address for end in statement.ends}
        old = (item for item in self.statements if not (isinstance(item, Set) and item.address in changed))
        return self.with_wiring((*old, *new))

    def with_wiring(self, statements: Iterable[Statement]) -> Session:
        """Return the session with its wiring replaced. Running values are kept wherever their shape is unchanged."""
        all_statements = tuple(statements)
        result = load(Document(all_statements, "here"), self.memory, rules=self.rules, now=self.day)
        engine = Engine(result.net, tick=self.tick, rules=self.rules)
        state = _with_running(self.state, engine, engine.start(result.memory))
        flags = {id(statement) for statement in result.net.flags}
        wiring = tuple(item for item in all_statements if isinstance(item, WIRING) and id(item) not in flags)
        return replace(self, engine=engine, state=state, memory=result.memory, statements=wiring)

    def put(self, signal: str, value: float) -> Session:
        kind = self.net.signals[signal].type
        values: dict[str, Any] = {**self.state.signals}
        values[signal] = np.full(np.shape(values[signal]), value, DTYPES[kind])
        return replace(self, state=replace(self.state, signals=values))

    def stepped(self, count: int = 1) -> Session:
        """Return the session after `count` memory ticks, each followed by a scan of the netlist."""
        memory, state, day, past = self.memory, self.state, self.day, list(self.past)
        for _ in range(count):
            day += self.tick / DAY
            if memory.cells.height:
                memory = tick(memory, day, self.rules)
            scan = self.engine.scan(state, memory, self.loop_pins, now=day)
            memory, state = scan.memory, scan.state
            past.append(Moment(day, _cells(memory), _run_signals(self.net, state)))
        return replace(self, memory=memory, state=state, day=day, past=tuple(past[-LONGEST_PAST:]))

    def values(self, name: str) -> np.ndarray[Any, Any]:
        """Return the values of a pin, parameter or signal as an array: one per row of its domain, or a single value.

        The array is empty if the signal reads the memory and there was no scan yet.
        """
        signal = self.net.signals.get(name) or signals_by_pin(self.net).get(name)
        if signal is not None:
            recorded = self.state.signals.get(signal.name)
            return recorded if isinstance(recorded, np.ndarray) else np.array([], DTYPES[signal.type])
        instance, _, pin = name.rpartition(".")
        key, row, _ = self.net.instances[instance].sheet.slots[pin]
        values: np.ndarray[Any, Any] = self.state.ops[instance][key]
        return values if row is None else values[row]

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the recorded cells (t, rep, cell, scores) and signals (t, rep, row, signal, value), as in a run."""
        cells = [moment.cells.with_columns(t=pl.lit(moment.day)) for moment in self.past]
        rows = [(moment.day, 0, None, name, value) for moment in self.past for name, value in moment.signals.items()]
        kinds = {"t": pl.Float64, "rep": pl.Int32, "row": pl.String, "signal": pl.String, "value": pl.Float64}
        blank = _cells(self.memory).clear().with_columns(t=pl.lit(0.0))
        return pl.concat([blank, *cells]), pl.DataFrame(rows, schema=kinds, orient="row")


def signals_by_pin(net: Net) -> dict[str, Signal]:
    return {str(link.address): signal for signal in net.signals.values() for link in signal.links}


def _with_running(old: State, engine: Engine, fresh: State) -> State:
    """Return the initial state of the new net, with the old outputs and signals wherever their shapes are unchanged."""
    ops = {}
    for name, start in fresh.ops.items():
        outs, before = engine.net.instances[name].sheet.outs, old.ops.get(name, {})
        ops[name] = {
            key: before[key] if key in outs and key in before and _same_shape(before[key], value) else value
            for key, value in start.items()
        }
    signals: dict[str, Any] = {name: old.signals[name] for name in engine.readers if name in old.signals}
    for name, value in fresh.signals.items():
        if name in old.signals and _same_shape(old.signals[name], value):
            signals[name] = old.signals[name]
        else:
            signals[name] = _writer_value(engine.net.signals[name], engine, ops, value)
    drives, outputs = old.drives, old.program_outputs
    return replace(fresh, ticks=old.ticks, ops=ops, signals=signals, drives=drives, program_outputs=outputs)


def _same_shape(first: Any, second: Any) -> bool:
    return np.shape(first) == np.shape(second) and np.asarray(first).dtype == np.asarray(second).dtype


def _writer_value(signal: Signal, engine: Engine, ops: Mapping[str, Any], start: Any) -> Any:
    """Return the initial value of a new signal: the current value of the pin that writes the signal, as in HAL."""
    pin = signal.writer.address if signal.writer else None
    if not isinstance(pin, Pin) or pin.instance not in ops:
        return start
    key, row, _ = engine.net.instances[pin.instance].sheet.slots[pin.name]
    value = ops[pin.instance][key] if row is None else ops[pin.instance][key][row]
    return value if _same_shape(value, start) else start


def _run_signals(net: Net, state: State) -> dict[str, float]:
    return {
        name: float(state.signals[name][0])
        for name, signal in net.signals.items()
        if signal.domain == "run" and isinstance(state.signals.get(name), np.ndarray) and state.signals[name].size
    }


def _cells(memory: Memory) -> pl.DataFrame:
    return memory.cells.select("rep", pl.col("handle").alias("cell"), *_COLUMNS).filter(pl.col("rep") == 0)


def delf(session: Session, function: str, thread: str = "tick") -> Session:
    """Remove a function from a thread. Its instance remains loaded."""
    threads = {name: scheduled.name for scheduled in session.net.threads for name in scheduled.functions}
    if threads.get(function) != thread:
        hint = f"the function runs on {threads[function]}" if function in threads else nearest(function, threads)
        raise UsageError("this function does not run on this thread", given=f"{function} {thread}", hint=hint or None)
    statements = without_functions(session.statements, {function})
    if isinstance(session.net.instances[function].statement, Schedule):  # this addf statement also loaded the instance
        statements.append(Load(function, names=(function,)))
    return session.with_wiring(statements)


def unlinkp(session: Session, *pins: str) -> Session:
    """Disconnect pins from their signals. A disconnected input keeps the signal's last value, as in HAL."""
    signals = signals_by_pin(session.net)
    for pin in pins:
        if pin not in signals:
            raise UsageError("this pin is not connected to a signal", given=pin, hint=nearest(pin, signals))
    settings = [setting for pin in pins for setting in _last_value(session, pin)]
    return session.with_wiring([*without_pins(session.statements, pins), *settings])


def delsig(session: Session, signal: str) -> Session:
    """Remove a signal or, with `all`, every signal, by disconnecting all of its pins."""
    signals = session.net.signals
    if signal != "all" and signal not in signals:
        raise UsageError("no such signal", given=signal, hint=nearest(signal, signals))
    names = signals if signal == "all" else [signal]
    return unlinkp(session, *(str(link.address) for name in names for link in signals[name].links))


def unload(session: Session, name: str) -> Session:
    """Remove an instance, all instances of an op or, with `all`, every instance, together with their wires."""
    instances = session.net.instances
    names = {loaded for loaded, instance in instances.items() if name in {"all", loaded, instance.sheet.name}}
    if not names and name != "all":
        raise UsageError("no such instance or op", given=name, hint=nearest(name, instances))
    explicit = [
        replace(statement, names=names_of(statement), count=None) if isinstance(statement, Load) else statement
        for statement in session.statements
    ]
    return session.with_wiring(without_instances(explicit, names))


def _last_value(session: Session, pin: str) -> list[Statement]:
    owner, _, name = pin.rpartition(".")
    instance, values = session.net.instances.get(owner), session.values(pin)
    if instance is None or not isinstance(instance.sheet.slots[name].pin, In) or values.size != 1 or values[0] != values[0]:
        return []
    return [Set(pin, exact(float(values[0])))]
