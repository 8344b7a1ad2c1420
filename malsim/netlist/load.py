"""Loader that adds a netlist to a memory. If any part is faulty, nothing is loaded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import Memory, Rules, admit, schema
from malsim.memory.gate.edit import connect, set_flag
from malsim.memory.schema import NONE
from malsim.netlist.graph.build import DECLARE, build
from malsim.netlist.graph.gather import GraphRows, gather
from malsim.netlist.graph.handle_lookup import is_short, rows_named, starting
from malsim.netlist.graph.stored_fields import NOBODY
from malsim.netlist.language.address import path
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.lexicon import FLAGS
from malsim.netlist.language.parse import parse
from malsim.netlist.language.statements import Cell, Document
from malsim.netlist.language.values import bit
from malsim.netlist.wiring import Net, linked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from malsim.netlist.graph.gather import Arc
    from ops import Sheet

_COPIED = [name for name in schema.CLAIMS if name in schema.CELLS and name not in {"rep", "writer", "body"}]
AMBIGUOUS, MORE = "several handles begin with this prefix", "type more of the handle"


@dataclass(frozen=True)
class Loaded:
    """Result of loading a netlist: the memory with the new cells and edges, and the linked net that runs on it."""

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
    """Load the cells and edges of a netlist into a copy of a memory, after screening their text, and link its wiring.

    Parameters
    ----------
    source
        Netlist, or its text.
    memory
        Memory to extend; an empty one by default.
    rules
        Rules for edges, names and the screen.
    palette
        As in `malsim.netlist.wiring.link`.
    now
        Creation time, in days, for cells without a time.
    rep
        Replication of the cells.
    admit
        Propose every cell to the gate as a claim, so that the memory computes the scores.
    expected
        Handles of cells that may be added later; until then, wires from these cells read nothing.

    Raises
    ------
    NetlistError
        With every fault of the text, the graph and the wiring.

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
        faults += _unknown_cells(after, net, rep, expected)
    if faults:
        faults.sort(key=lambda fault: (fault.file != document.name, fault.file, fault.line, fault.column))
        raise NetlistError(faults)
    return Loaded(after, net)


@dataclass(frozen=True)
class CheckResult:
    """Result of checking a netlist: the net, faults, notes, and the cells that the netlist uses but does not declare."""

    net: Net
    faults: list[Fault]
    notes: list[Fault]
    needed: tuple[str, ...] = ()


def check(document: Document, memory: Memory | None = None) -> CheckResult:
    """Check whether a netlist would load into `memory`. If `memory` is None, all undeclared cells are assumed to exist.

    >>> check(parse("dec_a3ee supports> dec_ffff(+1)")).needed
    ('dec_a3ee', 'dec_ffff')
    """
    graph = gather(document.statements)
    net, faults = linked(document)
    needed: tuple[str, ...] = ()
    if memory is None:
        names = graph.names() | {where.handle for _, where in net.paths}
        names |= {path(statement.address).handle for statement in net.flags}
        declared = {name for row in graph.rows for name in (row["handle"], row.get("key")) if name}
        needed = tuple(sorted(name for name in names - declared if not _is_short_for(name, declared)))
        cells = [Cell(name, "needed") for name in needed]
        rows = [{"handle": cell.handle, "title": cell.title, "kind": "dec"} for cell in cells]
        memory = build(GraphRows(rows, cells), Memory.empty(), Rules(), now=0.0, rep=0)[0]
    try:
        load(document, memory)
    except NetlistError as error:
        faults = list(error.faults)
    return CheckResult(net, faults, graph.notes, needed)


def _unknown_cells(memory: Memory, net: Net, rep: int, expected: Collection[str]) -> list[Fault]:
    ends = net.paths
    rows = rows_named(memory, [rep] * len(ends), [where.handle for _, where in ends])
    several = _ambiguous(memory, {where.handle for _, where in ends}, rep, expected)
    faults = [
        Fault.at(end.statement, end.word, AMBIGUOUS, allowed=several[where.handle], hint=MORE)
        for end, where in ends
        if where.handle in several
    ]
    return faults + [
        Fault.at(end.statement, end.word, "no such cell", hint=DECLARE)
        for (end, where), row in zip(ends, rows, strict=True)
        if row == NONE and where.handle not in expected and not _is_short_for(where.handle, expected)
    ]


def _ambiguous(memory: Memory, handles: Iterable[str], rep: int, expected: Collection[str]) -> dict[str, str]:
    short = {name for name in handles if is_short(name)}
    if not short:
        return {}
    names = pl.Series([*memory.cells.filter(pl.col("rep") == rep)["handle"], *sorted(expected)], dtype=pl.String)
    cells_of = {name: starting(name, names) for name in short}
    return {name: " ".join(cells[:4]) for name, cells in cells_of.items() if len(cells) > 1 and name not in cells}


def _is_short_for(handle: str, names: Collection[str]) -> bool:
    return is_short(handle) and any(name.startswith(handle) for name in names)


def _with_flags(memory: Memory, net: Net, rules: Rules, rep: int) -> tuple[Memory, list[Fault]]:
    wheres = [path(statement.address) for statement in net.flags]
    rows = rows_named(memory, [rep] * len(wheres), [where.handle for where in wheres]).tolist()
    locked = memory.cells["locked"].to_numpy()
    faults = []
    values: dict[tuple[str, int], bool] = {}
    for statement, where, row in zip(net.flags, wheres, rows, strict=True):
        flag = FLAGS.get(where.fields[1], where.fields[1])
        if row == NONE:
            faults.append(Fault.at(statement, statement.address, "no such cell", hint=DECLARE))
        elif several := _ambiguous(memory, [where.handle], rep, ()):
            faults.append(Fault.at(statement, statement.address, AMBIGUOUS, allowed=several[where.handle], hint=MORE))
        elif flag == "annexed" and locked[row] and rules.locks == "enforced":
            faults.append(Fault.at(statement, statement.address, "a locked cell cannot be annexed", hint="unlock it first"))
        else:
            values[flag, row] = bool(bit(statement.value))
    for flag, value in sorted({(flag, value) for (flag, _), value in values.items()}):
        cells = np.zeros(memory.cells.height, dtype=bool)
        cells[[row for (name, row), on in values.items() if (name, on) == (flag, value)]] = True
        memory = set_flag(memory, cells, flag, value=value)
    return memory, faults


def propose(graph: GraphRows, memory: Memory, rules: Rules, *, now: float, rep: int) -> tuple[Memory, list[Fault]]:
    """Submit every cell of a netlist to the gate as a claim with its edges, then add the remaining edges.

    Return the resulting memory and the faults. Scores and records in the text are ignored. If the gate refuses anything,
    the memory is unchanged and the faults say why.
    """
    edges_of: dict[int, list[dict[str, Any]]] = defaultdict(list)
    loose: list[Arc] = []
    indices = {row["handle"]: index for index, row in enumerate(graph.rows)}
    for arc in graph.arcs:
        source = arc.source if isinstance(arc.source, int) else indices.get(arc.source)
        target = arc.target if isinstance(arc.target, int) else indices.get(arc.target, -1)
        if source is not None and (isinstance(arc.source, int) or target < source):
            edge = {"relation": arc.relation, "target": _name(graph, arc.target), "weight": arc.weight}
            edges_of[source].append(edge)
        else:
            loose.append(arc)
    claims = [_claim(row, number, edges_of[number], now=now, rep=rep) for number, row in enumerate(graph.rows)]
    after, faults = memory, list(graph.faults)
    if claims:
        after, verdicts = admit(memory, claims, rules)
        faults += _refusals(verdicts, graph)
    if loose and not faults:
        writers = {row["handle"]: row.get("writer", NOBODY) for row in graph.rows}
        names = [(_name(graph, arc.source), _name(graph, arc.target)) for arc in loose]
        edges: list[dict[str, Any]] = [
            {"source": source, "target": target, "relation": arc.relation, "weight": arc.weight, "rep": rep,
             "writer": arc.writer or writers.get(source, NOBODY), "t": now if arc.t is None else arc.t}
            for arc, (source, target) in zip(loose, names, strict=True)
        ]  # fmt: skip
        after, verdicts = connect(after, edges, rules)
        faults += _edge_refusals(verdicts, graph, loose)
    return (memory if faults else after), faults


def _claim(row: dict[str, Any], sequence: int, edges: list[dict[str, Any]], *, now: float, rep: int) -> dict[str, Any]:
    return {name: row[name] for name in _COPIED if name in row} | {
        "rep": rep,
        "t": row.get("created", now),
        "sequence": sequence,
        "writer": row.get("writer", NOBODY),
        "body": row.get("body", row["title"]),
        "confidence": row.get("claimed", row.get("stated", 0.5)),
        "edges": edges,
    }


def _name(graph: GraphRows, end: str | int) -> str:
    return str(graph.rows[end]["handle"]) if isinstance(end, int) else str(end)


def _refusals(verdicts: pl.DataFrame, graph: GraphRows) -> Iterator[Fault]:
    for index, issues in verdicts.filter(pl.col("verdict") == "refused").select("sequence", "issues").rows():
        statement = graph.statements[index]
        for issue in issues:
            word = "" if issue["message"].startswith("screen") else statement.handle
            yield Fault.at(statement, word, f"the gate refuses this cell: {issue['path']} {issue['message']}")


def _edge_refusals(verdicts: pl.DataFrame, graph: GraphRows, loose: list[Arc]) -> Iterator[Fault]:
    by_ends = {(_name(graph, arc.source), arc.relation, _name(graph, arc.target)): arc for arc in loose}
    for source, relation, target, issues in verdicts.select("source", "relation", "target", "issues").rows():
        arc = by_ends[source, relation, target]
        for issue in issues:
            yield Fault.at(arc.statement, arc.word, f"the memory refuses this edge: {issue['path']} {issue['message']}")
