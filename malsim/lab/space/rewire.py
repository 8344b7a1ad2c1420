"""Netlists with one thing broken: a signal that nothing reads, an op that no thread calls, other words in the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.netlist import parse
from malsim.netlist.language.statements import Schedule, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.language.statements import Statement
    from malsim.sim.settings.netlist_config import NetlistConfig

CUT, UNCALL, REWORD = "cut ", "uncall ", " → "


def breaks(wires: NetlistConfig | None) -> Iterator[str]:
    """The names of what `rewired` can cut or leave uncalled, and the world's inputs where it has any."""
    for statement in wires.document.statements if wires else ():
        if isinstance(statement, Wire) and statement.readers:
            yield f"{CUT}{statement.signal}"
        elif isinstance(statement, Schedule):
            yield f"{UNCALL}{statement.op}"


def rewired(wires: NetlistConfig, name: str) -> NetlistConfig | None:
    """The wires with what `name` says: `cut SIGNAL`, `uncall OP`, or `OLD → NEW` in the canonical text; None if not there.

    Raises `NetlistError` for what is no netlist any more.
    """
    document = wires.document
    if REWORD in name:
        old, _, new = name.partition(REWORD)
        document = parse(wires.text.replace(old, new)) if old in wires.text else document
    elif name.startswith(CUT):
        signal = name.removeprefix(CUT)
        document = replace(document, statements=tuple(_unread(each, signal) for each in document.statements))
    else:
        op = name.removeprefix(UNCALL)
        others = (each for each in document.statements if not (isinstance(each, Schedule) and each.op == op))
        document = replace(document, statements=tuple(others))
    return None if document == wires.document else replace(wires, document=document)


def _unread(statement: Statement, signal: str) -> Statement:
    if isinstance(statement, Wire) and statement.signal == signal:
        return replace(statement, ends=tuple(end for end in statement.ends if end.role == "writes"))
    return statement
