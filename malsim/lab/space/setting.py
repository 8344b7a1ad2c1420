"""Setting that a study can change: a bounded number, a choice, or a parameter of an op in a netlist."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError
from malsim.netlist import parse
from ops.pin.declare import bound
from ops.pin.units import is_time, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.netlist.wiring.net import Instance
    from malsim.sim.settings.netlist_config import NetlistConfig
    from ops.pin.declare import Pin


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Number or choice with its current value, unit, and bounds or choices. With `above`, the bound `low` is excluded."""

    name: str
    value: Any
    unit: str = "1"
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        if self.choices:
            return ", ".join(self.choices)
        above = f"above {self.low:g}" + (f", at most {self.high:g}" if math.isfinite(self.high) else "")
        ends = above if self.above else f"{self.low:g} to {self.high:g}"
        return f"{'whole, ' if self.whole else ''}{ends}"

    def checked(self, value: object, *, where: str = "settings") -> Any:
        """Convert a value to the setting's type. Raises `UsageError` if it has the wrong type or is out of bounds."""
        plain: Any = value.item() if isinstance(value, np.generic) else value
        if self.choices:
            good = plain in self.choices
        else:
            good = isinstance(plain, (int, float)) and not isinstance(plain, bool)
            good = good and self.holds(float(plain)) and (not self.whole or float(plain).is_integer())
        if not good:
            raise UsageError(
                "not a valid value of this setting", where=f"{where}: {self.name}", given=value, allowed=self.allowed
            )
        return plain if self.choices else int(plain) if self.whole else float(plain)

    def holds(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high


def op_settings(wires: NetlistConfig) -> Iterator[Setting]:
    """Yield the numeric settings of a netlist's ops, named `netlist.INSTANCE.PIN`. Times are in the op's own unit.

    These are the ops' parameters and the inputs to which the netlist assigns a value, such as the level of a watch.
    """
    for name, instance in wires.net.instances.items():
        for key, slot in instance.sheet.slots.items():
            settable = slot.key in instance.sheet.params or key in instance.settings
            if settable and slot.pin.type in {"int", "float"}:
                setting = _setting(f"netlist.{name}.{key}", key, instance, slot.pin)
                if setting.low < setting.high:  # skip the parameters that a preset op fixes
                    yield setting


def with_op_settings(wires: NetlistConfig, tables: Mapping[str, Mapping[str, Any]]) -> NetlistConfig:
    """Return the netlist with changed op settings. `tables` maps each instance to its parameters' new values."""
    lines = []
    for name, values in tables.items():
        for key, value in values.items():
            unit = wires.net.instances[name].sheet.slots[key].pin.unit
            lines.append(f"setp {name}.{key} {format(Decimal(repr(value)), 'f')}{unit if is_time(unit) else ''}")
    more = parse("\n".join(lines)).statements
    document = replace(wires.document, statements=(*wires.document.statements, *more))
    return replace(wires, document=document)


def _setting(name: str, key: str, instance: Instance, pin: Pin) -> Setting:
    given = instance.settings.get(key)
    value = pin.first if given is None else number(given, unit=pin.unit, where=name)
    low, high = bound(pin, "low"), bound(pin, "high")
    return Setting(
        name=name,
        value=int(value) if pin.type == "int" else float(value),
        unit=pin.unit,
        low=-math.inf if math.isnan(low) else low,
        high=math.inf if math.isnan(high) else high,
        whole=pin.type == "int",
    )
