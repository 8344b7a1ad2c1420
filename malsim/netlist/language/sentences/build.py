"""A parsed sentence to its statement: every word gets its meaning, every wrong one a fault of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token

from malsim.netlist.language.sentences import graph, wiring
from malsim.netlist.language.sentences.reading import Parts, Where

if TYPE_CHECKING:
    from lark import Tree

    from malsim.netlist.language.sentences.reading import Reading
    from malsim.netlist.language.statements import Statement

__all__ = ["build"]

_SENTENCES = {
    "cell": graph.cell,
    "edges": graph.edges,
    "body": graph.body,
    "prop": graph.prop,
    "set": wiring.set_,
    "setp": wiring.setp,
    "wire": wiring.wire,
    "schedule": wiring.schedule,
    "loadrt": wiring.load,
    "thread": wiring.thread,
    "source": wiring.source,
}


def build(tree: Tree[Token], reading: Reading, comment: str) -> Statement:
    """The statement a parse tree says; what is wrong with its words is noted in `reading.faults`."""
    parts = Parts([], [], [])
    for child in tree.children:
        if isinstance(child, Token):
            parts.words.append(child)
        elif child is not None:
            tokens = [token for token in child.children if isinstance(token, Token)]
            if child.data == "edge":
                parts.edges.append(tokens)
            else:
                parts.remark.extend(tokens)
    where = Where(comment=comment, file=reading.file, line=reading.line.number)
    return _SENTENCES[tree.data](reading, parts, where)
