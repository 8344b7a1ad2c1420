"""Ticks of a net in the solver's terms: the functions of each due thread in order, as the engine calls them."""

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
from malsim.scenario.proof.terms.elements import apply, term
from malsim.scenario.proof.terms.solver import OutsideError, z3
from malsim.scenario.proof.terms.term_array import TermArray
from malsim.scenario.proof.ticks.cut import OWN, place
from ops.pin import Param

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.netlist.engine.steps import Step
    from malsim.scenario.proof.ticks.cut import Cut, FreeInput

SORTS = {"bit": "Bool", "int": "Int", "float": "Real", "any": "Real"}


@dataclass(frozen=True)
class NetState:
    """Values of all pins and signals after a tick, and the bounds on this tick's inputs."""

    ops: Mapping[str, Mapping[str, Any]]
    signals: Mapping[str, Any]
    bounds: tuple[Any, ...] = ()


class Unrolling:
    """Ops of a cut net, ready to be called tick after tick on terms.

    Parameters
    ----------
    tick
        Milliseconds between two ticks.
    """

    def __init__(self, cut: Cut, *, tick: float = DAY) -> None:
        self.cut, self.net, self.tick = cut, cut.net, tick
        on = {pin: self.net.signals[name] for pin, name in self.net.pins.items()}
        every = {name: thread.every for thread in self.net.threads for name in thread.functions}
        self.steps: dict[str, Step] = {
            name: compile_step(item, on, tick=tick * every.get(name, 1)) for name, item in self.net.instances.items()
        }
        self.cycle = math.lcm(*(thread.every for thread in self.net.threads if thread.functions))
        self._rows = Rows(Memory.empty(), 1)
        for step in self.steps.values():
            if step.series:
                raise OutsideError("a series over cells has no exact translation", where=place(step.instance.statement))

    def start(self) -> NetState:
        """Return the state before the first tick: each pin at its start or setting."""
        pins = {name: {key: value if self._is_setting(step, key) else TermArray(value)
                       for key, value in step.start(1).items()} for name, step in self.steps.items()}  # fmt: skip
        kinds = {name: DTYPES[signal.type] for name, signal in self.net.signals.items()}
        signals = {name: TermArray(np.array([self._first(name)], kind)) for name, kind in kinds.items()}
        return NetState(pins, signals)

    def anything(self, tag: str = "any") -> NetState:
        """Return an arbitrary state of pins and signals, with a separate name for each."""
        begin = self.start()
        pins = {name: {key: self._names(step, key, value, f"{name}.{key}@{tag}") for key, value in begin.ops[name].items()}
                for name, step in self.steps.items()}  # fmt: skip
        signals = dict(begin.signals)
        for name, signal in self.net.signals.items():
            pin = signal.writer.address if signal.writer else None
            if isinstance(pin, Pin) and pin.instance in pins:
                key, row, _ = self.net.instances[pin.instance].sheet.slots[pin.name]
                signals[name] = pins[pin.instance][key] if row is None else pins[pin.instance][key][row]
        return NetState(pins, signals)

    def _names(self, step: Step, key: str, value: Any, name: str) -> Any:
        pin = step.instance.sheet.declared[key]
        if key not in step.instance.sheet.outs:
            return value
        names = np.empty(value.shape, dtype=object)
        for at in np.ndindex(value.shape):
            names[at] = getattr(z3(), SORTS[pin.type])(name + "".join(f"-{item}" for item in at[:-1]))
        return TermArray(names)

    def after(self, moment: NetState, number: int, *, base: Any = 0, tag: str = "") -> NetState:
        """Return the state after the next tick, of this number plus `base`, for any inputs.

        Raises
        ------
        OutsideError
            An op that has no exact translation, with its line.
        """
        signals, bounds = dict(moment.signals), []
        for item in self.cut.inputs:
            name, limits = self.input(item, f"{tag}{number}")
            signals[item.name] = TermArray([name])
            bounds += limits
        count = apply(np.add, base, number)
        for name, signal in self.net.signals.items():
            if signal.writer and str(signal.writer.address) in OWN:
                days = apply(np.multiply, count, self.tick / DAY)
                signals[name] = TermArray([count if str(signal.writer.address) == "clock.tick" else days])
        pins = dict(moment.ops)
        for name in self._due(number):
            pins[name] = self._call(name, pins[name], signals)
        return NetState(pins, signals, tuple(bounds))

    def input(self, one: FreeInput, tag: str) -> tuple[Any, list[Any]]:
        """Return the name of an input at a tick, and its bounds."""
        name = getattr(z3(), SORTS[one.type])(f"{one.name}@{tag}")
        ends = [(name >= term(float(one.low))) if one.low is not None else None,
                (name <= term(float(one.high))) if one.high is not None else None]  # fmt: skip
        return name, [end for end in ends if end is not None]

    def _due(self, number: int) -> Iterator[str]:
        for thread in self.net.threads:
            if number % thread.every == 0:
                yield from thread.functions

    def _call(self, name: str, state: Mapping[str, Any], signals: dict[str, Any]) -> Mapping[str, Any]:
        step = self.steps[name]
        try:
            return step.call(state, signals, self._rows)
        except OutsideError as error:
            problem = f"{name} ({step.instance.sheet.name}) has no exact translation: {error.problem}"
            raise OutsideError(problem, where=place(step.instance.statement)) from error

    def _is_setting(self, step: Step, key: str) -> bool:
        return isinstance(step.instance.sheet.declared[key], Param)

    def _first(self, name: str) -> float | bool:
        if name in self.net.initial:
            return self.net.initial[name]
        signal = self.net.signals[name]
        for link in [signal.writer] if signal.writer else signal.readers:
            if link.pin and link.pin.instance in self.net.instances:
                return self.net.instances[link.pin.instance].sheet.slots[link.pin.name].pin.first
        return 0.0
