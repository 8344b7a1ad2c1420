"""Conversion of a memory to statements: each cell's line, body, edges, and a `prop` for every other stored value."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from malsim.base.errors import DataError
from malsim.memory import Memory
from malsim.netlist.graph.stored_fields import GIVEN, complete, field_words
from malsim.netlist.language.lexicon import FLAGS, LINE, SCORES
from malsim.netlist.language.render import text_of
from malsim.netlist.language.statements import Blank, Body, Cell, Document, Edge, Edges, Prop, Value
from malsim.netlist.language.values import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.language.statements import Statement

_SHOWN = {field.rstrip("!"): {**SCORES, **FLAGS}[field.rstrip("!")] for field in LINE}
_BASIS = ("handle", "title", "created", "successor", *_SHOWN.values())


def render(what: Document | Memory | Iterable[Statement], *, rep: int = 0) -> str:
    """Write a netlist, or a memory as one.

    A document reads back as the same statements: `parse(render(document)) == document`. A memory's cells are written to be
    read by eye, with numbers of six decimals and what these lose as a `prop` below, so that it loads back as it was.

    Parameters
    ----------
    what
        Statements, or a memory.
    rep
        Of a memory, the replication.

    Raises
    ------
    NetlistError
        For a statement made by hand that no line can say, such as a signal's name with a space in it.
    """
    if isinstance(what, Memory):
        return text_of(statements_of(what, rep=rep, reading=True), reading=True)
    return text_of(what.statements if isinstance(what, Document) else what)


def save(memory: Memory, *, rep: int = 0) -> str:
    """Return the text that loads as this memory's cells and edges, every stored value included, shortest exact numbers.

    >>> from malsim.netlist import load
    >>> print(save(load('dec_a3ee "ship v5" conf(.7!)').memory).splitlines()[0])
    dec_a3ee "ship v5" conf(0.7!) eff(0.7) curr(1) sal(0.5) annexed(0) locked(0) pinned(0) review(0) bg(1)
    """
    return text_of(statements_of(memory, rep=rep))


def statements_of(memory: Memory, *, rep: int = 0, reading: bool = False) -> list[Statement]:
    """Return the sentences that load as this memory's cells and edges, every stored value included."""
    rows = memory.cells.with_row_index("row").filter(pl.col("rep") == rep)
    if rows.is_empty():
        return []
    name = _names(memory, rows)
    cells = rows.with_columns(name.gather(rows["successor"]).alias("successor"))
    more = _differences(cells)
    arcs = _arcs(memory, rows, name)
    records = _records(memory, cells)
    lines = cells.select("handle", "title", "body", *_SHOWN.values()).rows(named=True)
    statements: list[Statement] = []
    for index, (row, line) in enumerate(zip(cells["row"].to_list(), lines, strict=True)):
        statements.append(_line(line))
        if line["body"] != line["title"]:
            statements.append(Body(line["body"]))
        if reading:
            statements += [_prop(column, line[column]) for column in _SHOWN.values() if _rounds(line[column])]
        statements += [_prop(column, value) for column, value in more[index]]
        statements += [_prop(column, value) for column, value in records.get(index, ())]
        if row in arcs:
            statements += arcs[row]
        statements.append(Blank())
    return statements[:-1]


def _names(memory: Memory, rows: pl.DataFrame) -> pl.Series:
    repeats = rows.filter(pl.col("handle").is_duplicated())["handle"].unique().implode()
    return memory.cells.select(pl.when(pl.col("handle").is_in(repeats)).then("key").otherwise("handle")).to_series()


def _line(line: dict[str, Any]) -> Cell:
    values = tuple(Value(field.rstrip("!"), float(line[_SHOWN[field.rstrip("!")]]), field.endswith("!")) for field in LINE)
    return Cell(line["handle"], line["title"], values)


def _rounds(value: float) -> bool:
    return float(short(value)) != value


def _prop(column: str, value: object) -> Prop:
    if value is None:
        raise DataError("a netlist cannot express an absent value", where=column)
    return Prop(column, field_words(value))


def _differences(cells: pl.DataFrame) -> list[list[tuple[str, Any]]]:
    basis = cells.select(
        *_BASIS, pl.col("rep"), *(pl.lit(None, kind).alias(name) for name, kind in GIVEN.items() if name not in _BASIS)
    )
    default = complete(basis.with_columns(cells["body"]), now=0.0)
    differences: list[list[tuple[str, Any]]] = [[("created", created)] for created in cells["created"].to_list()]
    for name in GIVEN:
        if name in {"handle", "title", "body", "created", *_SHOWN.values()}:
            continue
        kind = GIVEN[name]
        actual = cells[name].cast(kind)
        differs = actual.is_not_null() if name == "successor" else actual.ne_missing(default[name].cast(kind))
        for index, value in zip(differs.arg_true().to_list(), actual.filter(differs).to_list(), strict=True):
            differences[index].append((name, value))
    return differences


def _records(memory: Memory, cells: pl.DataFrame) -> dict[int, list[tuple[str, Any]]]:
    first = cells.select("author").with_row_index("place").unique("author", keep="first", maintain_order=True)
    records: dict[int, list[tuple[str, Any]]] = {}
    in_order = first["author"].is_sorted()
    for index, author in first.rows():
        writer = memory.writers.row(author, named=True)
        record = [
            (f"writer-{name}", writer[name])
            for name, fresh in (("claims", 0), ("contradicted", 0), ("calibration", 1.0))
            if writer[name] != fresh
        ]
        records[index] = record if in_order else [*record, ("writer-row", author)]
    if memory.scanned:
        records[0] = [*records.get(0, []), ("scanned", memory.scanned)]
    return records


def _arcs(memory: Memory, rows: pl.DataFrame, name: pl.Series) -> dict[int, list[Statement]]:
    own = memory.edges.filter(pl.col("source").is_in(rows["row"].cast(pl.Int64).implode())).with_row_index("place")
    own = own.select(
        "source",
        "relation",
        name.gather(own["target"]).alias("name"),
        "weight",
        "writer",
        "t",
        "place",
        (memory.cells["writer"].gather(own["source"]) == own["writer"]).alias("plain_writer"),
        (memory.cells["created"].gather(own["source"]) == own["t"]).alias("plain_t"),
    )
    own = own.sort("source", maintain_order=True).with_columns(
        (pl.col("place") == pl.int_range(pl.len())).alias("plain_place")
    )
    edges = map(_Out._make, own.rows())
    return {source: _out_edges(list(group)) for source, group in groupby(edges, key=attrgetter("source"))}


class _Out(NamedTuple):
    """An out-edge as stored, and whether its writer, time and place are the defaults."""

    source: int
    relation: str
    name: str
    weight: float
    writer: str
    t: float
    place: int
    plain_writer: bool
    plain_t: bool
    plain_place: bool


def _out_edges(edges: list[_Out]) -> list[Statement]:
    statements: list[Statement] = [Edges("", tuple(Edge(edge.relation, edge.name, edge.weight) for edge in edges))]
    unlike = [name for name in ("writer", "t", "place") if not all(getattr(edge, f"plain_{name}") for edge in edges)]
    return [*statements, *(_prop(f"edge-{name}", [getattr(edge, name) for edge in edges]) for name in unlike)]
