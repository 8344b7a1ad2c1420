"""Ops for one HAL instance: usually one op; a four-pin sampler is four rings, a float-to-bit mux two ops."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import ops
from ops import OpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops import Sheet
    from ops.pin.words import Component


def shown_names(instances: Mapping[str, HalInstance], aliases: Mapping[str, str]) -> dict[str, str]:
    by_pin = {pin: alias for alias, pin in aliases.items()}
    names = {address: f"{name}.{word}" for name, instance in instances.items() for address, word in _pins(instance)}
    others = {pin: pin for pin in by_pin if pin not in set(names.values())}
    return {address: by_pin.get(name, name) for address, name in {**names, **others}.items()}


def _pins(instance: HalInstance) -> Iterator[tuple[str, str]]:
    explicit = {address: word for word, addresses in instance.pins.items() for address in addresses[:1]}
    yield from explicit.items()
    main = instance.parts[0]
    patterns = {ours: word for word, ours in instance.component.pins.items() if word not in instance.pins}
    for slot in main.sheet.slots:
        number = re.search(r"\d+$", slot)
        word = patterns.get(slot)
        if word is None and number is not None:
            word = patterns.get(f"{slot[: number.start()]}#", "").replace("#", number[0]) or None
        if word is not None and f"{main.name}.{slot}" not in explicit:
            yield f"{main.name}.{slot}", word


TYPES = {"b": "bit", "f": "float", "r": "float", "s": "int", "u": "int", "l": "int", "k": "int"}
_CONVERTERS = {"b": "to-bit", "f": "to-float", "r": "to-float", "s": "to-int", "u": "to-u32"}
_WORDS = {"b": "bit", "f": "float", "r": "float", "s": "s32", "u": "u32"}
_HYPHEN = re.compile(r"-(?=\d+$)")
_NO_HYPHEN = re.compile(r"(?<=[A-Za-z])(?=\d+$)")
_CONFIG = re.compile(r"([bfsuBFSU])([bfsuBFSU]?)([0-9]+)([bfsuBFSU]?)|([bfsuBFSU])([0-9]+)([bfsuBFSU])")


@dataclass(frozen=True)
class OpPart:
    """An op that an instance is made of: its name in our net, its sheet, and what its `loadrt` says."""

    name: str
    sheet: Sheet
    type: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    settings: tuple[tuple[str, float | bool], ...] = ()


@dataclass(frozen=True)
class HalInstance:
    """A HAL instance: its component, its parts in the order they run, pins that the word table alone does not place.

    `pair` are the pins, one of each part, that a signal of its own joins.
    """

    component: Component
    parts: tuple[OpPart, ...]
    pins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pair: tuple[str, ...] = ()

    def addresses(self, word: str) -> tuple[str, ...]:
        if word in self.pins:
            return self.pins[word]
        main = self.parts[0]
        ours = self.component.pin(word) or self._summand(word) or self.component.pin(other_spelling(word))
        return (f"{main.name}.{ours}",) if ours in main.sheet.slots else ()

    def part(self, address: str) -> tuple[OpPart, str]:
        name, _, pin = address.rpartition(".")
        return next(part for part in self.parts if part.name == name), pin

    def _summand(self, word: str) -> str | None:
        return next((pin for pin, factors in self.component.add.items() if factors.get(word) == 1), None)


def other_spelling(pin: str) -> str:
    """Return a pin's name with the hyphen before its number added or removed.

    >>> other_spelling("in0"), other_spelling("in-0"), other_spelling("out")
    ('in-0', 'in0', 'out')
    """
    return _HYPHEN.sub("", pin) if _HYPHEN.search(pin) else _NO_HYPHEN.sub("-", pin)


def hal_instance(component: Component, name: str, arguments: Mapping[str, str], presets: Mapping[str, float]) -> HalInstance:
    """Return an instance by HAL's load arguments, those of this instance alone, and the settings that choose between ops."""
    if component.name in {"sampler", "streamer"}:
        return _ring(component, name, arguments, presets)
    if component.name in {"mux_generic", "demux_generic"}:
        return _converter(component, name, arguments.get("config", ""))
    return HalInstance(component, (_part(component, name, component.sized(arguments), presets),))


def _part(component: Component, name: str, sizes: Mapping[str, int], presets: Mapping[str, float], kind: str = "") -> OpPart:
    op, values = component.choose(presets)
    kind = kind or component.type
    sheet = ops.load(op, **sizes, **({"type": kind} if kind else {}))
    settings = dict(values)
    if component.doubling:
        rows = sum(slot.key == component.doubling for slot in sheet.slots.values())
        settings |= {f"{component.doubling}-{row}": 1 << row for row in range(rows)}
    return OpPart(name, sheet, kind, tuple(sorted(sizes.items())), tuple(settings.items()))


def _ring(component: Component, name: str, arguments: Mapping[str, str], presets: Mapping[str, float]) -> HalInstance:
    letters = arguments.get("cfg", "").lower()
    if not letters or set(letters) - set(TYPES):
        raise OpError("the pins' types are wrong", where=component.name, given=letters, allowed="cfg= of b f s u l k")
    names = [name, *(f"{name}.{position}" for position in range(1, len(letters)))]
    sizes = component.sized(arguments)
    parts = tuple(_part(component, part, sizes, presets, TYPES[letter]) for part, letter in zip(names, letters, strict=True))
    pin = component.pin("pin.0")
    pins = {f"pin.{index}": (f"{part}.{pin}",) for index, part in enumerate(names)}
    both = {word: tuple(f"{part}.{word}" for part in names) for word in ("enable", "clock") if component.pin(word)}
    return HalInstance(component, parts, {**pins, **both})


def _converter(component: Component, name: str, config: str) -> HalInstance:
    into, out, count = _config(component, config)
    routes = component.name == "mux_generic"
    own, size = (into, "inputs") if routes else (out, "outputs")
    main = _part(component, name, {size: count}, {}, TYPES[own])
    item, many = ("out", "in") if routes else ("in", "out")
    several = {f"{many}-{_WORDS[into if routes else out]}-{index:02}": (f"{name}.{many}-{index}",) for index in range(count)}
    single = f"{item}-{_WORDS[out if routes else into]}"
    if into == out:
        return HalInstance(component, (main,), {**_none(component), **several, single: (f"{name}.{item}",)})
    turn = OpPart(f"{name}.{item}", ops.load(_CONVERTERS[out], type=TYPES[into]), TYPES[into])
    parts = (main, turn) if routes else (turn, main)
    pins = {**_none(component), **several, single: (f"{turn.name}.{item}",)}
    return HalInstance(component, parts, pins, pair=(f"{parts[0].name}.out", f"{parts[1].name}.in"))


def _config(component: Component, config: str) -> tuple[str, str, int]:
    match = _CONFIG.fullmatch(config)
    letters = [letter.lower() for letter in config if letter.isalpha()]
    count = int("".join(letter for letter in config if letter.isdigit()) or 0)
    if not match or count < 2 or len(letters) > 2:  # noqa: PLR2004 - a type in and one out, two inputs
        raise OpError("no such configuration", where=component.name, given=config, allowed="such as ff8 or bf2")
    return letters[0], letters[-1], count


def _none(component: Component) -> dict[str, tuple[str, ...]]:
    return {word: () for word in component.pins if "#" not in word and word.split("-")[0] in {"in", "out"}}
