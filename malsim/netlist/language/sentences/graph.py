"""Parsers of the graph statements: a cell's line, edges, body and other fields."""

from __future__ import annotations

import re
from sys import intern
from typing import TYPE_CHECKING

from malsim.memory.schema import RELATIONS
from malsim.netlist.language.sentences.reading import plain
from malsim.netlist.language.statements import Body, Cell, Edge, Edges, Prop, Trailer, Value

if TYPE_CHECKING:
    from lark import Token

    from malsim.netlist.language.sentences.reading import Parts, Reading, Where

_ARROW = re.compile(r"(->|<-|>|<)")
_TRAILER = re.compile(r"\[out:([0-9]{1,9}) programs:([0-9]{1,9})\]")


def cell(reading: Reading, parts: Parts, where: Where) -> Cell:
    first, title, *rest = parts.words
    expand = first.startswith("^")
    return Cell(
        reading.handle(first, skip=int(expand)),
        plain(title),
        values=tuple(_value(reading, word) for word in rest if word.type == "VALUE"),
        edges=_edges(reading, parts),
        trailer=_trailer(reading, rest),
        expand=expand,
        remark=tuple(map(str, parts.remark)),
        **where,
    )


def edges(reading: Reading, parts: Parts, where: Where) -> Edges:
    """`dec_a3ee supports> obs_9c1f(+.6) contradicts> obs_77aa (-.8)`, or without the first word."""
    source = reading.handle(parts.words[0]) if parts.words else ""
    return Edges(source, _edges(reading, parts), remark=tuple(map(str, parts.remark)), **where)


def body(_: Reading, parts: Parts, where: Where) -> Body:
    return Body(plain(parts.words[0]), **where)


def prop(reading: Reading, parts: Parts, where: Where) -> Prop:
    field, *values = parts.words
    return Prop(reading.word(field), tuple(map(plain, values)), **where)


def _edges(reading: Reading, parts: Parts) -> tuple[Edge, ...]:
    edges = [_edge(reading, words) for words in parts.edges]
    return tuple(edge for edge in edges if edge.relation in RELATIONS)


def _edge(reading: Reading, words: list[Token]) -> Edge:
    first, *between, weight = words
    relation, arrow, target_text = _ARROW.split(first, maxsplit=1)
    if relation not in RELATIONS:
        reading.fault(first, "no such relation", allowed=" ".join(RELATIONS))
    target = reading.word(between[0]) if between else reading.word(first, skip=len(first) - len(target_text))
    return Edge(intern(relation), target, reading.number(weight, weight[1:-1]), incoming="<" in arrow)


def _value(reading: Reading, word: Token) -> Value:
    field, _, inside = word[:-1].partition("(")
    immutable = inside.endswith("!")
    return Value(intern(field), reading.number(word, inside[:-1] if immutable else inside), immutable)


def _trailer(reading: Reading, words: list[Token]) -> Trailer | None:
    brackets = [word for word in words if word.type == "BRACKET"]
    if not brackets:
        return None
    match = _TRAILER.fullmatch(brackets[0])
    if match is None:
        reading.fault(brackets[0], "not the end of a cell's line", allowed="[out:N programs:M]")
        return None
    return Trailer(int(match[1]), int(match[2]))
