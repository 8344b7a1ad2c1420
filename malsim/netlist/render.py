"""Statements to text, one canonical form each, such that reading it gives the same statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.memory import Memory
from malsim.netlist.faults import Fault, NetlistError
from malsim.netlist.graph.say import said
from malsim.netlist.lexicon import LIMITS
from malsim.netlist.lines import comment_at
from malsim.netlist.parse import parse
from malsim.netlist.sentences import sentence
from malsim.netlist.statements import Document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.statements import Statement

__all__ = ["fmt", "render"]

_PIECE = LIMITS["line_bytes"] // 4 - 1  # characters of at most four bytes, and the backslash


def fmt(source: str | bytes, *, file: str = "netlist") -> str:
    """Rewrite a netlist in canonical form: comments, blank lines and order stay.

    >>> print(fmt("dec_a3ee   supports->obs_9c1f(+.6)   # why"), end="")
    dec_a3ee supports> obs_9c1f(0.6) # why
    """
    return render(parse(source, file=file))


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
    reading = isinstance(what, Memory)
    statements = said(what, rep=rep, reading=True) if isinstance(what, Memory) else what
    if isinstance(statements, Document):
        statements = statements.statements
    return "".join(f"{_line(statement, reading=reading)}\n" for statement in statements)


def _line(statement: Statement, *, reading: bool) -> str:
    words = sentence(statement, reading=reading)
    comment = statement.comment
    line = f"{words} {comment}" if words and comment else words + comment
    begins = len(line) - len(comment)
    if "\n" in line or line != line.rstrip(" \t\r") or _joins(line) or comment_at(line) != begins:
        raise NetlistError([Fault.at(statement, line, "no line can say this", hint="take out line ends and stray #")])
    return line if len(line) <= _PIECE else _broken(line)


def _joins(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _broken(line: str) -> str:
    """A long line in pieces that trailing backslashes join."""
    pieces = []
    start = 0
    while len(line) - start > _PIECE:
        end = start + _PIECE
        end -= _joins(line[start:end])
        pieces.append(line[start:end] + "\\\n")
        start = end
    return "".join(pieces) + line[start:]
