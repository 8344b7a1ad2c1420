"""Conversion of parsed statements to typed cell and edge rows, with a fault for every invalid value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from malsim.base.errors import DataError
from malsim.netlist.graph.stored_fields import EDGE_FIELDS, GIVEN, NOBODY, WRITER_FIELDS, column_named, read_field
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import WORK
from malsim.netlist.language.statements import Body, Cell, Edges, Prop
from malsim.netlist.language.values import exact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.language.statements import Edge, Statement, Value


@dataclass(frozen=True, slots=True)
class Arc:
    """Edge as written in a netlist: both ends, each a name or the row of a cell in the text, and fields set by `prop`."""

    source: str | int
    relation: str
    target: str | int
    weight: float
    statement: Statement
    word: str
    writer: str | None = None
    t: float | None = None
    place: int | None = None


@dataclass(frozen=True)
class GraphRows:
    """Rows gathered from a netlist: cells with their statements, edges in the order written, and writer records."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    statements: list[Cell] = field(default_factory=list)
    arcs: list[Arc] = field(default_factory=list)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    scanned: list[int] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)

    def names(self) -> set[str]:
        ends = {end for arc in self.arcs for end in (arc.source, arc.target) if isinstance(end, str)}
        return {str(name) for name in ends | {row["successor"] for row in self.rows if row.get("successor")}}


class _Gatherer:
    """Parser state while rows are gathered: the current cell with its edges and properties, and the rows so far."""

    def __init__(self) -> None:
        self.graph = GraphRows()
        self.row: dict[str, Any] | None = None
        self.props: dict[str, Any] = {}
        self.work: list[str] = []
        self.edge_indices: list[int] = []

    def fault(self, statement: Statement, word: str, error: DataError | str, hint: str = "") -> None:
        if isinstance(error, str):
            self.graph.faults.append(Fault.at(statement, word, error, hint=hint))
        else:
            self.graph.faults.append(Fault.at(statement, word, error.problem, allowed=error.allowed or "", hint=hint))

    def cell(self, statement: Cell) -> None:
        self.close()
        self.row = {"handle": str(statement.handle), "title": statement.title}
        self.graph.rows.append(self.row)
        self.graph.statements.append(statement)
        for value in statement.values:
            self.value(statement, value)
        self.edges(statement, "", statement.edges)

    def value(self, statement: Cell, value: Value) -> None:
        try:
            column = column_named(value.field)
            number = read_field(column, [exact(value.number)])
        except DataError as error:
            self.fault(statement, value.field, error)
            return
        if self.row is not None and column in self.row:
            self.fault(statement, value.field, "this field is given twice", hint="keep one")
        elif self.row is not None and column in GIVEN:
            self.row[column] = number

    def edges(self, statement: Cell | Edges, source: str, edges: tuple[Edge, ...]) -> None:
        if not source and self.row is None:
            self.fault(statement, "", "the source of these edges is missing", hint="write it before them")
            return
        cell: str | int = source or len(self.graph.rows) - 1
        for edge in edges:
            if not source:
                self.edge_indices.append(len(self.graph.arcs))
            ends = (edge.target, cell) if edge.incoming else (cell, edge.target)
            self.graph.arcs.append(Arc(ends[0], edge.relation, ends[1], edge.weight, statement, edge.target))

    def merge_repeats(self) -> None:
        handles = [row["handle"] for row in self.graph.rows]
        edges: set[tuple[object, ...]] = set()
        arcs = []
        for arc in self.graph.arcs:
            ends = [handles[end] if isinstance(end, int) else str(end) for end in (arc.source, arc.target)]
            edge = (*ends, arc.relation, arc.weight)
            alone = isinstance(arc.statement, Edges) and bool(arc.statement.source)
            if not (alone and edge in edges and (arc.writer, arc.t, arc.place) == (None, None, None)):
                arcs.append(arc)
            else:
                problem = "note: this edge repeats an edge above and is merged with it"
                self.graph.notes.append(Fault.at(arc.statement, arc.word, problem))
            edges.add(edge)
        self.graph.arcs[:] = arcs

    def prop(self, statement: Prop) -> None:
        """Set a stored field of the current cell from a `prop` statement.

        Numbers about the cell's work are stored as entities such as `impact=.8`.
        """
        try:
            if statement.field in WORK and self.row is not None:
                self.work.append(f"{statement.field}={exact(cast('float', read_field('stated', statement.values)))}")
                return
            column = column_named(statement.field)
            value = read_field(column, statement.values)
        except DataError as error:
            self.fault(statement, statement.field, error)
        else:
            self.set(statement, column, value, statement.field)

    def set(self, statement: Body | Prop, column: str, value: object, word: str) -> None:
        if self.row is None:
            self.fault(statement, word, "no cell comes before this line", hint="write it below a cell's line")
        elif column in self.props:
            self.fault(statement, word, "this field is given twice", hint="keep one")
        else:
            self.props[column] = value

    def close(self) -> None:
        if self.row is None:
            return
        self.row.update({column: value for column, value in self.props.items() if column in GIVEN})
        if self.work:
            self.row["entities"] = [*self.row.get("entities", []), *self.work]
        record = {column: self.props[column] for column in WRITER_FIELDS if column in self.props}
        if "scanned" in record:
            self.graph.scanned.append(record.pop("scanned"))
        if record:
            self.graph.records[self.row.get("writer", NOBODY)] = record
        self.label_edges()
        self.props, self.edge_indices, self.work = {}, [], []

    def label_edges(self) -> None:
        for column in EDGE_FIELDS:
            values = self.props.get(column)
            if values is None:
                continue
            if len(values) != len(self.edge_indices):
                problem = f"{column} has {len(values)} values for {len(self.edge_indices)} edges"
                self.fault(self.graph.statements[-1], column, problem)
                continue
            for index, value in zip(self.edge_indices, values, strict=True):
                self.graph.arcs[index] = replace(self.graph.arcs[index], **{column.removeprefix("edge-"): value})


def gather(statements: Iterable[Statement]) -> GraphRows:
    """Convert the cell and edge statements of a netlist to typed rows, and collect all faults."""
    gatherer = _Gatherer()
    for statement in statements:
        if isinstance(statement, Cell):
            gatherer.cell(statement)
        elif isinstance(statement, Edges):
            gatherer.edges(statement, statement.source, statement.edges)
        elif isinstance(statement, Body):
            gatherer.set(statement, "body", statement.text, "body")
        elif isinstance(statement, Prop):
            gatherer.prop(statement)
    gatherer.close()
    gatherer.merge_repeats()
    return gatherer.graph
