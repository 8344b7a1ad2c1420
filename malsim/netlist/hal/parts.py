"""Mapping of HAL instances to ops.

Most components map to one op, but a four-pin sampler needs four ring buffers, and a float-to-bit mux needs two ops.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import ops
from malsim.base.errors import nearest
from malsim.netlist.hal.state import HalInstance, OpPart
from malsim.netlist.language.lexicon import LIMITS
from malsim.netlist.language.statements import End, Load, Set, Thread, Wire
from malsim.netlist.language.values import exact, number
from ops import OpError
from ops.pin.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.netlist.hal.state import HalText
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
_COUNTS = ("count", "num_chan")
# `loadrt` options that list one word per instance.
_LISTS = {"cfg", "config", "depth", "personality", "wsum_sizes", "step_type"}
NANO = 1e-9
LEAST_PERIOD = 1.0  # shortest allowed thread period, in ns
PERIOD = 1e6  # HAL's default thread period, in ns
_CONFIG = re.compile(r"([bfsuBFSU])([bfsuBFSU]?)([0-9]+)([bfsuBFSU]?)|([bfsuBFSU])([0-9]+)([bfsuBFSU])")


def hal_instance(component: Component, name: str, arguments: Mapping[str, str], presets: Mapping[str, float]) -> HalInstance:
    """Return the HAL instance that `loadrt` creates with these arguments.

    `presets` holds pin settings that determine which op is used.
    """
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
        raise OpError(
            "a pin type is missing or unknown",
            where=component.name,
            given=letters,
            allowed="cfg= with one of the letters b f s u l k per pin",
        )
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
    kind, size = (into, "inputs") if routes else (out, "outputs")
    main = _part(component, name, {size: count}, {}, TYPES[kind])
    item, many = ("out", "in") if routes else ("in", "out")  # names of the single pin and of the family of pins
    several = {f"{many}-{_WORDS[into if routes else out]}-{index:02}": (f"{name}.{many}-{index}",) for index in range(count)}
    single = f"{item}-{_WORDS[out if routes else into]}"
    unused = {word: () for word in component.pins if "#" not in word and word.split("-")[0] in {"in", "out"}}
    if into == out:
        return HalInstance(component, (main,), {**unused, **several, single: (f"{name}.{item}",)})
    turn = OpPart(f"{name}.{item}", ops.load(_CONVERTERS[out], type=TYPES[into]), TYPES[into])
    parts = (main, turn) if routes else (turn, main)
    pins = {**unused, **several, single: (f"{turn.name}.{item}",)}
    return HalInstance(component, parts, pins, pair=(f"{parts[0].name}.out", f"{parts[1].name}.in"))


def _config(component: Component, config: str) -> tuple[str, str, int]:
    match = _CONFIG.fullmatch(config)
    letters = [letter.lower() for letter in config if letter.isalpha()]
    count = int("".join(letter for letter in config if letter.isdigit()) or 0)
    if not match or count < 2 or len(letters) > 2:  # noqa: PLR2004 - a type in and one out, two inputs
        raise OpError(
            "no such configuration",
            where=component.name,
            given=config,
            allowed="type letters and a number of pins, such as ff8 or bf2",
        )
    return letters[0], letters[-1], count


def loadrt(text: HalText, line: list[str]) -> None:
    """Process a `loadrt` command: declare its threads, or load the instances of its component."""
    name, *rest = line or [""]
    arguments = {key: value.strip('"') for key, _, value in (word.partition("=") for word in rest)}
    if name == "threads":
        _threads(text, arguments)
        return
    component = words().get(name)
    if component is None:
        hint = nearest(name, words(), "run `malsim op` to list the ops")
        text.fault(name, "no op for this component", hint=hint)
        return
    allowed = ["count", "names", *component.arguments]
    if unknown := [key for key in arguments if key not in allowed]:
        text.fault(unknown[0], f"{name} has no such argument", allowed=" ".join(allowed))
    elif "names" in arguments and any(key in arguments for key in _COUNTS):
        text.fault("names", "names= and count= cannot be combined")
    elif _count(component, arguments) + len(text.instances) > LIMITS["instances"] and "names" not in arguments:
        text.fault(name, "too many instances", allowed=f"at most {LIMITS['instances']} in one text")
    elif component.most and len(_names(component, arguments)) > component.most:
        text.fault(name, "too many instances", allowed=f"at most {component.most} of {name}")
    else:
        for index, instance in enumerate(_names(component, arguments)):
            lists = {key: value.split(",") for key, value in arguments.items() if key in _LISTS}
            single = {key: words[min(index, len(words) - 1)] for key, words in lists.items()}
            _instance(text, component, instance, arguments | single)


def _threads(text: HalText, arguments: dict[str, str]) -> None:
    """Declare the threads that a `loadrt threads` command lists.

    The first thread runs at every tick, each other thread every n ticks, where n is the ratio of the periods.
    """
    for index in range(1, 4):
        period = number(arguments.get(f"period{index}", "")) or (PERIOD if index == 1 else None)
        if period is None:
            continue
        name = arguments.get(f"name{index}", f"thread{index}")
        if not LEAST_PERIOD <= period < math.inf:
            text.fault(name, "the period of a thread is out of bounds", allowed="1 ns or more")
            continue
        if text.period and period * NANO < text.period * (1 - NANO):
            text.fault(name, "the first thread must be the fastest", hint="name the fastest thread first")
            continue
        text.period = text.period or period * NANO
        every = max(1, round(period * NANO / text.period))
        text.threads[name] = []
        text.statements.append(Thread(name, every, file=text.file, line=text.line, comment=text.comment))


def _names(component: Component, arguments: dict[str, str]) -> list[str]:
    if "names" in arguments:
        return arguments["names"].split(",")
    if component.single:
        return [component.instance]
    return [f"{component.instance}.{index:0{component.digits}}" for index in range(int(_count(component, arguments)))]


def _count(component: Component, arguments: dict[str, str]) -> float:
    if component.single:
        return 1
    count = next((float(value) for name in _COUNTS if (value := arguments.get(name, "")).isdecimal()), None)
    if count:
        return count
    lists = [
        [argument for argument in arguments[key].split(",") if argument not in {"", "-1"}]
        for key in _LISTS
        if key in arguments
    ]
    return max([len(part) for part in lists if component.name not in {"logic", "demux"}], default=component.count)


def _instance(text: HalText, component: Component, name: str, arguments: dict[str, str]) -> None:
    if name in text.instances:
        text.fault(name, "this name is already used", hint="choose another name")
        return
    try:
        instance = hal_instance(component, name, arguments, text.presets.get(name, {}))
    except OpError as error:
        text.fault(component.name, error.problem, allowed=error.allowed or "", hint=error.hint or "")
        return
    text.instances[name] = text.all_instances[name] = instance
    parts = tuple(part.name for part in instance.parts)
    for function in component.functions or {"": ""}:
        whole = function if component.shared else f"{name}.{function}" if function else name
        text.functions[whole] = (*text.functions.get(whole, ()), *parts) if component.shared else parts
    for index, part in enumerate(instance.parts):
        load = Load(part.sheet.name, (part.name,), type=part.type, sizes=part.sizes, file=text.file, line=text.line)
        text.statements.append(replace(load, comment="" if index else text.comment))
        for pin, value in part.settings:
            text_value = ("true" if value else "false") if isinstance(value, bool) else exact(value)
            text.statements.append(Set(f"{part.name}.{pin}", text_value, file=text.file, line=text.line))
    if instance.pair:
        ends = tuple(End(address) for address in instance.pair)
        text.signals.add(f"{name}.turned")
        text.statements.append(Wire(f"{name}.turned", ends, file=text.file, line=text.line))
