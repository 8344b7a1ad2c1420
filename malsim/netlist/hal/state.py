"""Parser state for one `.hal` file: loaded components, aliases, functions per thread, and errors."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.statements import Blank, Set, Word
from malsim.netlist.language.values import bit, exact, number
from ops.pin.units import is_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.netlist.language.statements import Statement
    from ops import Sheet
    from ops.pin.words import Component

SIGNAL_TYPES = {
    "bit": "bit", "bool": "bit", "float": "float", "real": "float",
    **dict.fromkeys(("s32", "si32", "u32", "ui32", "s64", "si64", "u64", "ui64"), "int"),
}  # fmt: skip
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_HYPHEN = re.compile(r"-(?=\d+$)")
_NO_HYPHEN = re.compile(r"(?<=[A-Za-z])(?=\d+$)")


@dataclass(frozen=True)
class OpPart:
    """Op that implements all or part of a HAL instance: its name in the net, data sheet, type, sizes and settings."""

    name: str
    sheet: Sheet
    type: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    settings: tuple[tuple[str, float | bool], ...] = ()


@dataclass(frozen=True)
class HalInstance:
    """Loaded HAL instance: its component, its ops in run order, and the addresses of pins that `words.toml` does not map.

    `pair` holds two pins, one per op, that a signal joins.
    """

    component: Component
    parts: tuple[OpPart, ...]
    pins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pair: tuple[str, ...] = ()

    def addresses(self, word: str) -> tuple[str, ...]:
        if word in self.pins:
            return self.pins[word]
        main = self.parts[0]
        summand = next((pin for pin, factors in self.component.add.items() if factors.get(word) == 1), None)
        ours = self.component.pin(word) or summand or self.component.pin(other_spelling(word))
        return (f"{main.name}.{ours}",) if ours in main.sheet.slots else ()

    def part(self, address: str) -> tuple[OpPart, str]:
        name, _, pin = address.rpartition(".")
        return next(part for part in self.parts if part.name == name), pin


def other_spelling(pin: str) -> str:
    """Return a pin name with the hyphen before its trailing number removed, or with one inserted if there is none.

    >>> other_spelling("in0"), other_spelling("in-0"), other_spelling("out")
    ('in-0', 'in0', 'out')
    """
    return _HYPHEN.sub("", pin) if _HYPHEN.search(pin) else _NO_HYPHEN.sub("-", pin)


@dataclass(frozen=True)
class Action:
    """HAL command such as `start`, executed after the first `after` statements. Its pins are given by their malsim names."""

    words: tuple[str, ...]
    after: int
    line: int
    file: str = field(default="", compare=False)


@dataclass
class HalText:
    """Parser state for one `.hal` text: statements, actions and faults so far, instances, functions, threads and aliases.

    `instances` is keyed by HAL name; `period` is the base period in seconds. Removals (`unlinkp`, `unload` …) are
    actions, so that a run performs them in order. `all_instances` includes unloaded instances; `net_signals` and
    `presets` (pin settings) are collected from the whole text in advance; `signal_types` come from newsig.
    """

    file: str
    statements: list[Statement] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    instances: dict[str, HalInstance] = field(default_factory=dict)
    all_instances: dict[str, HalInstance] = field(default_factory=dict)
    signals: set[str] = field(default_factory=set)
    net_signals: set[str] = field(default_factory=set)
    signal_types: dict[str, str] = field(default_factory=dict)
    functions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    threads: dict[str, list[str]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    presets: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    period: float = 0.0
    source_bytes: int = 0
    ended: bool = False
    line: int = 0
    comment: str = ""

    @property
    def where(self) -> Blank:
        return Blank(comment=self.comment, file=self.file, line=self.line)

    def fault(self, word: str, problem: str, *, allowed: str = "", hint: str = "") -> None:
        self.faults.append(Fault.at(self.where, word, problem, allowed=allowed, hint=hint))

    def act(self, *words: str) -> None:
        self.actions.append(Action(words, len(self.statements), self.line, self.file))

    def foresee(self, pin: str, value: str) -> None:
        as_number = number(value)
        preset = float(bit(value) or 0) if as_number is None else as_number
        parts = pin.split(".")
        for index in range(1, len(parts)):
            self.presets[".".join(parts[:index])][".".join(parts[index:])] = preset

    def split(self, pin: str) -> tuple[str, str]:
        """Split a HAL pin name into (instance, rest). The instance is an empty string if no loaded instance matches."""
        pin = self.aliases.get(pin, pin)
        parts = pin.split(".")
        for index in range(len(parts), 0, -1):
            if ".".join(parts[:index]) in self.instances:
                return ".".join(parts[:index]), ".".join(parts[index:])
        return "", pin

    def address(self, hal_pin: str) -> str:
        name, word = self.split(hal_pin)
        ours = self.instances[name].addresses(word) if name else ()
        return ours[0] if ours else self.aliases.get(hal_pin, hal_pin)

    def pins(self, hal_pin: str) -> tuple[str, ...]:
        name, word = self.split(hal_pin)
        if not name:
            self.fault(hal_pin, "no such pin of a loaded component", hint=nearest(hal_pin, self.instances))
            return ()
        instance = self.instances[name]
        ours = instance.addresses(word)
        if not ours:
            component = instance.component
            allowed = " ".join(sorted({*component.pins, *instance.pins}))
            op = instance.parts[0].sheet.name
            problem = f"{op} has no counterpart for this pin of {component.name}"
            self.fault(hal_pin, problem, allowed=allowed if word not in component.pins else "")
        return tuple(Word.at(address, self.line, 1) for address in ours)

    def types_agree(self, kind: str, pins: Sequence[str]) -> None:
        """Add a fault for each pin that cannot join a signal of type `kind` because exactly one of the two is a bit."""
        for hal_pin in pins:
            name, word = self.split(hal_pin)
            instance = self.instances.get(name)
            if instance is None or word in {part for factors in instance.component.add.values() for part in factors}:
                continue
            for address in instance.addresses(word)[:1]:
                part, pin = instance.part(address)
                pin_type = part.sheet.slots[pin].pin.type
                if (pin_type == "bit") != (kind == "bit"):
                    self.fault(hal_pin, f"the signal was declared as {kind}, but this pin is a {pin_type}")

    def settings(self, hal_pin: str, text: str) -> list[Statement]:
        """Return the statements that set a HAL pin.

        Seconds are converted to days, and the component's rewrite rules are applied.
        """
        name, word = self.split(hal_pin)
        sets: list[Statement] = []
        for address in self.pins(hal_pin):
            instance = self.instances[name]
            part, pin = instance.part(address)
            value = number(text)
            scaled = text
            if value is not None:
                value = instance.component.rewritten(word, value)
                scale = _SECONDS[instance.component.time]
                scaled = f"{exact(value * scale)}d" if is_time(part.sheet.slots[pin].pin.unit) else exact(value)
            sets.append(Set(address, scaled, file=self.file, line=self.line, comment=self.comment))
        return sets
