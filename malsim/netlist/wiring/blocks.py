"""Blocks: `addf NAME tick` inlines the wiring of NAME.malnet and prefixes its names with NAME."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import ops
from malsim.base.errors import AddressError
from malsim.netlist.language.address import Call, Pin, Reduced, address
from malsim.netlist.language.facts import instances as names_of
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import COMPILED, LIMITS
from malsim.netlist.language.parse import parse
from malsim.netlist.language.statements import Blank, Document, End, Load, Schedule, Set, Thread, Wire
from ops import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.netlist.language.address import Address, Constant
    from malsim.netlist.language.statements import Statement
    from ops import Sheet

LONGEST = 64
_DERIVED = re.compile(r"[a-z_]+-derived-[a-z0-9-]+")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def added_names(statements: Iterable[Statement]) -> list[str]:
    statements = list(statements)
    instances = {name for statement in statements if isinstance(statement, Load) for name in names_of(statement)}
    added = [statement.op for statement in statements if isinstance(statement, Schedule) and not statement.options]
    names = [name for name in dict.fromkeys(added) if name not in instances and name not in COMPILED]
    return [name for name in names if len(name) <= LONGEST and _NAME.fullmatch(name)]


@cache
def shipped(name: str) -> Document | None:
    """Return a block that ships with malsim, or None if there is no such block."""
    file = resources.files("malsim.netlist") / "shipped" / f"{name}.malnet"
    return parse(file.read_bytes(), file=f"{name}.malnet") if file.is_file() else None


def inlined(document: Document, palette: Callable[[str], Sheet] | None = None) -> tuple[Document, list[Fault]]:
    """Inline the wiring of all blocks. Return the resulting document and the faults of the blocks.

    A name is looked up as an instance, an op, a block in the same folder and a shipped block, in this order. Instances and
    signals of a block become `NAME.instance` and `NAME.signal`; its functions run one after the other, in the block's order.
    """
    faults: list[Fault] = []
    statements = _inline(document, document, palette or ops.load, faults, ())
    while providers := owners_needed(statements):
        schedules = [Schedule(op=name, thread="tick") for name in providers]
        before = _inline(replace(document, statements=tuple(schedules)), document, palette or ops.load, faults, ())
        statements = [*before, *statements]
    return replace(document, statements=tuple(statements)), faults


@cache
def providers() -> dict[str, str]:
    """Map each derived value that a shipped signal owns, such as `cell-derived-trust`, to the name of that signal."""
    folder = resources.files("malsim.netlist") / "shipped"
    names = sorted(file.name.removesuffix(".malnet") for file in folder.iterdir() if file.name.endswith(".malnet"))
    blocks = {name: block for name in names if (block := shipped(name))}
    return {value: name for name, block in blocks.items() for value in _derived_values(block.statements, write=True)}


def owners_needed(statements: Iterable[Statement]) -> list[str]:
    """Return the shipped signals that own a derived value which these statements read but do not write."""
    statements = list(statements)
    missing = set(read := _derived_values(statements, write=False)) - set(_derived_values(statements, write=True))
    owners = providers() if missing else {}
    return list(dict.fromkeys(owners[value] for value in read if value in missing and value in owners))


def _derived_values(statements: Iterable[Statement], *, write: bool) -> list[str]:
    values = []
    for wire in (statement for statement in statements if isinstance(statement, Wire)):
        for end in wire.ends:
            if (_DERIVED.fullmatch(end.address) is not None and end.role != "writes") == write:
                values += _DERIVED.findall(end.address)
    return values


def _inline(
    document: Document, top: Document, palette: Callable[[str], Sheet], faults: list[Fault], within: tuple[str, ...]
) -> list[Statement]:
    blocks = {name: block for name in added_names(document.statements) if (block := _block(name, top, palette))}
    if not blocks:
        return list(document.statements)
    wiring: list[Statement] = []
    rest: list[Statement] = []
    names: set[str] = set()
    for statement in document.statements:
        block = blocks.get(statement.op) if isinstance(statement, Schedule) else None
        if not isinstance(statement, Schedule) or block is None:
            rest.append(statement)
        elif statement.op in within or len(within) >= LIMITS["depth"]:
            faults.append(Fault.at(statement, statement.op, "a block must not contain itself", hint="remove this line"))
        elif statement.op in names:
            faults.append(Fault.at(statement, statement.op, "this block has already been added", hint="keep one line"))
        else:
            names.add(statement.op)
            inner = _inline(block, top, palette, faults, (*within, statement.op))
            prefixed, functions = _prefix(statement, inner, faults)
            wiring += prefixed
            rest += functions
    return [*wiring, *rest]


def _block(name: str, top: Document, palette: Callable[[str], Sheet]) -> Document | None:
    try:
        palette(name)
    except OpError:
        return top.blocks.get(name) or shipped(name)
    return None


def _prefix(
    schedule: Schedule, statements: Sequence[Statement], faults: list[Fault]
) -> tuple[list[Statement], list[Statement]]:
    """Return the wiring and the functions of a block, with all names prefixed by the name of the block."""
    block, added = schedule.op, added_names(statements)
    names = set(added) | {name for statement in statements if isinstance(statement, Load) for name in names_of(statement)}
    signals = {statement.signal for statement in statements if isinstance(statement, Wire)}
    wiring: list[Statement] = [Load(op=name, names=(f"{block}.{name}",)) for name in added]
    functions: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Load):
            wiring.append(replace(statement, names=tuple(f"{block}.{name}" for name in names_of(statement)), count=None))
        elif isinstance(statement, Wire):
            ends = tuple(End(_prefixed_text(end.address, block, names), end.role) for end in statement.ends)
            wiring.append(replace(statement, signal=f"{block}.{statement.signal}", ends=ends))
        elif isinstance(statement, Set):
            is_signal = statement.address in signals
            where = f"{block}.{statement.address}" if is_signal else _prefixed_text(statement.address, block, names)
            wiring.append(replace(statement, address=where))
        elif (
            isinstance(statement, Schedule)
            and not statement.options
            and statement.thread == "tick"
            and statement.position is None
        ):
            position = schedule.position
            position = position + len(functions) if position is not None and position > 0 else position
            functions.append(replace(statement, op=f"{block}.{statement.op}", thread=schedule.thread, position=position))
        elif not isinstance(statement, Blank):
            hint = "write only loadrt, net, setp and plain addf … tick in a block"
            kind = "threads" if isinstance(statement, (Thread, Schedule)) else "cells"
            faults.append(Fault.at(statement, "", f"the block {block} must not contain {kind}", hint=hint))
    return wiring, functions


def _prefixed_text(text: str, block: str, names: set[str]) -> str:
    try:
        where = address(text)
    except AddressError:
        return text
    prefixed = _prefixed(where, block, names)
    return text if prefixed == where else str(prefixed)


def _prefixed(where: Address | Constant, block: str, names: set[str]) -> Any:
    if isinstance(where, Pin):
        return replace(where, instance=f"{block}.{where.instance}") if where.instance in names else where
    if isinstance(where, Reduced):
        return replace(where, inner=_prefixed(where.inner, block, names))
    if isinstance(where, Call):
        return replace(where, arguments=tuple(_prefixed(argument, block, names) for argument in where.arguments))
    return where
