"""Linker that turns statements into a net, with a fault for every unknown name, wrong type, wrong value and wrong arrow."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import ops
from malsim.base.errors import AddressError, nearest
from malsim.netlist.language.address import Call, Name, Path, Pin, Reduced, address
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.lexicon import FLAGS
from malsim.netlist.language.parse import undeclared_threads
from malsim.netlist.language.statements import Document, Set, Source, Wire
from malsim.netlist.language.values import bit, handle, number
from malsim.netlist.wiring.blocks import inlined
from malsim.netlist.wiring.instances import instances, programs, threads
from malsim.netlist.wiring.links import documents, signals
from malsim.netlist.wiring.net import Net, derived_name, leaves
from ops import OpError
from ops.pin import Out
from ops.pin.binding import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring.net import Instance, Signal
    from ops import Sheet


def link(document: Document, palette: Callable[[str], Sheet] | None = None) -> Net:
    r"""Link the wiring of a netlist and return the net. Raise `NetlistError` with every fault.

    `palette` returns the data sheet of an op by name, or raises `ops.OpError`; by default it is the shipped palette.

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
    document, faults = inlined(document, palette)
    statements = document.statements
    hint = "read the file with malsim.netlist.read, which also reads the files it sources"
    sources = (statement for statement in statements if isinstance(statement, Source))
    faults += undeclared_threads(statements)
    faults += [Fault.at(statement, statement.path, "this file was not read", hint=hint) for statement in sources]
    by_name = instances(statements, palette or ops.load, faults)
    by_signal = signals(statements, by_name, faults)
    by_tick = programs(statements, faults)
    program_names = {program.op for program in by_tick} - set(by_name)
    values = settings(statements, by_name, by_signal, program_names, faults)
    order = threads(statements, by_name, faults)
    net = Net(
        instances={
            name: replace(instance, settings=values.pins.get(name, {})) for name, instance in by_name.items() if instance
        },
        signals=by_signal,
        threads=order,
        programs=by_tick,
        settings_of_programs={name: values.pins.get(name, {}) for name in program_names},
        initial=values.initial,
        flags=tuple(values.flags),
        documented=tuple(wire for wire in statements if isinstance(wire, Wire) and documents(wire)),
    )
    faults += derived_faults(net)
    return net, sorted(faults, key=lambda fault: (fault.file != document.name, fault.file, fault.line, fault.column))


def derived_faults(net: Net) -> Iterator[Fault]:
    """Yield a fault for every derived value that is read but has no owner, and for derived values that form a cycle."""
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
        TopologicalSorter(_sources_of_derived(net)).prepare()
    except CycleError as error:
        ring: list[str] = error.args[1]
        names = {signal.name: name for name, signal in owners.items()}
        ring_text = " > ".join(names.get(name, name) for name in reversed(ring))
        first = next((owners[names[name]] for name in ring if name in names), net.signals[ring[0]])
        link = next(link for link in first.readers if derived_name(link.address))
        hint = "read it a tick later from a field of the cell, or leave one of them out"
        yield Fault.at(link.statement, link.word, f"this value depends on itself: {ring_text}", hint=hint)


def _sources_of_derived(net: Net) -> dict[str, set[str]]:
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
    """Return all signals that depend on a signal, directly or through ops, reducers and functions."""
    writers = {signal: end.writer.address for signal, end in net.signals.items() if end.writer}
    computed = {signal: where for signal, where in writers.items() if isinstance(where, (Call, Reduced))}
    moved = set(net.fed_by([name]))
    while True:
        ends = (net.signals[signal].writer for signal in moved)
        instances = {end.pin.instance for end in ends if end and end.pin}
        more = {
            signal
            for signal, where in computed.items()
            if any(isinstance(leaf, Pin) and leaf.instance in instances for leaf in leaves(where))
        } - moved
        if not more:
            return moved
        moved = set(net.fed_by([*moved, *more]))


_FLAGS = {(name,) for name in (*FLAGS, *FLAGS.values())}


@dataclass(frozen=True)
class Settings:
    """Settings of a netlist: pin values per instance or standing program, initial signal values, and cell flags."""

    pins: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    initial: dict[str, float | bool] = field(default_factory=dict)
    flags: list[Set] = field(default_factory=list)


def settings(
    statements: Iterable[Statement],
    instances: Mapping[str, Instance | None],
    signals: Mapping[str, Signal],
    programs: Collection[str],
    faults: list[Fault],
) -> Settings:
    """Collect the settings of a netlist. If a pin or signal is set more than once, the last assignment counts.

    Settings of standing programs are not checked.
    """
    result = Settings()
    links = ((link.address, signal.name) for signal in signals.values() for link in signal.links)
    signal_of = {where: name for where, name in links if isinstance(where, Pin)}
    for statement in statements:
        if isinstance(statement, Set) and statement.address.partition(".")[0] in programs:
            name, _, setting = statement.address.partition(".")
            result.pins[name][setting] = statement.value
        elif isinstance(statement, Set):
            try:
                _set(statement, instances, signals, signal_of, result)
            except (AddressError, OpError) as error:
                allowed, hint = error.allowed or "", error.hint or ""
                word = statement.value if isinstance(error, OpError) else statement.address
                faults.append(Fault.at(statement, word, error.problem, allowed=allowed, hint=hint))
    return result


def _set(
    statement: Set,
    instances: Mapping[str, Instance | None],
    signals: Mapping[str, Signal],
    signal_of: Mapping[Pin, str],
    result: Settings,
) -> None:
    where = address(statement.address)
    if isinstance(where, Pin) and str(where) in signals:  # a name with a period can be a signal of a block, BLOCK.SIGNAL
        where = Name(str(where))
    if isinstance(where, Pin):
        if where in signal_of:
            raise AddressError("a wired pin is set by its signal", hint=f"remove the pin from the net {signal_of[where]}")
        _pin(statement, where, instances, result)
    elif isinstance(where, Name):
        result.initial[where.text] = _signal(statement, where, signals)
    elif isinstance(where, Path):
        result.flags.append(_flag(statement, where))
    else:
        raise AddressError("only a pin, a parameter, a signal or a flag of a cell can be set")


def _pin(statement: Set, where: Pin, instances: Mapping[str, Instance | None], result: Settings) -> None:
    if where.instance not in instances:
        hint = nearest(where.instance, instances, f"load it: loadrt OP names={where.instance}")
        raise AddressError("no such instance", hint=hint)
    instance = instances[where.instance]
    if instance is None:
        return
    slot = instance.sheet.slots.get(where.name)
    if slot is not None and isinstance(slot.pin, Out):
        raise AddressError("an output cannot be set", hint="set an input or a parameter")
    if slot is None and not any(name.rpartition("-")[0] == where.name for name in instance.sheet.slots):
        inputs = [name for name, entry in instance.sheet.slots.items() if not isinstance(entry.pin, Out)]
        problem = f"{instance.sheet.name} has no such pin or parameter"
        raise AddressError(problem, allowed=" ".join(inputs[:40]), hint=nearest(where.name, inputs))
    bind(instance.sheet, {where.name: statement.value})
    result.pins[where.instance][where.name] = statement.value


def _signal(statement: Set, where: Name, signals: Mapping[str, Signal]) -> float | bool:
    signal = signals.get(where.text)
    if signal is None:
        raise AddressError("no such signal", hint=nearest(where.text, signals))
    if signal.writer is not None:
        raise AddressError("a signal with a writer cannot be set", hint=f"set its writer: {signal.writer.word}")
    value = bit(statement.value) if signal.type == "bit" else number(statement.value)
    if value is None or (signal.type == "int" and not float(value).is_integer()):
        raise OpError("not an int" if signal.type == "int" else f"not a {signal.type}")
    return value


def _flag(statement: Set, where: Path) -> Set:
    if where.hops or where.fields[:1] != ("flags",) or where.fields[1:] not in _FLAGS:
        allowed = " ".join(f"{where.handle}-flags-{flag}" for flag in FLAGS)
        raise AddressError("only the flags of a cell can be set", allowed=allowed)
    if where.version is not None:
        hint = f"use the handle of {where.handle}@v{where.version}"
        raise AddressError("a flag cannot be set through a version", hint=hint)
    if handle(where.handle, short=True).immutable:
        raise AddressError("an immutable cell cannot be changed")
    if bit(statement.value) is None:
        raise OpError("not a bit", allowed="true or false")
    return statement
