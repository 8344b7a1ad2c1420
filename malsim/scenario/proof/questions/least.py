"""Least value of a setting at which a property is proved: two neighbours, refuted at one and proved at the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.netlist.engine.engine import DAY
from malsim.netlist.language.address import Pin
from malsim.scenario.proof.prove import prove
from ops import OpError
from ops.pin.units import convert, is_time, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.proof import Proof

STEPS = 10  # halvings of a range of reals


@dataclass(frozen=True)
class Least:
    """Two neighbouring values of a setting, in its unit: below, the property is refuted, and above it is proved.

    Nothing is said of values outside the two, as a property need not hold from some value on.
    """

    name: str
    unit: str
    below: float | None
    above: float
    refuted: Proof | None
    proved: Proof

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        lines = [f"{self.name} = {self.above:.6g}{unit}: {self.proved.verdict}: {self.proved.text}"]
        if self.refuted is not None:
            lines.append(f"{self.name} = {self.below:.6g}{unit}: {self.refuted}")
        return "\n".join(lines)


def least(
    net: Net, text: str, name: str, ends: tuple[str, str], *, assume: Sequence[str] = (), ticks: int = 40,
    timeout: float = 60.0, tick: float = DAY,
) -> Least:  # fmt: skip
    """Find the least proved setting between two values.

    Parameters
    ----------
    name
        A pin or parameter that nothing feeds: `weak.level`.
    ends
        The lowest and the highest value to try, as `setp` takes them: whole numbers one by one, times in whole ticks,
        reals to a thousandth of the range.
    timeout
        Seconds for each proof.

    Raises
    ------
    UsageError
        No such setting, or a property that is not proved at the highest.
    """
    instance, _, pin = name.partition(".")
    if (
        instance not in net.instances
        or pin not in net.instances[instance].sheet.slots
        or str(Pin(instance, pin)) in net.pins
    ):
        settings = " ".join(f"{one}.{key}" for one, each in net.instances.items() for key in each.settings)
        raise UsageError("no setting of this name that nothing feeds", given=name, allowed=settings)
    slot = net.instances[instance].sheet.slots[pin].pin
    step = 1.0 if slot.type == "int" else convert(tick, given="ms", to=slot.unit) if is_time(slot.unit) else 0.0

    def at(value: float) -> Proof:
        return prove(
            _with(net, instance, pin, value, slot.unit), text, assume=assume, ticks=ticks, timeout=timeout, tick=tick
        )

    try:
        first, last = (number(end, unit=slot.unit, where=name) for end in ends)
    except OpError as error:
        raise UsageError(error.problem, where=name, given=error.given) from error
    step = step or (last - first) / 2**STEPS
    proof = at(last)
    if not first < last or not proof.result.startswith("proved"):
        raise UsageError(
            "a range rises, to a value at which the property is proved", given=f"{':'.join(ends)}: {proof.verdict}"
        )
    if (refutation := at(first)).result.startswith("proved"):
        return Least(name, slot.unit, None, first, None, refutation)
    return _halved(at, name, slot.unit, (first, refutation), (last, proof), step)


def _halved(
    at: Callable[[float], Proof], name: str, unit: str, below: tuple[float, Proof], above: tuple[float, Proof], step: float
) -> Least:
    """Bisect in whole steps until one step is left."""
    start, steps = below[0], round((above[0] - below[0]) / step)
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        value = start + middle * step
        proof = at(value)
        if proof.result.startswith("proved"):
            high, above = middle, (value, proof)
        else:
            low, below = middle, (value, proof)
    return Least(name, unit, below[0], above[0], below[1], above[1])


def _with(net: Net, instance: str, pin: str, value: float, unit: str) -> Net:
    one = net.instances[instance]
    text = f"{value:.17g}{unit if is_time(unit) else ''}"
    if one.sheet.slots[pin].pin.type == "int":
        text = str(round(value))
    return replace(net, instances={**net.instances, instance: replace(one, settings={**one.settings, pin: text})})
