"""Data sheet of an op: its declarations, and their formatting as text."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ops.pin.declare import NAN, Array, In, Nan, Out, Param, Pin, Size, Tick, bound
from ops.pin.errors import OpError
from ops.pin.units import convert, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Sheet", "Slot", "size_name", "spell"]

TYPED: dict[str, tuple[str, float | bool]] = {"float": ("1", 0.0), "int": ("1", 0), "bit": ("bit", False)}


def spell(name: str) -> str:
    """Convert a Python name to the public name of an op or pin: a trailing `_` is dropped and other `_` become `-`.

    >>> spell("in_"), spell("time_left")
    ('in', 'time-left')
    """
    return name.rstrip("_").replace("_", "-")


class Slot(NamedTuple):
    """Location of a pin in a state: its Python name, and its row if the pin is one of a family."""

    key: str
    row: int | None
    pin: Pin


@dataclass(frozen=True)
class Sheet:
    """Data sheet of a loaded op: its declarations keyed by Python name, its sizes and its function."""

    name: str
    text: str
    function: Callable[..., dict[str, Array]]
    ins: Mapping[str, In]
    outs: Mapping[str, Out]
    params: Mapping[str, Param]
    sizes: Mapping[str, Size]
    tick: Tick | None
    state: tuple[str, ...]
    size_arguments: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """Format the data sheet as text."""
        return _text(self)

    @property
    def summary(self) -> str:
        """First line of the op's documentation."""
        return self.text.strip().split("\n", 1)[0]

    @property
    def cadence(self) -> str:
        """Effect of a shorter tick on the op, derived from its declarations."""
        if self.tick:
            return "by the clock: the op uses the length of the tick, so halving the tick keeps its times and rates"
        if self.state:
            return "by the call: the op counts calls, so ticking twice as often runs it twice as fast"
        return "none: the op has no state, so the number of calls does not matter"

    @cached_property
    def declared(self) -> dict[str, Pin]:
        """Inputs, parameters and outputs, keyed by Python name."""
        return {**self.ins, **self.params, **self.outs}

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """Python names of the function's arguments: inputs, then state, then parameters."""
        return (*self.ins, *self.state, *self.params)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """Slots of pins and parameters, keyed by public name. Families are expanded to `in-0 …`."""
        slots: dict[str, Slot] = {}
        for key, pin in self.declared.items():
            name = spell(key)
            if pin.many:
                slots |= {f"{name}-{row}": Slot(key, row, pin) for row in range(self.count(pin))}
            else:
                slots[name] = Slot(key, None, pin)
        return slots

    def count(self, pin: Pin) -> int:
        """Return the number of pins in a family of the loaded op, or 0 for a single pin."""
        return self.counts[size_name(pin)] if pin.many else 0

    def length(self, tick: object) -> float:
        """Return the length of a tick such as `10min` in the op's unit of time, or 0 for an op that declares no tick."""
        if self.tick is None:
            return 0.0
        return convert(number(tick, unit="ms", where="tick"), given="ms", to=self.tick.unit)

    def sized(self, **choices: object) -> Sheet:
        """Return the op with other sizes, or with the type `bit`, `int` or `float` for its `any` pins.

        Raises
        ------
        OpError
            If a size or the type is unknown, or a size is out of bounds.
        """
        kind = choices.pop("type", "any")
        counts = {**self.counts, **{name: self._size(name, given) for name, given in choices.items()}}
        if kind == "any":
            return replace(self, counts=counts)
        if kind not in TYPED:
            raise OpError("no such type", where=self.name, given=kind, allowed="float, int, bit")
        unit, start = TYPED[str(kind)]
        nan: dict[str, Nan] = {key: pin.nan if kind == "float" else "" for key, pin in self.ins.items()}
        ins = {key: replace(pin, unit=unit, start=start, nan=nan[key]) for key, pin in self.ins.items() if pin.type == "any"}
        outs = {key: replace(pin, unit=unit, start=start) for key, pin in self.outs.items() if pin.type == "any"}
        return replace(self, counts=counts, ins={**self.ins, **ins}, outs={**self.outs, **outs})

    def _size(self, name: str, given: object) -> int:
        size = self.sizes.get(name)
        if size is None:
            hint = f"the sizes are {', '.join(self.sizes)}" if self.sizes else "this op has no sizes"
            raise OpError("no such size", where=self.name, given=name, hint=hint)
        text = str(given).strip()
        if isinstance(given, bool) or not text.isdecimal() or not size.low <= int(text) <= size.high:
            allowed = f"a whole number from {size.low} to {size.high}"
            raise OpError("the size is out of bounds", where=f"{self.name}.{name}", given=given, allowed=allowed)
        return int(text)


def size_name(pin: Pin) -> str:
    """Return the name of the size that determines the number of pins in a family."""
    if isinstance(pin.many, str):
        return pin.many
    return "outputs" if isinstance(pin, Out) else "inputs"


def _text(sheet: Sheet) -> str:
    """Return the text that `malsim op NAME` prints: documentation, pins, sizes, cadence and the effects of NaN."""
    about, _, example = sheet.text.partition("\n>>>")
    parts = [f"{sheet.name}: {about.strip()}"]
    for title, pins in (("Inputs", sheet.ins), ("Parameters", sheet.params), ("Outputs", sheet.outs)):
        if pins:
            parts.append(_table(title, [_pin_row(sheet, key, pin) for key, pin in pins.items()]))
    if sheet.sizes:
        sizes = ((name, str(sheet.counts[name]), size) for name, size in sheet.sizes.items())
        rows = [(name, count, f"{size.low} to {size.high}", size.meaning) for name, count, size in sizes]
        parts.append(_table("Sizes, chosen at load", rows))
    parts.append(f"Cadence\n  {sheet.cadence}." + (f" The unit of time is {sheet.tick.unit}." if sheet.tick else ""))
    if sheet.state:
        state = ", ".join(_pin_names(sheet, key) for key in sheet.state)
        parts.append("State\n" + _fill(f"{state}; saved and restored completely."))
    parts.append(_nan(sheet))
    if example:
        parts.append("Example\n" + "\n".join(f"  {line}" for line in f">>>{example}".strip().splitlines()))
    return "\n\n".join(parts)


def _pin_row(sheet: Sheet, key: str, pin: Pin) -> tuple[str, ...]:
    start = str(pin.start).lower() if pin.type == "bit" else f"{pin.first:g}"
    low, high = bound(pin, "low"), bound(pin, "high")
    limits = "" if np.isnan(low) and np.isnan(high) else f"{_limit(low)} to {_limit(high)}".strip()
    first = f"= {'false' if start == 'none' else start}"
    return (_pin_names(sheet, key), pin.type, f"[{pin.unit}]", first, limits, pin.meaning)


def _limit(value: float) -> str:
    return "…" if np.isnan(value) else f"{value:g}"


def _pin_names(sheet: Sheet, key: str) -> str:
    pins = [name for name, slot in sheet.slots.items() if slot.key == key]
    return pins[0] if len(pins) == 1 else f"{pins[0]} … {pins[-1].rsplit('-', 1)[-1]}"


def _nan(sheet: Sheet) -> str:
    by_meaning: dict[str, list[str]] = {}
    for key, pin in sheet.ins.items():
        if isinstance(pin, In) and pin.nan:
            by_meaning.setdefault(NAN[pin.nan], []).append(_pin_names(sheet, key))
    lines = [_fill(f"on {', '.join(pins)}: {effect}.") for effect, pins in by_meaning.items()]
    return "NaN\n" + "\n".join(lines or ["  No input can be NaN."])


def _fill(line: str) -> str:
    return textwrap.fill(line, 118, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return f"{title}\n" + "\n".join(f"  {line.rstrip()}" for line in lines)
