"""Grammar of one line, and conversion of parse errors to faults with a position, the allowed words and an example."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, TypeAlias

from lark import Lark
from lark.exceptions import UnexpectedToken

from malsim.base.errors import AddressError
from malsim.netlist.language.lexicon import FORMS, KEYWORDS
from malsim.netlist.language.values import handle

if TYPE_CHECKING:
    from lark import Token, Tree
    from lark.exceptions import UnexpectedInput

    from malsim.netlist.language.faults import Fault
    from malsim.netlist.language.sentences.reading import Reading


Start: TypeAlias = Literal["sentence", "address"]


@cache
def _grammar() -> Lark:
    text = (resources.files(__package__) / "grammar.lark").read_text(encoding="utf-8")
    return Lark(text, start=["sentence", "address"], parser="lalr", lexer="contextual")


def parse_tree(text: str, start: Start) -> Tree[Token]:
    """Parse a statement or an address into a tree of tokens with types and positions.

    >>> parse_tree("setp weak.level 0.5", "sentence").children
    [Token('WORD', 'weak.level'), Token('WORD', '0.5')]
    """
    return _grammar().parse(text, start=start)


MOST_NAMED = 5
_ODD_BLANK = re.compile(r'[^\s"]*([^\S \t])')
_NAMES = {
    "WORD": "a word", "STRING": '"text"', "VALUE": "field(value)", "BRACKET": "[key: values]", "EQUAL": "=",
    "_EVERY": "every", "RELATION": "relation>", "JOINED": "relation->target", "TARGET": "a target", "PAREN": "(weight)",
    "ARROW": "< or >", "NOTE": "a word", "$END": "the end of the line",
}  # fmt: skip


def syntax_fault(error: UnexpectedInput, words: str, reading: Reading) -> Fault:
    """Convert a parse error to a fault that names the word where parsing stopped, what is allowed there, and an example."""
    kind_read = error.token.type if isinstance(error, UnexpectedToken) else ""
    offset = len(words) if kind_read == "$END" else error.pos_in_stream or 0
    form = _form(words)
    rest = words[offset:]
    kind = f"not a {form} statement" if form else "not a statement"
    incomplete = f"{kind}: " + ("not allowed here" if rest else "the line is incomplete")
    expected = getattr(error, "allowed", None) or getattr(error, "expected", None) or ()
    names = sorted({_NAMES.get(terminal, "") for terminal in expected} - {""})
    return reading.fault_at(
        offset,
        _unreadable(rest, kind_read) or _bad_handle(words, form) or incomplete,
        words=(rest.split(maxsplit=1) or [words])[0],
        allowed=" or ".join(names) if len(names) <= MOST_NAMED else "",
        hint=f"write {FORMS[form]}" if form else f"begin with {', '.join(KEYWORDS)} or a handle",
    )


def _form(words: str) -> str:
    first, second, third = (*words.split(maxsplit=3), "", "", "")[:3]
    if first in KEYWORDS:
        return first
    if second.startswith(('"', "[")) or ("(" in second and not first.endswith(("<", ">"))):
        return "cell"
    if "=" in {second, third} or "=" in first:
        return "set"
    return "edge" if any(mark in word for word in (first, second) for mark in "<>") else ""


def _unreadable(rest: str, kind_read: str) -> str:
    if not rest or kind_read in {"STRING", "BRACKET"}:
        return ""
    if rest[0] in '"[':
        return "a quote is never closed" if rest[0] == '"' else "a bracket is never closed"
    if blank := _ODD_BLANK.match(rest):
        return f"the character U+{ord(blank[1]):04X} is not allowed here"
    return "a quote is inside a word" if '"' in rest.split(maxsplit=1)[0] else ""


def _bad_handle(words: str, form: str) -> str:
    first = words.split(maxsplit=1)[0].removeprefix("^")
    if form != "cell" and (form != "edge" or "<" in first or ">" in first):
        return ""
    try:
        handle(first)
    except AddressError as error:
        return error.problem
    return ""
