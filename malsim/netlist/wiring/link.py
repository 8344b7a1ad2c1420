"""Linking of statements to a net, with a fault for every unknown name, wrong type or wrong arrow."""

from __future__ import annotations

from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.language.address import Call, Pin, Reduced
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.parse import undeclared_threads
from malsim.netlist.language.statements import Document, Source, Wire
from malsim.netlist.wiring.blocks import inlined
from malsim.netlist.wiring.instances import instances, programs, threads
from malsim.netlist.wiring.links import documents, signals
from malsim.netlist.wiring.net import Net, derived_name, leaves
from malsim.netlist.wiring.settings import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring.net import Signal
    from ops import Sheet


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
        writers = [net.signals[reached].writer for reached in names]
        instances = {writer.pin.instance for writer in writers if writer and writer.pin}
        more = {signal.name for signal in net.signals.values() if _reads_of(signal) & instances} - names
        if not more:
            return names
        names = set(net.fed_by([*names, *more]))


def _reads_of(signal: Signal) -> set[str]:
    where = signal.writer.address if signal.writer else None
    if not isinstance(where, (Call, Reduced)):
        return set()
    return {leaf.instance for leaf in leaves(where) if isinstance(leaf, Pin)}


def link(document: Document, palette: Callable[[str], Sheet] | None = None) -> Net:
    r"""Link a netlist's wiring against a palette of ops.

    Parameters
    ----------
    document
        What was parsed or read.
    palette
        The data sheet of an op by its name, raising `ops.OpError` for an unknown one; the shipped palette by default.

    Raises
    ------
    NetlistError
        With every fault: unknown ops, pins and signals, a pin on two signals, two writers, types and arrows that
        contradict, values out of bounds, functions added twice.

    >>> from malsim.netlist import parse
    >>> net = link(parse("loadrt watch names=weak\nloadrt latch\nnet low weak.below > latch.set\naddf weak tick"))
    >>> net.signals["low"].type, net.threads[0].functions
    ('bit', ('weak',))
    """
    net, faults = linked(document, palette)
    if faults:
        raise NetlistError(faults)
    return net


def linked(document: Document, palette: Callable[[str], Sheet] | None = None) -> tuple[Net, list[Fault]]:
    import ops

    document, faults = inlined(document, palette)
    statements = document.statements
    faults += [*undeclared_threads(statements), *_unread(statements)]
    by_name = instances(statements, palette or ops.load, faults)
    by_signal = signals(statements, by_name, faults)
    standing = programs(statements, faults)
    program_names = {program.op for program in standing} - set(by_name)
    values = settings(statements, by_name, by_signal, program_names, faults)
    order = threads(statements, by_name, faults)
    net = Net(
        instances={
            name: replace(instance, settings=values.pins.get(name, {})) for name, instance in by_name.items() if instance
        },
        signals=by_signal,
        threads=order,
        programs=standing,
        settings_of_programs={name: values.pins.get(name, {}) for name in program_names},
        initial=values.initial,
        flags=tuple(values.flags),
        documented=tuple(wire for wire in statements if isinstance(wire, Wire) and documents(wire)),
    )
    faults += derived_faults(net)
    return net, sorted(faults, key=lambda fault: (fault.file != document.name, fault.file, fault.line, fault.column))


def _unread(statements: Iterable[Statement]) -> Iterator[Fault]:
    for statement in statements:
        if isinstance(statement, Source):
            hint = "read the file with malsim.netlist.read, which follows what it sources"
            yield Fault.at(statement, statement.path, "this file was not read", hint=hint)
