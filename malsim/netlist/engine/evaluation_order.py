"""In which order expressions are worked out, which of them follow an instance, and which it reads."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from malsim.netlist.engine.expressions import is_expression
from malsim.netlist.language.address import Pin
from malsim.netlist.wiring.net import leaves

if TYPE_CHECKING:
    from malsim.netlist.wiring import Net


@dataclass(frozen=True)
class Expressions:
    """The signals that expressions write, those before whose derived values others read.

    By instance, `after` has those that follow its outputs, and `before` those that must be up to date when it is called.
    """

    order: tuple[str, ...]
    after: dict[str, tuple[str, ...]]
    before: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, net: Net) -> Expressions:
        owners = net.derived
        writers = {name: signal for name, signal in net.signals.items() if signal.writer}
        expressions = {name: one for name, one in writers.items() if one.writer and is_expression(one.writer.address)}
        reads = {name: [owners[one] for one in signal.derived_reads] for name, signal in expressions.items()}
        ways = {name: [one.name for one in own if one.name in expressions] for name, own in reads.items()}
        order = tuple(TopologicalSorter(ways).static_order())
        movers: dict[str, set[str]] = {}
        for name in order:
            movers[name] = {leaf.instance for leaf in leaves(expressions[name].writer.address) if isinstance(leaf, Pin)}  # type: ignore[union-attr]
            for owner in reads[name]:
                pin = owner.writer.pin if owner.writer else None
                movers[name] |= movers[owner.name] if owner.name in expressions else {pin.instance} if pin else set()
        after = {instance: tuple(name for name in order if instance in movers[name]) for instance in net.instances}
        read: dict[str, set[str]] = {instance: set() for instance in net.instances}
        for name in reversed(order):
            for link in net.signals[name].readers:
                if link.pin and link.pin.instance in read:
                    read[link.pin.instance].add(name)
            for instance in (one for one, own in read.items() if name in own):
                read[instance].update(ways[name])
        return cls(order, after, {instance: tuple(name for name in order if name in own) for instance, own in read.items()})
