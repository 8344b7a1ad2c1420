"""Names of pins as LinuxCNC spells them, next to the names in the net."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.netlist.hal.parts import HalInstance


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
