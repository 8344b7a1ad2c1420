"""Statements to a net: every name known, every pin on one signal, every type and arrow right, or every fault."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.parse import undeclared_threads
from malsim.netlist.language.statements import Document, Source, Wire
from malsim.netlist.wiring.blocks import inlined
from malsim.netlist.wiring.derived import derived_faults
from malsim.netlist.wiring.instances import instances
from malsim.netlist.wiring.links import documents, signals
from malsim.netlist.wiring.net import Net
from malsim.netlist.wiring.settings import settings
from malsim.netlist.wiring.threads import programs, threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from malsim.netlist.language.statements import Statement
    from ops import Sheet


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
        instances={name: replace(one, settings=values.pins.get(name, {})) for name, one in by_name.items() if one},
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
