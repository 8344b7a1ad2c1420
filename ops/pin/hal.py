"""Emulation of a HAL component by an op, with HAL's names and HAL's unit of time."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ops.pin.errors import OpError
from ops.pin.palette import load
from ops.pin.state import start, step
from ops.pin.units import MILLISECONDS, is_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.pin.declare import Array
    from ops.pin.sheet import Sheet
    from ops.pin.state import State
    from ops.pin.words import Component

__all__ = ["NANOSECONDS", "Instance", "instance"]

NANOSECONDS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


@dataclass(frozen=True)
class Instance:
    """Emulated HAL component with one row. `word_values` holds those HAL settings that correspond to no pin of the op."""

    component: Component
    sheet: Sheet
    state: State
    word_values: Mapping[str, float]

    def with_word(self, word: str, value: float) -> Instance:
        """Return the instance with a HAL pin or parameter set. The value is not checked.

        Raises
        ------
        OpError
            If the name has no counterpart in malsim.
        """
        if word in self.component.without:
            return self
        if word in self.word_values:
            return replace(self, word_values={**self.word_values, word: value}).with_choices()
        pin = self._pin(word)
        return self.with_pin(pin, self._whole_nanoseconds(pin, self.component.rewritten(word, value)))

    def with_pin(self, pin: str, value: float) -> Instance:
        """Return the instance with a pin of the op set to a number. The value is not checked."""
        key, row, _ = self.sheet.slots[pin]
        array = self.state[key].copy()
        array[... if row is None else row] = value
        return replace(self, state={**self.state, key: array})

    def read(self, word: str) -> float:
        """Return the value of a HAL pin."""
        if factors := self.component.sum.get(word):
            return sum(factor * self.value(pin) for pin, factor in factors.items())
        value = self.value(self._pin(word))
        op_name = self.component.output_op(word)
        if op_name is None:
            return value
        converter = load(op_name)
        return float(step(converter, {**start(converter), "in_": np.array([value])})["out"][0])

    def value(self, pin: str) -> float:
        """Return the value of a pin of the op."""
        key, row, _ = self.sheet.slots[pin]
        return float(self.state[key][0 if row is None else (row, 0)])

    def call(self, functions: Sequence[str], period_ns: float, period_s: float) -> Instance:
        """Return the instance after calling these HAL functions.

        Calling all functions in order is equivalent to one call of the op.
        """
        unit = self.component.counts or self.component.time
        tick = period_s if unit == "s" else period_ns / NANOSECONDS[unit]
        parts = [self.component.functions.get(function, "function") for function in functions]
        if parts in ([], ["function"], list(self.component.functions.values())):
            return replace(self, state=step(self.sheet, self.state, tick))
        state: dict[str, Any] = {**self.state}
        for part in parts:
            run = getattr(sys.modules[self.sheet.function.__module__], part)
            arguments = {**state, "tick": tick}
            state |= run(**{name: arguments[name] for name in inspect.signature(run).parameters})
        return replace(self, state=state)

    def _pin(self, word: str) -> str:
        pin = self.component.pin(word)
        if pin is None:
            raise OpError("this HAL pin has no counterpart in malsim", where=self.component.name, given=word)
        return pin

    def _whole_nanoseconds(self, pin: str, value: float) -> float:
        """Convert seconds to the nanoseconds that a component counts. Like HAL, truncate seconds and fraction separately."""
        if not self.component.counts or not is_time(self.sheet.slots[pin].pin.unit):
            return value
        return int(value) * 1e9 + int((value - int(value)) * 1e9)

    def with_choices(self) -> Instance:
        """Return the instance after setting all pins that depend on `word_values`."""
        op, settings = self.component.choose(self.word_values)
        if op != self.sheet.name:
            raise OpError("this setting needs another op", where=self.component.name, given=self.sheet.name, allowed=op)
        result = self
        for pin, value in settings.items():
            result = result.with_pin(pin, float(value))
        for pin, factors in self.component.add.items():
            result = result.with_pin(pin, sum(factor * self.word_values[word] for word, factor in factors.items()))
        return result


def instance(component: Component, arguments: Mapping[str, object], values: Mapping[str, float]) -> Instance:
    """Load a HAL component with these arguments, and set the given pins and parameters.

    >>> from ops.pin.words import words
    >>> lowpass = instance(words()["lowpass"], {}, {"gain": 0.5, "in": 1.0})
    >>> lowpass.call([], 1e6, 1e-3).read("out")
    0.5
    """
    words = {word for factors in component.add.values() for word in factors}
    word_values = {**dict.fromkeys(words, 0.0), **component.defaults}
    word_values |= {word: value for word, value in values.items() if word in word_values}
    sheet = load(component.choose(word_values)[0], **component.sized(arguments))
    unit_ns = NANOSECONDS[component.counts or component.time]
    state: dict[str, Array] = {}
    for key, array in start(sheet).items():
        unit = sheet.declared[key].unit
        state[key] = array * (MILLISECONDS[unit] * 1e6 / unit_ns) if is_time(unit) else array
    if component.doubling:
        state[component.doubling] = np.array([[1 << row] for row in range(len(state[component.doubling]))])
    result = Instance(component, sheet, state, word_values).with_choices()
    for word, value in values.items():
        if word not in word_values:
            result = result.with_word(word, value)
    return result
