"""A text read by its shape has the tree that the parser makes of it, word for word and place for place, or none as well."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from malsim.netlist import NetlistError, load
from malsim.netlist.shapes import grammar, parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.netlist.shapes import Start

WORDS = [
    "net", "body", "prop", "every", "addf", "loadrt", "setp", "thread", "source", "a", "obs_9c1f", "a.b", "x-y", "b=2", "\\",
    "->", "<-", "=>", "<=", ">", "<", "=", "(.5)", "conf(.7!)", "supports>", "a->b", "^a", "a\\", "é", "\xa0", "\u2003",
    '"t  x"', '""', '"', '"\\""', '"(a"', "[a: b]", '[a "b] c"]', "[", "]", "mean(a.b)", "a.~b.*-c", "a@v2", "\x0b", "\n",
]  # fmt: skip
LINES = st.lists(
    st.tuples(st.sampled_from(WORDS) | st.text(max_size=4), st.sampled_from(["", " ", " ", "  ", "\t"])), max_size=7
).map(lambda words: "".join(word + blank for word, blank in words))


def said(read: Callable[[], Tree[Token]]) -> Any:
    """A tree as nested lists with the types, words and places of its tokens; nothing where there is none."""
    try:
        return _plain(read())
    except UnexpectedInput:
        return None


def _plain(node: Tree[Token] | Token | None) -> Any:
    if isinstance(node, Token):
        return node.type, str(node), node.start_pos
    return node and [str(node.data), *map(_plain, node.children)]


@pytest.mark.parametrize("start", ["sentence", "address"])
@given(line=LINES)
@example(line='  loadrt "t x"')
@example(line='a "b \\" (.5)')
@example(line='"caps("')
@example(line="thread every every 10")
def test_the_tree_of_a_shape_is_the_parsers(start: Start, line: str) -> None:
    text = "".join(line.split()) if start == "address" else line
    assert said(lambda: parsed(text, start)) == said(lambda: grammar().parse(text, start=start))


def test_a_text_at_fault_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold()
    with pytest.raises(NetlistError):
        load("addf nobody-ships-this tick")
    assert gc.get_threshold() == before
