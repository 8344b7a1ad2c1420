"""The Boolean part of a net: the ops fed by bits alone, and the bits that reach it from outside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from malsim.netlist.language.address import Pin
from malsim.netlist.wiring.net import Net

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist.wiring import Instance, Signal

NEVER_BOTH = (("above", "below"), ("rose", "fell"))  # outputs of one op that are never true together


@dataclass(frozen=True)
class Part:
    """Ops fed by bits alone, as a net of their own in which every domain is one.

    Parameters
    ----------
    net
        The ops, the bits between them, the threads that call them.
    inputs
        Bits that something outside writes: a watch, a cell's flag, the loop, whoever feeds the net.
    outputs
        Bits that leave it: read by something outside, or by nobody.
    apart
        Pairs of inputs that are never true together.
    """

    net: Net
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    apart: tuple[tuple[str, str], ...] = ()


def part_of(net: Net) -> Part:
    """Cut the Boolean part out of a net; it may be empty.

    An op belongs to it where every wired input and every wired output is a bit and at least one input is wired.
    """
    pins: dict[str, dict[str, Signal]] = {}
    for signal in net.signals.values():
        for link in signal.links:
            if isinstance(link.address, Pin):
                pins.setdefault(link.address.instance, {})[link.address.name] = signal
    inside = {name: item for name, item in net.instances.items() if _boolean(item, pins.get(name, {}))}
    signals = {
        name: replace(signal, domain="run")
        for name, signal in net.signals.items()
        if signal.type == "bit" and any(_inside(link.address, inside) for link in signal.links)
    }
    inputs = tuple(name for name, signal in signals.items() if _enters(signal, inside, net))
    outputs = tuple(name for name, signal in signals.items() if name not in inputs and _leaves(signal, inside))
    threads = tuple(
        replace(thread, functions=tuple(name for name in thread.functions if name in inside)) for thread in net.threads
    )
    cut = Net(
        instances={name: replace(item, domain="run") for name, item in inside.items()},
        signals=signals,
        threads=threads,
        initial={name: value for name, value in net.initial.items() if name in signals},
    )
    return Part(cut, inputs, outputs, _apart(signals, inputs))


def _boolean(instance: Instance, signals: Mapping[str, Signal]) -> bool:
    """Return whether all signals on an instance's pins are bits and at least one of them is an input's."""
    reads = any(instance.sheet.slots[pin].key in instance.sheet.ins for pin in signals)
    return reads and all(signal.type == "bit" for signal in signals.values())


def _inside(address: object, inside: Mapping[str, Instance]) -> bool:
    return isinstance(address, Pin) and address.instance in inside


def _enters(signal: Signal, inside: Mapping[str, Instance], net: Net) -> bool:
    if signal.writer is None:
        return signal.name not in net.initial
    return not _inside(signal.writer.address, inside)


def _leaves(signal: Signal, inside: Mapping[str, Instance]) -> bool:
    return not signal.readers or any(not _inside(link.address, inside) for link in signal.readers)


def _apart(signals: Mapping[str, Signal], inputs: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    by_pin = {
        (link.address.instance, link.address.name): name
        for name in inputs
        if (link := signals[name].writer) and isinstance(link.address, Pin)
    }
    return tuple(
        (name, by_pin[instance, other])
        for (instance, pin), name in by_pin.items()
        for item, other in NEVER_BOTH
        if pin == item and (instance, other) in by_pin
    )
