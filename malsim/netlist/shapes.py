"""The parse tree of a sentence or an address: texts of one shape share a tree, which the parser makes once.

A text is cut into pieces: plain words, quoted texts, blanks, single signs. To every rule of `netlist.lark` one plain word is
as good as another (a keyword but at the beginning, and only there), and so is one quoted text; what is left when each of
them is replaced by the shortest is the shape. Its tree, filled with a text's own words, is the text's.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import resources
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from malsim.netlist.lexicon import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["parsed"]

Start: TypeAlias = Literal["sentence", "address"]
LONGEST = 1000  # a longer text's shape is hardly ever met again
_SHORTEST = {
    "sentence": {r'"[^"\\]*+(?:\\.[^"\\]*+)*+"': '""', r'[^\s"\\()\[\]<>=]+': "a", r"[ \t]+": " "},
    "address": {r"[^\s.()-]+": "a"},
}
_KINDS = {
    start: [(re.compile(kind, re.DOTALL), short) for kind, short in kinds.items()] for start, kinds in _SHORTEST.items()
}
_PIECE = {start: re.compile("|".join([*kinds, "."]), re.DOTALL) for start, kinds in _SHORTEST.items()}
_KEYWORD = re.compile(rf"[ \t]*(?:(?:{'|'.join(KEYWORDS)})(?=[ \t]|$))?")
_UNLIKE = re.compile(r"\[|->|<-")  # signs that make a difference within a quoted text or a plain word


class _Place(NamedTuple):
    """Where a token stands: the first of its pieces, and the piece after its last."""

    type: str
    first: int
    end: int


class _Shape(NamedTuple):
    """A tree with places for tokens."""

    data: str
    children: tuple[_Shape | _Place | None, ...]


@cache
def grammar() -> Lark:
    """The parser made from `netlist.lark`, with the start symbols `sentence` and `address`."""
    text = (resources.files(__package__) / "netlist.lark").read_text(encoding="utf-8")
    return Lark(text, start=["sentence", "address"], parser="lalr", lexer="contextual")


def parsed(text: str, start: Start) -> Tree[Token]:
    """The tree of a text, its tokens with their types and where they begin.

    Raises
    ------
    lark.exceptions.UnexpectedInput
        Where it is none.

    >>> parsed("setp weak.level 0.5", "sentence").children
    [Token('WORD', 'weak.level'), Token('WORD', '0.5')]
    """
    alike = len(text) <= LONGEST and not _UNLIKE.search(text)
    if alike and (shape := _shape(_outline(text, start), start)):
        return _filled(shape, text, [0, *accumulate(map(len, _PIECE[start].findall(text)))])
    return grammar().parse(text, start=start)


def _outline(text: str, start: Start) -> str:
    """The text with the shortest of each kind of piece in place of each; a keyword that it begins with stays."""
    keyword = _KEYWORD.match(text)
    kept = keyword.end() if keyword else 0
    rest = text[kept:]
    for kind, shortest in _KINDS[start]:
        rest = kind.sub(shortest, rest)
    return text[:kept] + rest


@lru_cache(maxsize=1024)
def _shape(outline: str, start: Start) -> _Shape | None:
    """The tree of an outline by pieces; none where it has none, and the parser is to say why."""
    try:
        tree = grammar().parse(outline, start=start)
    except UnexpectedInput:
        return None
    ends = list(accumulate(map(len, _PIECE[start].findall(outline))))
    return _placed(tree, {end: piece for piece, end in enumerate([0, *ends])})


def _placed(tree: Tree[Token], pieces: dict[int, int]) -> _Shape:
    children: list[_Shape | _Place | None] = []
    for child in tree.children:
        if isinstance(child, Token):
            children.append(_Place(child.type, pieces[child.start_pos or 0], pieces[child.end_pos or 0]))
        else:
            children.append(_placed(child, pieces) if isinstance(child, Tree) else None)
    return _Shape(tree.data, tuple(children))


def _filled(shape: _Shape, text: str, begins: Sequence[int]) -> Tree[Token]:
    children: list[Any] = []  # the parser too puts None where a word may stand and does not
    for child in shape.children:
        if isinstance(child, _Place):
            begin = begins[child.first]
            children.append(Token(child.type, text[begin : begins[child.end]], begin))
        else:
            children.append(_filled(child, text, begins) if child else None)
    return Tree(shape.data, children)
