"""Conversion of a memory to statements: each cell's line, body and edges, and a `prop` for each other nondefault value."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

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


def render(source: Document | Memory | Iterable[Statement], *, rep: int = 0) -> str:
    """Format statements, or one replication of a memory, as netlist text.

    A document parses back to itself: `parse(render(document)) == document`. Numbers on cell lines are rounded to six
    decimals; a `prop` line below gives the exact number, so that the memory loads back unchanged. Raises `NetlistError`
    for a statement that cannot be written, such as a signal with a space in its name.
    """
    if isinstance(source, Memory):
        return text_of(statements_of(source, rep=rep, reading=True), reading=True)
    return text_of(source.statements if isinstance(source, Document) else source)


def save(memory: Memory, *, rep: int = 0) -> str:
    """Return the cells and edges of a memory as netlist text with every stored value.

    Numbers are written in their shortest exact form.

    >>> from malsim.netlist import load
    >>> print(save(load('dec_a3ee "ship v5" conf(.7!)').memory).splitlines()[0])
    dec_a3ee "ship v5" conf(0.7!) eff(0.7) curr(1) sal(0.5) annexed(0) locked(0) pinned(0) review(0) bg(1)
    """
    return text_of(statements_of(memory, rep=rep))


def statements_of(memory: Memory, *, rep: int = 0, reading: bool = False) -> list[Statement]:
    """Convert one replication of a memory to netlist statements that reproduce every stored value."""
    rows = memory.cells.with_row_index("row").filter(pl.col("rep") == rep)
    if rows.is_empty():
        return []
    repeats = rows.filter(pl.col("handle").is_duplicated())["handle"].unique().implode()
    name = memory.cells.select(pl.when(pl.col("handle").is_in(repeats)).then("key").otherwise("handle")).to_series()
    cells = rows.with_columns(name.gather(rows["successor"]).alias("successor"))
    more = _differences(cells)
    arcs = _arcs(memory, rows, name)
    records = _records(memory, cells)
    lines = cells.select("handle", "title", "body", *_SHOWN.values()).rows(named=True)
    statements: list[Statement] = []
    for index, (row, line) in enumerate(zip(cells["row"].to_list(), lines, strict=True)):
        fields = [(field.rstrip("!"), field.endswith("!")) for field in LINE]
        values = tuple(Value(field, float(line[_SHOWN[field]]), fixed) for field, fixed in fields)
        statements.append(Cell(line["handle"], line["title"], values))
        if line["body"] != line["title"]:
            statements.append(Body(line["body"]))
        if reading:
            rounded = [column for column in _SHOWN.values() if float(short(line[column])) != line[column]]
            statements += [_prop(column, line[column]) for column in rounded]
        statements += [_prop(column, value) for column, value in more[index]]
        statements += [_prop(column, value) for column, value in records.get(index, ())]
        if row in arcs:
            statements += arcs[row]
        statements.append(Blank())
    return statements[:-1]


def _prop(column: str, value: object) -> Prop:
    if value is None:
        raise DataError("a netlist cannot express a missing value", where=column)
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
    edges = memory.edges.filter(pl.col("source").is_in(rows["row"].cast(pl.Int64).implode())).with_row_index("place")
    edges = edges.select(
        "source", "relation", name.gather(edges["target"]).alias("name"), "weight", "writer", "t", "place",
        (memory.cells["writer"].gather(edges["source"]) == edges["writer"]).alias("plain_writer"),
        (memory.cells["created"].gather(edges["source"]) == edges["t"]).alias("plain_t"),
    ).sort("source", maintain_order=True)  # fmt: skip
    edges = edges.with_columns((pl.col("place") == pl.int_range(pl.len())).alias("plain_place"))
    statements: dict[int, list[Statement]] = {}
    for source, group in groupby(edges.to_dicts(), key=itemgetter("source")):
        out = list(group)
        unlike = [name for name in ("writer", "t", "place") if not all(edge[f"plain_{name}"] for edge in out)]
        line = Edges("", tuple(Edge(edge["relation"], edge["name"], edge["weight"]) for edge in out))
        statements[source] = [line, *(_prop(f"edge-{name}", [edge[name] for edge in out]) for name in unlike)]
    return statements
