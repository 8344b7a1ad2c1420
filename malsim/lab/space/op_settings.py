"""The parameters of a netlist's ops as settings: read off the linked net, changed by one more line of its text each."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from malsim.lab.space.setting import Setting
from malsim.netlist import parse
from ops.pin.declare import bound
from ops.pin.units import is_time, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.netlist.wiring.net import Instance
    from malsim.sim.settings.netlist_config import NetlistConfig
    from ops.pin.declare import Pin


def op_settings(wires: NetlistConfig) -> Iterator[Setting]:
    """Yield the numeric settings of a netlist's ops, named `netlist.INSTANCE.PIN`; times are in the op's own unit.

    These are the ops' parameters, and the inputs that the netlist itself sets, such as the level of a watch.
    """
    for name, instance in wires.net.instances.items():
        for key, slot in instance.sheet.slots.items():
            settable = slot.key in instance.sheet.params or key in instance.settings
            if settable and slot.pin.type in {"int", "float"}:
                one = _setting(f"netlist.{name}.{key}", key, instance, slot.pin)
                if one.low < one.high:  # a preset op holds some of its parameters fast
                    yield one


def with_op_settings(wires: NetlistConfig, tables: Mapping[str, Mapping[str, Any]]) -> NetlistConfig:
    """Return the netlist with other values, by instance and parameter; of repeated settings the last wins."""
    lines = [
        f"setp {name}.{key} {_text(value, wires.net.instances[name].sheet.slots[key].pin.unit)}"
        for name, values in tables.items()
        for key, value in values.items()
    ]
    more = parse("\n".join(lines)).statements
    document = replace(wires.document, statements=(*wires.document.statements, *more))
    return replace(wires, document=document)


def _setting(name: str, key: str, instance: Instance, pin: Pin) -> Setting:
    own = instance.settings.get(key)
    value = pin.first if own is None else number(own, unit=pin.unit, where=name)
    low, high = bound(pin, "low"), bound(pin, "high")
    return Setting(
        name=name,
        value=int(value) if pin.type == "int" else float(value),
        unit=pin.unit,
        low=-math.inf if math.isnan(low) else low,
        high=math.inf if math.isnan(high) else high,
        whole=pin.type == "int",
    )


def _text(value: float, unit: str) -> str:
    """Return a number as a netlist's text takes it: no exponent, a time with its unit."""
    return format(Decimal(repr(value)), "f") + (unit if is_time(unit) else "")
