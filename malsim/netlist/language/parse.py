"""Parser of netlist text; reports all faults at once, in time proportional to the length of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token
from lark.exceptions import UnexpectedInput

from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.sentences import graph, wiring
from malsim.netlist.language.sentences.lines import comment_at, each_line
from malsim.netlist.language.sentences.reading import Parts, Reading, Where
from malsim.netlist.language.sentences.syntax import parse_tree, syntax_fault
from malsim.netlist.language.statements import Blank, Document, Schedule, Source, Thread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark import Tree

    from malsim.netlist.language.statements import Statement

_SENTENCES = {
    "cell": graph.cell, "edges": graph.edges, "body": graph.body, "prop": graph.prop, "set": wiring.set_,
    "setp": wiring.setp, "wire": wiring.wire, "schedule": wiring.schedule, "loadrt": wiring.load,
    "thread": wiring.thread, "source": wiring.source,
}  # fmt: skip


def parse(source: str | bytes, *, file: str = "netlist", threads: Iterable[str] = ()) -> Document:
    """Read a netlist; it knows the language's words and no op, cell or file.

    Parameters
    ----------
    source
        The text, or its bytes in UTF-8.
    file
        What faults call it.
    threads
        Those that are declared elsewhere.

    Raises
    ------
    NetlistError
        With every fault in the text.

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
    """Read what can be read of a netlist, and list what cannot."""
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
    return _SENTENCES[tree.data](reading, _parts(tree), where)


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
    """Return a fault for every `addf` onto a thread that no line before it declares; `tick` always exists."""
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
