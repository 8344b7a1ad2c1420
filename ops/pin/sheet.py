"""A data sheet: what one op's file declares, read once and checked against its function."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ops.pin.declare import Array, In, Nan, Out, Param, Pin, Size, Tick
from ops.pin.errors import OpError
from ops.pin.units import convert, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

__all__ = ["Sheet", "Slot", "read", "spell"]

TYPED: dict[str, tuple[str, float | bool]] = {"float": ("1", 0.0), "int": ("1", 0), "bit": ("bit", False)}


def spell(name: str) -> str:
    """The name of an op or a pin from a Python name: a trailing `_` drops and `_` becomes `-`.

    >>> spell("in_"), spell("time_left")
    ('in', 'time-left')
    """
    return name.rstrip("_").replace("_", "-")


class Slot(NamedTuple):
    """Where a pin's array stands in a state: the Python name, and the row of a family of like pins."""

    key: str
    row: int | None
    pin: Pin


@dataclass(frozen=True)
class Sheet:
    """One op as loaded: its declarations by Python name, its sizes chosen, its function."""

    name: str
    text: str
    function: Callable[..., dict[str, Array]]
    ins: Mapping[str, In]
    outs: Mapping[str, Out]
    params: Mapping[str, Param]
    sizes: Mapping[str, Size]
    tick: Tick | None
    state: tuple[str, ...]
    told: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """The data sheet as text."""
        from ops.pin.text import sheet_text

        return sheet_text(self)

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return self.text.strip().split("\n", 1)[0]

    @property
    def cadence(self) -> str:
        """What ticking more often does, as the declarations imply it."""
        if self.tick:
            return "by the clock: it takes the tick's length, so halving the tick keeps its times and rates"
        if self.state:
            return "by the call: it counts calls, so ticking twice as often runs it twice as fast"
        return "none: it has no memory, so how often it is called changes nothing"

    @cached_property
    def declared(self) -> dict[str, Pin]:
        """Inputs, parameters and outputs by Python name."""
        return {**self.ins, **self.params, **self.outs}

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """What the function is given: inputs, state, parameters."""
        return (*self.ins, *self.state, *self.params)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """Every pin and parameter by the name a user types, `in-0 …` one by one."""
        found: dict[str, Slot] = {}
        for key, pin in self.declared.items():
            name = spell(key)
            if pin.many:
                found |= {f"{name}-{row}": Slot(key, row, pin) for row in range(self.count(pin))}
            else:
                found[name] = Slot(key, None, pin)
        return found

    def count(self, pin: Pin) -> int:
        """How many pins of this family the op was loaded with; 0 for a single pin."""
        return self.counts[_size_name(pin)] if pin.many else 0

    def length(self, tick: object) -> float:
        """The tick's length (`10min`) in the op's own unit of time; 0 for an op that runs by the call."""
        if self.tick is None:
            return 0.0
        return convert(number(tick, unit="ms", where="tick"), given="ms", to=self.tick.unit)

    def sized(self, **choices: object) -> Sheet:
        """The same op with other sizes, or with its `any` pins made of one `type`: `bit`, `int` or `float`.

        Raises
        ------
        OpError
            An unknown size or type, or a size outside its bounds.
        """
        kind = choices.pop("type", "any")
        counts = {**self.counts, **{name: self._size(name, given) for name, given in choices.items()}}
        if kind == "any":
            return replace(self, counts=counts)
        if kind not in TYPED:
            raise OpError("unknown type", where=self.name, given=kind, allowed="float, int, bit")
        unit, start = TYPED[str(kind)]
        nan: dict[str, Nan] = {key: pin.nan if kind == "float" else "" for key, pin in self.ins.items()}
        ins = {key: replace(pin, unit=unit, start=start, nan=nan[key]) for key, pin in self.ins.items() if pin.type == "any"}
        outs = {key: replace(pin, unit=unit, start=start) for key, pin in self.outs.items() if pin.type == "any"}
        return replace(self, counts=counts, ins={**self.ins, **ins}, outs={**self.outs, **outs})

    def _size(self, name: str, given: object) -> int:
        size = self.sizes.get(name)
        if size is None:
            hint = f"its sizes: {', '.join(self.sizes)}" if self.sizes else "this op has one size only"
            raise OpError("no such size", where=self.name, given=name, hint=hint)
        text = str(given).strip()
        if isinstance(given, bool) or not text.isdecimal() or not size.low <= int(text) <= size.high:
            allowed = f"a whole number from {size.low} to {size.high}"
            raise OpError("size out of bounds", where=f"{self.name}.{name}", given=given, allowed=allowed)
        return int(text)


def read(name: str, module: ModuleType) -> Sheet:
    """The data sheet of an op's module.

    Raises
    ------
    OpError
        The module has no function, no docstring, or a function whose arguments are not its declarations.
    """
    names = vars(module)
    function = names.get("function")
    if not callable(function) or not (module.__doc__ or "").strip():
        raise OpError("an op is a module with a docstring and a function", where=name)
    ins: dict[str, In] = _kept(names, In)
    outs: dict[str, Out] = _kept(names, Out)
    params: dict[str, Param] = _kept(names, Param)
    tick: Tick | None = _kept(names, Tick).get("tick")
    sizes = _kept(names, Size) | {
        _size_name(pin): Size(2, "like pins", high=pin.many)
        for pin in (*ins.values(), *outs.values())
        if isinstance(pin.many, int) and pin.many
    }
    state, told = _arguments(name, function, (set(ins), set(outs), set(params) | ({"tick"} if tick else set()), set(sizes)))
    counts = {key: size.start for key, size in sizes.items()}
    text = inspect.cleandoc(module.__doc__ or "")
    return Sheet(name, text, function, ins, outs, params, sizes, tick, state, told, counts)


def _kept(names: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {key: value for key, value in names.items() if isinstance(value, kind)}


def _arguments(
    name: str, function: Callable[..., dict[str, Array]], declared: tuple[set[str], set[str], set[str], set[str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which outputs and which sizes the function takes."""
    ins, outs, settings, sizes = declared
    arguments = inspect.signature(function).parameters.values()
    positional = [one.name for one in arguments if one.kind is one.POSITIONAL_OR_KEYWORD]
    keyword = {one.name for one in arguments if one.kind is one.KEYWORD_ONLY}
    plain = len(positional) + len(keyword) == len(arguments)
    if not plain or not settings <= keyword <= settings | sizes or not ins <= set(positional) <= ins | outs:
        allowed = f"({', '.join(sorted(ins))}, state outs, *, {', '.join(sorted(settings))})"
        raise OpError("the function's arguments are not its declarations", where=name, allowed=allowed)
    return tuple(argument for argument in positional if argument in outs), tuple(sorted(keyword - settings))


def _size_name(pin: Pin) -> str:
    if isinstance(pin.many, str):
        return pin.many
    return "outputs" if isinstance(pin, Out) else "inputs"
