"""Comparison of two nets on the same inputs, which can prove that their outputs never differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.netlist.language.address import Pin
from malsim.scenario.proof.ticks.cut import Cut, cut

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.wiring import Link, Net, Signal

OTHER = "other-"


def beside(one: Net, other: Net) -> Cut:
    """Join both nets into one; the second's names begin with `other-`, except those of inputs that both have.

    Inputs are one where the same cell, pin of the loop or, for what nothing writes, name feeds them.
    """
    first, second = cut(one), cut(other)
    names = {item.source or item.name: item.name for item in first.inputs}
    shared = {item.name: names[key] for item in second.inputs if (key := item.source or item.name) in names}
    signals = dict(first.net.signals)
    for name, signal in second.net.signals.items():
        copy = replace(signal, name=shared.get(name, OTHER + name), links=tuple(map(_renamed, signal.links)))
        old = signals.get(copy.name)
        signals[copy.name] = replace(old, links=(*old.links, *copy.links)) if old else copy
    instances = {OTHER + name: replace(item, name=OTHER + name) for name, item in second.net.instances.items()}
    threads = [replace(item, functions=tuple(OTHER + name for name in item.functions)) for item in second.net.threads]
    both = replace(
        first.net,
        instances={**first.net.instances, **instances},
        signals=signals,
        threads=(*first.net.threads, *threads),
        initial={**first.net.initial, **{OTHER + name: value for name, value in second.net.initial.items()}},
    )
    own = [replace(item, name=OTHER + item.name) for item in second.inputs if item.name not in shared]
    return Cut(both, (*first.inputs, *own))


def _renamed(link: Link) -> Link:
    pin = link.address
    return replace(link, address=Pin(OTHER + pin.instance, pin.name)) if isinstance(pin, Pin) else link


def leaving(net: Net) -> tuple[str, ...]:
    """Return the signals that act outside the net, or that no op reads: alarms, flags, pins of the loop, read-outs."""
    inner = {name: item for name, item in net.signals.items() if item.writer and _within(item.writer, net)}
    alarms = {signal.name for signal in net.alarms}
    return tuple(
        name
        for name, item in inner.items()
        if name in alarms or not item.readers or any(not _within(link, net) for link in item.readers)
    )


def _within(link: Link, net: Net) -> bool:
    return isinstance(link.address, Pin) and link.address.instance in net.instances


def same(one: Net, other: Net) -> str:
    """Return the property that both nets' outputs of the same name are equal.

    Raises
    ------
    UsageError
        Where nothing of one name leaves them.
    """
    names = [name for name in leaving(one) if name in leaving(other)]
    if not names:
        given = f"{' '.join(leaving(one))} and {' '.join(leaving(other))}"
        raise UsageError("these netlists have no output of one name", given=given, hint="name what is to be compared alike")
    return f"always ({' and '.join(f'{name} == {OTHER}{name}' for name in names)})"


def stuck(net: Net, signals: Iterable[str]) -> Net:
    """Return the net with signals stuck at their first value."""
    initial: dict[str, float | bool] = dict(net.initial)
    changed: dict[str, Signal] = dict(net.signals)
    for name in signals:
        signal = net.signals[name]
        initial.setdefault(name, _first(net, signal))
        changed[name] = replace(signal, links=signal.readers)
    return replace(net, signals=changed, initial=initial)


def _first(net: Net, signal: Signal) -> float | bool:
    pin = signal.writer.address if signal.writer else None
    if isinstance(pin, Pin) and pin.instance in net.instances:
        return net.instances[pin.instance].sheet.slots[pin.name].pin.first
    return 0.0
