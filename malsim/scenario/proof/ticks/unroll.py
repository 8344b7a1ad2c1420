"""Ticks of a net in solver terms. As in the engine, the functions of each due thread are called in order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory import Memory
from malsim.netlist.engine.engine import DAY, DTYPES
from malsim.netlist.engine.rows import Rows
from malsim.netlist.engine.steps import compile_step
from malsim.netlist.language.address import Pin
from malsim.scenario.proof.terms.elements import OutsideError, apply, term, z3
from malsim.scenario.proof.terms.term_array import TermArray
from malsim.scenario.proof.ticks.cut import OWN, initial_value, location
from malsim.scenario.proof.ticks.meaning import Meaning, behind, negation
from malsim.scenario.properties.trace import unknown
from ops.pin import Param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.netlist.engine.steps import Step
    from malsim.scenario.proof.ticks.cut import Cut, FreeInput
    from malsim.scenario.properties.formula import Formula

SORTS = {"bit": "Bool", "int": "Int", "float": "Real", "any": "Real"}


@dataclass(frozen=True)
class NetState:
    """Values of all pins and signals after a tick, and the bounds on the inputs at that tick."""

    ops: Mapping[str, Mapping[str, Any]]
    signals: Mapping[str, Any]
    bounds: tuple[Any, ...] = ()


class Unrolling:
    """Net, detached by `cut`, whose ops can be called on solver terms, tick by tick. `tick` is in milliseconds."""

    def __init__(self, cut: Cut, *, tick: float = DAY) -> None:
        self.cut, self.net, self.tick = cut, cut.net, tick
        by_pin = {pin: self.net.signals[name] for pin, name in self.net.pins.items()}
        every = {name: thread.every for thread in self.net.threads for name in thread.functions}
        self.steps: dict[str, Step] = {
            name: compile_step(item, by_pin, tick=tick * every.get(name, 1)) for name, item in self.net.instances.items()
        }
        self.cycle = math.lcm(*(thread.every for thread in self.net.threads if thread.functions))
        self._rows = Rows(Memory.empty(), 1)
        for step in self.steps.values():
            if step.series:
                raise OutsideError("a series over cells has no exact translation", where=location(step.instance.statement))

    def start(self) -> NetState:
        """Return the state before the first tick, in which each pin has its initial value or its setting."""
        pins = {name: {key: value if isinstance(step.instance.sheet.declared[key], Param) else TermArray(value)
                       for key, value in step.start(1).items()} for name, step in self.steps.items()}  # fmt: skip
        kinds = {name: DTYPES[signal.type] for name, signal in self.net.signals.items()}
        signals = {name: TermArray(np.array([initial_value(self.net, name)], kind)) for name, kind in kinds.items()}
        return NetState(pins, signals)

    def arbitrary(self) -> NetState:
        """Return an arbitrary state, in which each output pin and its signal are solver symbols."""
        begin = self.start()
        pins = {name: {key: self._symbols(step, key, value, f"{name}.{key}@any") for key, value in begin.ops[name].items()}
                for name, step in self.steps.items()}  # fmt: skip
        signals = dict(begin.signals)
        for name, signal in self.net.signals.items():
            pin = signal.writer.address if signal.writer else None
            if isinstance(pin, Pin) and pin.instance in pins:
                key, row, _ = self.net.instances[pin.instance].sheet.slots[pin.name]
                signals[name] = pins[pin.instance][key] if row is None else pins[pin.instance][key][row]
        return NetState(pins, signals)

    def _symbols(self, step: Step, key: str, value: Any, name: str) -> Any:
        """Return one solver symbol per element of an output pin; return other pins unchanged."""
        if key not in step.instance.sheet.outs:
            return value
        sort = getattr(z3(), SORTS[step.instance.sheet.declared[key].type])
        symbols = np.empty(value.shape, dtype=object)
        for position in np.ndindex(value.shape):
            symbols[position] = sort(name + "".join(f"-{index}" for index in position[:-1]))
        return TermArray(symbols)

    def after(self, state: NetState, number: int, *, base: Any = 0) -> NetState:
        """Return the state after the next tick, whose number is `base + number`, with new symbols as inputs.

        Raises
        ------
        OutsideError
            If an op has no exact translation. The error names the op's line.
        """
        signals, bounds = dict(state.signals), []
        for entry in self.cut.inputs:
            symbol, limits = self.input(entry, f"{number}")
            signals[entry.name] = TermArray([symbol])
            bounds += limits
        count = apply(np.add, base, number)
        for name, signal in self.net.signals.items():
            if signal.writer and str(signal.writer.address) in OWN:
                days = apply(np.multiply, count, self.tick / DAY)
                signals[name] = TermArray([count if str(signal.writer.address) == "clock.tick" else days])
        pins = dict(state.ops)
        for thread in self.net.threads:
            for name in thread.functions if number % thread.every == 0 else ():
                pins[name] = self._call(name, pins[name], signals)
        return NetState(pins, signals, tuple(bounds))

    def input(self, entry: FreeInput, tag: str) -> tuple[Any, list[Any]]:
        """Return the solver symbol of an input at a tick, and the bounds on it."""
        symbol = getattr(z3(), SORTS[entry.type])(f"{entry.name}@{tag}")
        bounds = [symbol >= term(float(entry.low))] if entry.low is not None else []
        bounds += [symbol <= term(float(entry.high))] if entry.high is not None else []
        return symbol, bounds

    def _call(self, name: str, state: Mapping[str, Any], signals: dict[str, Any]) -> Mapping[str, Any]:
        step = self.steps[name]
        try:
            return step.call(state, signals, self._rows)
        except OutsideError as error:
            problem = f"{name} ({step.instance.sheet.name}) has no exact translation: {error.problem}"
            raise OutsideError(problem, where=location(step.instance.statement)) from error


class Stretch:
    """Consecutive ticks of an unrolled net, computed on demand.

    Formulas read at most `length` ticks, and the assumptions hold at every tick. With `anywhere`, the stretch starts in an
    arbitrary state after one or more complete cycles; otherwise it starts in the initial state.
    """

    def __init__(
        self, unrolling: Unrolling, length: int, assumptions: Sequence[Formula] = (), *, anywhere: bool = False
    ) -> None:
        self.unrolling, self.assumptions, self.anywhere = unrolling, assumptions, anywhere
        self.period = round(unrolling.tick)
        self.base: Any = z3().Int("cycles before") * unrolling.cycle if anywhere else 0
        self.before = unrolling.arbitrary() if anywhere else unrolling.start()
        self.states: list[NetState] = []
        self.meaning = Meaning(self.read, np.arange(1, length + 1) * self.period, open_past=anywhere)

    def at(self, tick: int) -> NetState:
        """Return the state after a tick, counted from 0."""
        while len(self.states) <= tick:
            last = self.states[-1] if self.states else self.before
            self.states.append(self.unrolling.after(last, len(self.states) + 1, base=self.base))
        return self.states[tick]

    def read(self, address: str, tick: int) -> Any:
        """Return the value of a signal, a pin, or an outside source of the net after a tick."""
        state, sources = self.at(tick), self.unrolling.cut.sources
        if sources.get(address, address) in state.signals:
            return state.signals[sources.get(address, address)].values[0]
        instance, _, pin = address.partition(".")
        step = self.unrolling.steps.get(instance)
        if step is None or pin not in step.instance.sheet.slots:
            raise unknown("no such signal", address, [*state.signals, *sources])
        key, row, _ = step.instance.sheet.slots[pin]
        values = TermArray(state.ops[instance][key]).values
        return values[0] if row is None else values[row][0]

    def limits(self, tick: int) -> list[Any]:
        """Return the bounds on the inputs and the assumptions at a tick, as solver terms."""
        terms = list(self.at(tick).bounds)
        complete = [part for part in self.assumptions if not self.anywhere or tick >= behind(part, self.period)]
        terms += [negation(self.meaning.at(part, tick).broken) for part in complete]
        if self.anywhere and tick == 0:
            terms.append(z3().Int("cycles before") >= 1)
        return [term for term in terms if term is not True]
