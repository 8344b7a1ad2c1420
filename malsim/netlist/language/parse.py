"""Linear-time parser of netlist text that reports all faults at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token
from lark.exceptions import UnexpectedInput

from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.sentences import builders
from malsim.netlist.language.sentences.lines import comment_at, each_line
from malsim.netlist.language.sentences.reading import Parts, Reading, Where
from malsim.netlist.language.sentences.syntax import parse_tree, syntax_fault
from malsim.netlist.language.statements import Blank, Document, Schedule, Source, Thread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark import Tree

    from malsim.netlist.language.statements import Statement

_BUILDERS = {
    "cell": builders.cell, "edges": builders.edges, "body": builders.body, "prop": builders.prop, "set": builders.set_,
    "setp": builders.setp, "wire": builders.wire, "schedule": builders.schedule, "loadrt": builders.load,
    "thread": builders.thread, "source": builders.source,
}  # fmt: skip


def parse(source: str | bytes, *, file: str = "netlist", threads: Iterable[str] = ()) -> Document:
    """Parse the text of a netlist, or its UTF-8 bytes, without looking up ops, cells or files.

    `file` is the name of the text in faults; `threads` are declared elsewhere. Raises `NetlistError` with every fault.

    >>> parse("net low weak.in < dec_a3ee-scores-eff").statements[0].writers
    ('dec_a3ee-scores-eff',)
    """
    document, faults = scan(source, file=file)
    if not any(isinstance(statement, Source) for statement in document.statements):
        faults += undeclared_threads(document.statements, threads)
    if faults:
        raise NetlistError(sorted(faults, key=lambda fault: (fault.line, fault.column)))
    return document


def scan(source: str | bytes, *, file: str = "netlist") -> tuple[Document, list[Fault]]:
    """Parse a netlist as far as possible. Return the statements that could be parsed, and all faults."""
    faults: list[Fault] = []
    statements: list[Statement] = []
    for line in each_line(source, file, faults):
        statement = _sentence(Reading(line, file, faults))
        if statement is not None:
            statements.append(statement)
    return Document(tuple(statements), file), faults


def _sentence(reading: Reading) -> Statement | None:
    line = reading.line
    end = comment_at(line.text)
    words, comment = line.text[:end].rstrip(" \t"), line.text[end:].rstrip(" \t")
    if not words:
        return Blank(comment=comment, file=reading.file, line=line.number)
    try:
        tree = parse_tree(words, "sentence")
    except UnexpectedInput as error:
        reading.faults.append(syntax_fault(error, words, reading))
        return None
    where = Where(comment=comment, file=reading.file, line=line.number)
    return _BUILDERS[tree.data](reading, _parts(tree), where)


def _parts(tree: Tree[Token]) -> Parts:
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
    return parts


def undeclared_threads(statements: Iterable[Statement], threads: Iterable[str] = ()) -> list[Fault]:
    """Return a fault for every `addf` onto a thread that has not been declared on an earlier line.

    The thread `tick` always exists.
    """
    names, faults = {"tick", *threads}, []
    for statement in statements:
        if isinstance(statement, Thread):
            names.add(statement.name)
        elif isinstance(statement, Schedule) and statement.thread not in names:
            hint = f"declare it first: thread {statement.thread} every 10"
            faults.append(
                Fault.at(statement, statement.thread, "no such thread", allowed=" ".join(sorted(names)), hint=hint)
            )
    return faults
