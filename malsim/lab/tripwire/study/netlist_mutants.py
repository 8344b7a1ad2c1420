"""Mutants of a netlist, one small fault each: a polarity flipped, a wire dropped, a threshold moved, a latch removed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from malsim.netlist.language.facts import instances
from malsim.netlist.language.lexicon import ALARMS
from malsim.netlist.language.statements import Document, Load, Set, Wire
from malsim.netlist.language.values import days, number
from malsim.netlist.wiring import linked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.language.statements import End, Statement
    from malsim.netlist.wiring import Net

OPPOSITE = {"above": "below", "below": "above", "out": "out-not", "out-not": "out", "rose": "fell", "fell": "rose"}
DUAL = {f"{one}{size}": f"{other}{size}" for size in range(2, 6) for one, other in (("and", "or"), ("or", "and"))}
FACTORS = (0.8, 1.2)


@dataclass(frozen=True)
class Mutant:
    """A netlist with one fault in it: its kind, the change in words, and the line where."""

    kind: str
    what: str
    line: int
    document: Document


def mutants(document: Document, net: Net) -> list[Mutant]:
    """Return every mutant that still links."""
    kinds = (_polarities, _missing_wires, _thresholds, _missing_latches)
    return [one for kind in kinds for one in kind(document, net) if not linked(one.document)[1]]


def _with(document: Document, old: Statement, *new: Statement) -> Document:
    statements: list[Statement] = []
    for statement in document.statements:
        statements += new if statement is old else [statement]
    return replace(document, statements=tuple(statements))


def _wires(document: Document, net: Net) -> Iterator[tuple[Wire, int, str, str]]:
    """Yield each end of a wire that is a pin: wire, position of the end, instance, pin."""
    for statement in document.statements:
        for index, end in enumerate(statement.ends if isinstance(statement, Wire) else ()):
            owner, _, pin = end.address.rpartition(".")
            if owner in net.instances and pin in net.instances[owner].sheet.slots:
                yield statement, index, owner, pin  # type: ignore[misc]  # a statement with ends is a wire


def _ends(wire: Wire, place: int, *end: End) -> Wire:
    return replace(wire, ends=(*wire.ends[:place], *end, *wire.ends[place + 1 :]))


def _polarities(document: Document, net: Net) -> Iterator[Mutant]:
    for wire, index, owner, pin in _wires(document, net):
        if pin in OPPOSITE and OPPOSITE[pin] in net.instances[owner].sheet.slots:
            other = f"{owner}.{OPPOSITE[pin]}"
            mutant = _with(document, wire, _ends(wire, index, replace(wire.ends[index], address=other)))
            yield Mutant("polarity", f"{wire.signal} from {other} instead of {owner}.{pin}", wire.line, mutant)
    for load in document.statements:
        if isinstance(load, Load) and load.op in DUAL:
            mutant = _with(document, load, replace(load, op=DUAL[load.op]))
            yield Mutant("polarity", f"{DUAL[load.op]} for {load.op} {','.join(instances(load))}", load.line, mutant)


def _missing_wires(document: Document, net: Net) -> Iterator[Mutant]:
    for wire, index, owner, pin in _wires(document, net):
        if net.instances[owner].sheet.slots[pin].key in net.instances[owner].sheet.ins:
            rest = _ends(wire, index)
            mutant = _with(document, wire, rest) if rest.ends else _with(document, wire)
            yield Mutant("wire", f"{wire.signal} no longer reaches {owner}.{pin}", wire.line, mutant)


def _thresholds(document: Document, net: Net) -> Iterator[Mutant]:
    """Yield mutants with one numeric setting a fifth lower or higher; a setting of 0 is moved by 0.1."""
    for statement in document.statements:
        if not isinstance(statement, Set):
            continue
        owner, _, pin = statement.address.rpartition(".")
        instance = net.instances.get(owner)
        slot = instance.sheet.slots.get(pin) if instance else None
        is_time = number(statement.value) is None
        value = days(statement.value) if is_time else number(statement.value)
        if slot is None or slot.pin.type != "float" or value is None:
            continue
        for factor in FACTORS:
            text = f"{value * factor if value else factor - 1:.6g}" + ("d" if is_time else "")
            mutant = _with(document, statement, replace(statement, value=text))
            yield Mutant("threshold", f"{owner}.{pin} at {text} instead of {statement.value}", statement.line, mutant)


def _missing_latches(document: Document, net: Net) -> Iterator[Mutant]:
    for load in document.statements:
        if not isinstance(load, Load) or load.op not in ALARMS or "set" not in net.instances[instances(load)[0]].sheet.slots:
            continue
        for name in instances(load):
            others = [one for one in instances(load) if one != name]
            passing = replace(load, op="reflex", names=(name,), count=None, sizes=(("inputs", 1),))
            table = Set(address=f"{name}.table", value="0x2", file=load.file, line=load.line)
            rest = [replace(load, names=tuple(others), count=None)] if others else []
            mutant = _with_gate(_with(document, load, *rest, passing, table), name)
            yield Mutant("latch", f"{name} holds nothing", load.line, mutant)


def _with_gate(document: Document, name: str) -> Document:
    statements: list[Statement] = []
    for statement in document.statements:
        if isinstance(statement, Wire):
            ends = [
                replace(end, address=f"{name}.in-0") if end.address == f"{name}.set" else end
                for end in statement.ends
                if not end.address.startswith(f"{name}.") or end.address in (f"{name}.set", f"{name}.out")
            ]
            statements += [replace(statement, ends=tuple(ends))] if ends else []
        elif not (isinstance(statement, Set) and statement.address.startswith(f"{name}.")) or statement.value == "0x2":
            statements.append(statement)
    return replace(document, statements=tuple(statements))
