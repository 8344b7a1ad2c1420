"""The parser that `grammar.lark` makes."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, TypeAlias

from lark import Lark

if TYPE_CHECKING:
    from lark import Token, Tree

Start: TypeAlias = Literal["sentence", "address"]


@cache
def _grammar() -> Lark:
    text = (resources.files(__package__) / "grammar.lark").read_text(encoding="utf-8")
    return Lark(text, start=["sentence", "address"], parser="lalr", lexer="contextual")


def parse_tree(text: str, start: Start) -> Tree[Token]:
    """Return the tree of a sentence or an address, its tokens with their types and where they begin.

    Raises
    ------
    lark.exceptions.UnexpectedInput
        Where it is none.

    >>> parse_tree("setp weak.level 0.5", "sentence").children
    [Token('WORD', 'weak.level'), Token('WORD', '0.5')]
    """
    return _grammar().parse(text, start=start)
