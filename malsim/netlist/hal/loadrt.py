"""HAL's loadrt: threads with their periods, and components under the names their instances have."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.hal.parts import hal_instance
from malsim.netlist.language.lexicon import LIMITS
from malsim.netlist.language.statements import End, Load, Set, Thread, Wire
from malsim.netlist.language.values import exact, number
from ops import OpError
from ops.pin.words import words

if TYPE_CHECKING:
    from malsim.netlist.hal.state import HalText
    from ops.pin.words import Component

_COUNTS = ("count", "num_chan")
_LISTS = {"cfg", "config", "depth", "personality", "wsum_sizes", "step_type"}  # one word an instance
NANO = 1e-9
LEAST_PERIOD = 1.0  # ns
PERIOD = 1e6  # ns, HAL's own default


def loadrt(text: HalText, line: list[str]) -> None:
    name, *rest = line or [""]
    arguments = {key: value.strip('"') for key, _, value in (word.partition("=") for word in rest)}
    if name == "threads":
        _threads(text, arguments)
        return
    component = words().get(name)
    if component is None:
        hint = nearest(name, words(), "malsim op lists the palette")
        text.fault(name, "this component has no op here", hint=hint)
        return
    allowed = ["count", "names", *component.arguments]
    if unknown := [key for key in arguments if key not in allowed]:
        text.fault(unknown[0], f"{name} takes no such argument", allowed=" ".join(allowed))
    elif "names" in arguments and any(key in arguments for key in _COUNTS):
        text.fault("names", "give names or a count, not both")
    elif _count(component, arguments) + len(text.instances) > LIMITS["instances"] and "names" not in arguments:
        text.fault(name, "too many instances", allowed=f"at most {LIMITS['instances']} of a text")
    elif component.most and len(_names(component, arguments)) > component.most:
        text.fault(name, "too many instances", allowed=f"at most {component.most} of {name}")
    else:
        for index, instance in enumerate(_names(component, arguments)):
            _instance(text, component, instance, {key: _own(key, value, index) for key, value in arguments.items()})


def _threads(text: HalText, arguments: dict[str, str]) -> None:
    """Declare the threads: the first is the base thread (every tick); the others run at every nth tick, by period."""
    for index in range(1, 4):
        period = number(arguments.get(f"period{index}", "")) or (PERIOD if index == 1 else None)
        if period is None:
            continue
        name = arguments.get(f"name{index}", f"thread{index}")
        if not LEAST_PERIOD <= period < math.inf:
            text.fault(name, "no period of a thread", allowed="1 ns or more")
            continue
        if text.period and period * NANO < text.period * (1 - NANO):
            text.fault(name, "the first thread is the fastest", hint="name it first")
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


def _own(key: str, value: str, place: int) -> str:
    if key not in _LISTS:
        return value
    parts = value.split(",")
    return parts[min(place, len(parts) - 1)]


def _instance(text: HalText, component: Component, name: str, arguments: dict[str, str]) -> None:
    if name in text.instances:
        text.fault(name, "an instance of this name is loaded already")
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
