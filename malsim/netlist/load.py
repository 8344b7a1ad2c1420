"""Loading of a netlist into a memory: cells and edges unchanged, wiring linked, all or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import Memory, Rules
from malsim.memory.gate.edit import set_flag
from malsim.memory.schema import NONE
from malsim.netlist.graph.build import DECLARE, build
from malsim.netlist.graph.gather import GraphRows, gather
from malsim.netlist.graph.handle_lookup import is_short, rows_named, starting
from malsim.netlist.graph.propose import propose
from malsim.netlist.language.address import path
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.lexicon import FLAGS
from malsim.netlist.language.parse import parse
from malsim.netlist.language.statements import Cell, Document
from malsim.netlist.language.values import bit
from malsim.netlist.wiring import Net, linked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ops import Sheet

MORE = "write more of the handle"


@dataclass(frozen=True)
class Loaded:
    """The result of loading: the memory with the text's cells and edges, and the net that runs on it."""

    memory: Memory
    net: Net


def load(
    source: Document | str | bytes,
    memory: Memory | None = None,
    *,
    rules: Rules | None = None,
    palette: Callable[[str], Sheet] | None = None,
    now: float = 0.0,
    rep: int = 0,
    admit: bool = False,
    expected: Collection[str] = (),
) -> Loaded:
    """Load a netlist's cells and edges into a memory unchanged, after the screen, and link its wiring.

    Parameters
    ----------
    source
        A netlist as read, or its text.
    memory
        What it goes into; an empty one by default. It is not changed: the result holds a new one.
    rules
        Whose hygiene holds for edges, names and the screen.
    palette
        As for `malsim.netlist.wiring.link`.
    now
        Days, for cells that do not say when they were created.
    rep
        The replication they belong to.
    admit
        Propose every cell to the gate as a claim instead, so that the memory computes what the text shows.
    expected
        Handles of cells that are not there yet; wires may begin at them, and read nothing until they come.

    Raises
    ------
    NetlistError
        With every fault of the text, the graph and the wiring; nothing is loaded then.

    >>> load('dec_a3ee "ship v5" conf(.7!)').memory.cells["stated"].to_list()
    [0.7]
    """
    document = source if isinstance(source, Document) else parse(source)
    memory, rules = memory or Memory.empty(), rules or Rules()
    enter = propose if admit else build
    after, faults = enter(gather(document.statements), memory, rules, now=now, rep=rep)
    net, link_faults = linked(document, palette)
    faults += link_faults
    if not faults:
        after, faults = _with_flags(after, net, rules, rep)
        faults += _strangers(after, net, rep, expected)
    if faults:
        raise NetlistError(
            sorted(faults, key=lambda fault: (fault.file != document.name, fault.file, fault.line, fault.column))
        )
    return Loaded(after, net)


@dataclass(frozen=True)
class CheckResult:
    """Result of a netlist check: net, faults, notes, and the cells that it needs but does not declare."""

    net: Net
    faults: list[Fault]
    notes: list[Fault]
    needed: tuple[str, ...] = ()


def check(document: Document, memory: Memory | None = None) -> CheckResult:
    """Check whether a netlist would load into a memory, or, without one, into any that holds the cells it needs.

    >>> check(parse("dec_a3ee supports> dec_ffff(+1)")).needed
    ('dec_a3ee', 'dec_ffff')
    """
    graph = gather(document.statements)
    net, faults = linked(document)
    needed: tuple[str, ...] = ()
    if memory is None:
        names = graph.names() | {where.handle for _, where in net.paths}
        names |= {path(statement.address).handle for statement in net.flags}
        own = {name for row in graph.rows for name in (row["handle"], row.get("key")) if name}
        needed = tuple(sorted(name for name in names - own if not _begins_one(name, own)))
        memory = _holding(needed)
    try:
        load(document, memory)
    except NetlistError as error:
        faults = list(error.faults)
    return CheckResult(net, faults, graph.notes, needed)


def _holding(handles: Iterable[str]) -> Memory:
    cells = [Cell(handle, "needed") for handle in handles]
    rows = [{"handle": cell.handle, "title": cell.title, "kind": "dec"} for cell in cells]
    return build(GraphRows(rows, cells), Memory.empty(), Rules(), now=0.0, rep=0)[0]


def _strangers(memory: Memory, net: Net, rep: int, expected: Collection[str]) -> list[Fault]:
    ends = net.paths
    rows = _rows(memory, [where.handle for _, where in ends], rep)
    several = _several(memory, {where.handle for _, where in ends}, rep, expected)
    faults = [
        Fault.at(end.statement, end.word, "several cells begin with this handle", allowed=several[where.handle], hint=MORE)
        for end, where in ends
        if where.handle in several
    ]
    return faults + [
        Fault.at(end.statement, end.word, "no such cell", hint=DECLARE)
        for (end, where), row in zip(ends, rows, strict=True)
        if row == NONE and where.handle not in expected and not _begins_one(where.handle, expected)
    ]


def _several(memory: Memory, handles: Iterable[str], rep: int, expected: Collection[str]) -> dict[str, str]:
    short = {name for name in handles if is_short(name)}
    if not short:
        return {}
    names = pl.Series([*memory.cells.filter(pl.col("rep") == rep)["handle"], *sorted(expected)], dtype=pl.String)
    cells_of = {name: starting(name, names) for name in short}
    return {name: " ".join(cells[:4]) for name, cells in cells_of.items() if len(cells) > 1 and name not in cells}


def _begins_one(handle: str, names: Collection[str]) -> bool:
    return is_short(handle) and any(name.startswith(handle) for name in names)


def _rows(memory: Memory, handles: list[str], rep: int) -> list[int]:
    rows: list[int] = rows_named(memory, [rep] * len(handles), handles).tolist()
    return rows


def _with_flags(memory: Memory, net: Net, rules: Rules, rep: int) -> tuple[Memory, list[Fault]]:
    wheres = [path(statement.address) for statement in net.flags]
    rows = _rows(memory, [where.handle for where in wheres], rep)
    locked = memory.cells["locked"].to_numpy()
    faults = []
    values: dict[tuple[str, int], bool] = {}
    for statement, where, row in zip(net.flags, wheres, rows, strict=True):
        flag = FLAGS.get(where.fields[1], where.fields[1])
        if row == NONE:
            faults.append(Fault.at(statement, statement.address, "no such cell", hint=DECLARE))
        elif cells := _several(memory, [where.handle], rep, ()):
            problem = "several cells begin with this handle"
            faults.append(Fault.at(statement, statement.address, problem, allowed=cells[where.handle], hint=MORE))
        elif flag == "annexed" and locked[row] and rules.locks == "enforced":
            faults.append(Fault.at(statement, statement.address, "a locked cell is not annexed", hint="unlock it first"))
        else:
            values[flag, row] = bool(bit(statement.value))
    for flag, value in sorted({(flag, value) for (flag, _), value in values.items()}):
        here = np.zeros(memory.cells.height, dtype=bool)
        here[[row for (item, row), on in values.items() if (item, on) == (flag, value)]] = True
        memory = set_flag(memory, here, flag, value=value)
    return memory, faults
