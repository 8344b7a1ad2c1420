"""Formatter that writes statements as canonical text, which parses back to the same statements."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from malsim.base.plain_text import is_plain, quoted
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.lexicon import KEYWORDS, LIMITS
from malsim.netlist.language.parse import parse
from malsim.netlist.language.sentences.lines import comment_at
from malsim.netlist.language.statements import Blank, Body, Cell, Edges, Load, Prop, Schedule, Set, Source, Thread, Wire
from malsim.netlist.language.values import exact, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from malsim.netlist.language.statements import Edge, Statement

# Maximum number of characters per physical line: each takes up to four bytes, and a backslash is added.
_PIECE = LIMITS["line_bytes"] // 4 - 1
_WORD = re.compile(r'[^\s"\[#][^\s"#]*')
_NAME = re.compile(r'[^\s",#]+')
_TARGET = re.compile(r'[^\s"\[()<>#]+')
_ADDRESS = re.compile(r'[^\s"\[#<>](?:[^\s"#<>]|(?<=\.)[<>](?=[^<>-]))*')
_VALUE = re.compile(r"[^\s\]]+")
_KEY = re.compile(r"[^\s\]:](?:[^\n\]:]*[^\s\]:])?")
_REMARK = re.compile(r'[^\s"\[()<>=#][^\s"()<>#]*|"[^"\\]*(?:\\.[^"\\]*)*"|\[[^\]]*\]')
_INDENT = "  "


def fmt(source: str | bytes, *, file: str = "netlist") -> str:
    """Rewrite a netlist in canonical form, preserving comments, blank lines and order.

    >>> print(fmt("dec_a3ee   supports->obs_9c1f(+.6)   # why"), end="")
    dec_a3ee supports> obs_9c1f(0.6) # why
    """
    return text_of(parse(source, file=file).statements)


def text_of(statements: Iterable[Statement], *, reading: bool = False) -> str:
    """Format statements as text, one per line. If `reading` is true, numbers in cell lines are rounded to six decimals."""
    return "".join(f"{_line(statement, short if reading else exact)}\n" for statement in statements)


def _line(statement: Statement, number: Callable[[float], str]) -> str:
    words = _cell(statement, number) if isinstance(statement, Cell) else _WRITERS[type(statement)](statement)
    comment = statement.comment
    line = f"{words} {comment}" if words and comment else words + comment
    begins = len(line) - len(comment)
    if "\n" in line or line != line.rstrip(" \t\r") or _ends_in_backslash(line) or comment_at(line) != begins:
        raise NetlistError(
            [Fault.at(statement, line, "this statement cannot be written on one line", hint="remove line ends and stray #")]
        )
    return line if len(line) <= _PIECE else _wrapped(line)


def _ends_in_backslash(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _wrapped(line: str) -> str:
    pieces = []
    start = 0
    while len(line) - start > _PIECE:
        end = start + _PIECE
        end -= _ends_in_backslash(line[start:end])
        pieces.append(line[start:end] + "\\\n")
        start = end
    return "".join(pieces) + line[start:]


def _checked(shape: re.Pattern[str], *texts: str) -> list[str]:
    for text in texts:
        if not shape.fullmatch(text):
            problem = "this statement cannot be written on one line"
            raise NetlistError([Fault(problem=problem, words=text, hint="remove spaces, quotes and # signs")])
    return list(texts)


def _text(value: str) -> str:
    return value if _WORD.fullmatch(value) and is_plain(value) else quoted(value)


def _cell(cell: Cell, format_number: Callable[[float], str]) -> str:
    words = [("^" if cell.expand else "") + _checked(_TARGET, cell.handle)[0], quoted(cell.title)]
    for value in cell.values:
        (field,) = _checked(_TARGET, value.field)
        words.append(f"{field}({format_number(value.number)}{'!' if value.immutable else ''})")
    words += map(_edge, cell.edges)
    if cell.trailer is not None:
        words.append(f"[out:{cell.trailer.out} programs:{cell.trailer.programs}]")
    return " ".join([*words, *_checked(_REMARK, *cell.remark)])


def _edge(edge: Edge) -> str:
    relation, target = _checked(_TARGET, edge.relation, edge.target)
    return f"{relation}{'<' if edge.incoming else '>'} {target}({exact(edge.weight)})"


def _edges(statement: Edges) -> str:
    first = _checked(_TARGET, statement.source)[0] if statement.source else " "
    return " ".join([first, *map(_edge, statement.edges), *_checked(_REMARK, *statement.remark)])


def _set(statement: Set) -> str:
    if statement.setp:
        return f"setp {_checked(_WORD, statement.address)[0]} {_text(statement.value)}"
    (address,) = _checked(_ADDRESS, statement.address)
    if address in KEYWORDS:
        raise NetlistError([Fault.at(statement, address, "a keyword is not an address", hint="write it with setp")])
    return f"{address} = {_text(statement.value)}"


def _wire(wire: Wire) -> str:
    """Format a `net` statement with its ends in order, and an arrow wherever the role changes.

    If all ends have the same role, the arrow comes first.
    """
    words = ["net", *_checked(_WORD, wire.signal)]
    groups = [(role, [end.address for end in ends]) for role, ends in groupby(wire.ends, lambda end: end.role)]
    if len({bool(role) for role, _ in groups}) > 1:
        raise NetlistError(
            [
                Fault.at(
                    wire, wire.signal, "this statement cannot be written on one line", hint="give every end a role, or none"
                )
            ]
        )
    for index, (role, addresses) in enumerate(groups):
        if role and (index or len(groups) == 1):
            words.append(">" if role == "reads" else "<")
        words += _checked(_WORD, *addresses)
    return " ".join(words)


def _schedule(statement: Schedule) -> str:
    words = ["addf", *_checked(_WORD, statement.op, statement.thread)]
    if statement.position is not None:
        words.append(str(statement.position))
    brackets = [[f"[{_checked(_KEY, option.key)[0]}:", *_checked(_VALUE, *option.values)] for option in statement.options]
    return " ".join([*words, *(" ".join(bracket) + "]" for bracket in brackets)])


def _load(load: Load) -> str:
    words = ["loadrt", *_checked(_WORD, load.op)]
    if load.names:
        words.append(f"names={','.join(_checked(_NAME, *load.names))}")
    values = [("count", load.count), ("domain", load.domain), ("type", load.type), *load.sizes]
    words += [f"{key}={value}" for key, value in values if value]
    return " ".join(words)


_WRITERS: Mapping[type, Callable[..., str]] = {
    Blank: lambda _: "",
    Body: lambda body: f"{_INDENT}body {quoted(body.text)}",
    Edges: _edges,
    Load: _load,
    Prop: lambda prop: " ".join([f"{_INDENT}prop", *_checked(_WORD, prop.field), *map(_text, prop.values)]),
    Schedule: _schedule,
    Set: _set,
    Source: lambda source: f"source {_text(source.path)}",
    Thread: lambda thread: f"thread {_checked(_WORD, thread.name)[0]} every {thread.every}",
    Wire: _wire,
}
