"""Execution of one op instance: read its inputs from signals, call the op once for all rows, and write its outputs back."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

import ops
from malsim.netlist.language.address import Pin, Reduced
from malsim.netlist.language.faults import Fault, NetlistError
from ops import OpError
from ops.pin import In, Param
from ops.pin.units import convert

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.wiring import Instance, Signal
    from ops import Sheet
    from ops.pin import Array
    from ops.pin.state import State as OpState


@dataclass(frozen=True, slots=True)
class Step:
    """Compiled call of one op instance, with all look-ups done in advance.

    `single` holds (input, signal, repeat), `many` holds (family, [(row, signal, repeat), …]). If `repeat` is true, one
    value is repeated for all rows of the domain. `puts` holds (output, row in the family, signal), `series` holds
    inputs that read a series value by value. `positional` extracts the positional arguments from a state.
    """

    name: str
    domain: str
    instance: Instance
    function: Callable[..., dict[str, Array]]
    positional: Callable[[dict[str, Array]], tuple[Array, ...]]
    keywords: tuple[str, ...]
    fixed: dict[str, float]
    single: tuple[tuple[str, str, bool], ...]
    many: tuple[tuple[str, tuple[tuple[int, str, bool], ...]], ...]
    puts: tuple[tuple[str, int | None, str], ...]
    series: tuple[tuple[str, str], ...]

    def start(self, rows: int) -> OpState:
        return ops.start(self.instance.sheet, rows, self.instance.settings)

    def call(self, state: OpState, values: MutableMapping[str, Any], rows: Rows) -> OpState:
        """Call the op once and write its outputs to the signals immediately, so that the next step can read them."""
        arguments = self._inputs(dict(state), values, rows)
        for key, links in self.many:
            family = arguments[key] = arguments[key].copy()
            for row, name, repeat in links:
                family[row] = values[name][rows.rep_of(self.domain)] if repeat else values[name]
        return self._write(self._run(arguments), values)

    def call_over(self, values: MutableMapping[str, Any], rows: Rows) -> OpState:
        """Run the op over the entire series of each row, starting from the initial state of the op."""
        ((read, series),) = self.series
        table, length = values[series]
        count = table.shape[1]
        state = self.start(count)
        for index, now in enumerate(table):
            result, is_longer = self._run(self._inputs({**state, read: now}, values, rows)), length > index
            per_row = {key: old.shape[-1] == count for key, old in state.items()}
            state = {key: np.where(is_longer, result[key], old) if per_row[key] else old for key, old in state.items()}
        return self._write(dict(state), values)

    def _inputs(self, state: dict[str, Array], values: Mapping[str, Any], rows: Rows) -> dict[str, Array]:
        for key, name, repeat in self.single:
            state[key] = values[name][rows.rep_of(self.domain)] if repeat else values[name]
        return state

    def _run(self, arguments: dict[str, Array]) -> dict[str, Array]:
        keywords = {key: arguments[key] for key in self.keywords} | self.fixed if self.keywords else self.fixed
        try:
            arguments.update(self.function(*self.positional(arguments), **keywords))
        except OpError as error:
            raise NetlistError([Fault.at(self.instance.statement, self.name, f"{error.where}: {error.problem}")]) from error
        return arguments

    def _write(self, result: dict[str, Array], values: MutableMapping[str, Any]) -> OpState:
        for key, row, signal in self.puts:
            values[signal] = result[key] if row is None else result[key][row]
        return result


def compile_step(instance: Instance, signals: Mapping[str, Signal], *, tick: float) -> Step:
    """Compile an op instance into a step. `signals` maps each linked pin to its signal."""
    sheet = instance.sheet
    single: list[tuple[str, str, bool]] = []
    families: dict[str, list[tuple[int, str, bool]]] = {}
    puts: list[tuple[str, int | None, str]] = []
    series: list[tuple[str, str]] = []
    for name, (key, row, pin) in sheet.slots.items():
        signal = signals.get(str(Pin(instance.name, name)))
        if signal is None:
            continue
        repeat = signal.domain != instance.domain
        if not isinstance(pin, In):
            puts.append((key, row, signal.name))
        elif row is not None:
            families.setdefault(key, []).append((row, signal.name, repeat))
        elif signal.writer and isinstance(where := signal.writer.address, Reduced) and where.reducer == "series":
            series.append((key, signal.name))
        else:
            single.append((key, signal.name, repeat))
    if len(series) > 1 or (series and families):
        problem = "an instance that reads a series cannot read another series or have a family of inputs"
        raise NetlistError([Fault.at(instance.statement, instance.name, problem)])
    fixed: dict[str, float] = {size: sheet.counts[size] for size in sheet.size_arguments}
    if sheet.tick:
        fixed["tick"] = convert(tick, given="ms", to=sheet.tick.unit)
    many = tuple((key, tuple(links)) for key, links in families.items())
    return Step(
        instance.name, instance.domain, instance, sheet.function, *_arguments(sheet), fixed, tuple(single), many,
        tuple(puts), tuple(series),
    )  # fmt: skip


def _arguments(sheet: Sheet) -> tuple[Callable[[dict[str, Array]], tuple[Array, ...]], tuple[str, ...]]:
    """Return a function that extracts the positional arguments in order, and the names of the keyword-only arguments."""
    takes = [
        parameter for parameter in inspect.signature(sheet.function).parameters.values() if parameter.name in sheet.takes
    ]
    keywords = tuple(argument.name for argument in takes if argument.kind is argument.KEYWORD_ONLY)
    positional = [take.name for take in takes if take.name not in keywords]
    if len(positional) > 1:
        return itemgetter(*positional), keywords
    return lambda arguments: tuple(arguments[key] for key in positional), keywords


def extend(step: Step, state: OpState, rows: int) -> OpState:
    fresh = step.start(rows)
    params = {key for key, pin in step.instance.sheet.declared.items() if isinstance(pin, Param)}
    return {key: old if key in params else np.concatenate([old, fresh[key]], axis=-1) for key, old in state.items()}
