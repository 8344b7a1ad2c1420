"""HAL's loadrt: threads with their periods, and components under the names their instances have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ops
from malsim.netlist.hal.state import Loaded
from malsim.netlist.statements import Load, Set, Thread
from malsim.netlist.values import number
from ops import OpError
from ops.pin.words import words

if TYPE_CHECKING:
    from malsim.netlist.hal.state import Text
    from ops.pin.words import Component

__all__ = ["loadrt"]

_SINGLE = {"watchdog"}  # its one instance has no number
_COUNTS = ("count", "num_chan")
NANO = 1e-9


def loadrt(text: Text, arguments: list[str]) -> None:
    """Load a component, or make threads."""
    name, *rest = arguments or [""]
    given = dict(word.partition("=")[::2] for word in rest)
    if name == "threads":
        _threads(text, given)
        return
    component = words().get(name)
    if component is None:
        text.lack(name, "no op stands for this component", hint="malsim op lists the palette")
        return
    for instance in _names(component, given):
        _instance(text, component, instance, given)


def _threads(text: Text, given: dict[str, str]) -> None:
    """The first thread is the base, a tick each; the others run at every nth, by their period."""
    for place in range(1, 4):
        name, period = given.get(f"name{place}"), number(given.get(f"period{place}", ""))
        if name is None or period is None:
            continue
        text.period = text.period or period * NANO
        every = max(1, round(period * NANO / text.period))
        text.statements.append(Thread(name, every, file=text.file, line=text.line, comment=text.comment))


def _names(component: Component, given: dict[str, str]) -> list[str]:
    """What HAL calls the instances: as named, or numbered from 0."""
    if "names" in given:
        return given["names"].split(",")
    if component.name in _SINGLE:
        return [component.instance]
    count = next((int(value) for name in _COUNTS if (value := given.get(name, "")).isdecimal()), None)
    if count is None:
        count = len(given["cfg"].split(",")) if "cfg" in given else 1
    return [f"{component.instance}.{place}" for place in range(count)]


def _instance(text: Text, component: Component, name: str, given: dict[str, str]) -> None:
    op, fixed = component.chosen(text.given.get(name, {}))
    sizes = component.sized(given)
    try:
        text.instances[name] = Loaded(component, ops.load(op, **sizes))
    except OpError as error:
        text.lack(component.name, error.problem, hint=error.hint or "")
        return
    made = Load(op, (name,), sizes=tuple(sorted(sizes.items())), file=text.file, line=text.line, comment=text.comment)
    text.statements.append(made)
    for pin, value in fixed.items():
        written = ("true" if value else "false") if isinstance(value, bool) else f"{value:g}"
        text.statements.append(Set(f"{name}.{pin}", written, file=text.file, line=text.line))
