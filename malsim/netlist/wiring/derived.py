"""Derived values: each has one owner, every reader finds it, and none is worked out from itself."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.language.address import Call, Pin, Reduced
from malsim.netlist.language.faults import Fault
from malsim.netlist.wiring.net import derived_name, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.wiring.net import Net, Signal


def derived_faults(net: Net) -> Iterator[Fault]:
    """Yield a fault for every derived value that is read and has no owner, and for one that follows from itself."""
    owners = net.derived
    for signal in net.signals.values():
        for name in signal.derived_reads:
            if signal.writer and name not in owners:
                link = signal.writer
                value = name.replace("-", "-derived-", 1)
                hint = nearest(name, owners, f"write it: net NAME op.out > {value}, or see malsim signals")
                allowed = " ".join(sorted(owners))
                yield Fault.at(link.statement, link.word, f"no signal owns {name}", allowed=allowed, hint=hint)
    try:
        TopologicalSorter(_moves(net)).prepare()
    except CycleError as error:
        ring: list[str] = error.args[1]
        names = {signal.name: name for name, signal in owners.items()}
        ring_text = " > ".join(names.get(name, name) for name in reversed(ring))
        first = next((owners[names[name]] for name in ring if name in names), net.signals[ring[0]])
        link = next(link for link in first.readers if derived_name(link.address))
        hint = "read it a tick later from a field of the cell, or leave one of them out"
        yield Fault.at(link.statement, link.word, f"this value follows from itself: {ring_text}", hint=hint)


def _moves(net: Net) -> dict[str, set[str]]:
    """Map each derived value, and each signal that reads one, to its source signals; omit loops of ops alone."""
    owners = net.derived
    sources: dict[str, set[str]] = {}
    for signal in net.signals.values():
        reads = {owners[name].name for name in signal.derived_reads if name in owners}
        if reads:
            sources.setdefault(signal.name, set()).update(reads)
            for follower in _followers(net, signal.name) - {signal.name}:
                sources.setdefault(follower, set()).add(signal.name)
    return sources


def _followers(net: Net, name: str) -> set[str]:
    names = set(net.fed_by([name]))
    while True:
        writers = [net.signals[one].writer for one in names]
        instances = {writer.pin.instance for writer in writers if writer and writer.pin}
        more = {one.name for one in net.signals.values() if _reads_of(one) & instances} - names
        if not more:
            return names
        names = set(net.fed_by([*names, *more]))


def _reads_of(signal: Signal) -> set[str]:
    where = signal.writer.address if signal.writer else None
    if not isinstance(where, (Call, Reduced)):
        return set()
    return {leaf.instance for leaf in leaves(where) if isinstance(leaf, Pin)}
