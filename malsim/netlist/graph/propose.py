"""Proposal of a netlist's cells to the gate as claims."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.memory import admit, schema
from malsim.memory.gate.edit import connect
from malsim.netlist.graph.stored_fields import NOBODY
from malsim.netlist.language.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory import Memory, Rules
    from malsim.netlist.graph.gather import Arc, GraphRows

_COPIED = [name for name in schema.CLAIMS if name in schema.CELLS and name not in {"rep", "writer", "body"}]


def propose(graph: GraphRows, memory: Memory, rules: Rules, *, now: float, rep: int) -> tuple[Memory, list[Fault]]:
    """Return the memory after admitting every cell as a claim, with its edges, and every other edge separately.

    Scores and records in the text are ignored. If the gate refuses anything, the memory is unchanged and the faults say why.
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
