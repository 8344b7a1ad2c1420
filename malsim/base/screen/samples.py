"""Sample texts generated from a format's pattern: stand-ins for credentials, and the corpus that tests the screen."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random

_PIECES = re.compile(
    r"(?P<skip>\\b|\(\?i:(?=.*\)$)|[\^$])|(?P<class>\[\^?(?:\\.|[^\]\\])+\])|(?P<escape>\\.)|(?P<open>\((?:\?:|\?i:)?)"
    r"|(?P<close>\))|(?P<or>\|)|(?P<times>[?*+]|\{\d+(?:,\d*)?\})|(?P<letter>.)",
    re.DOTALL,
)
_CLASSES = {r"\d": string.digits, r"\s": " ", r"\w": string.ascii_letters + string.digits + "_"}
_ALL = string.ascii_letters + string.digits + string.punctuation + " "
_PREFERRED = "xX0pa"


class Node(NamedTuple):
    """Class of letters, or the branches of a group, and the number of repetitions."""

    content: str | list[list[Node]]
    least: int = 1
    most: int = 1


def sample(pattern: str, draw: random.Random | None = None) -> str:
    r"""Return a text that a pattern matches: letters drawn at random, or all the same without `draw`.

    Patterns are those of `formats.toml`: letters, classes, groups, alternatives and repeats.

    >>> sample(r"\bgh[pousr]_[A-Za-z0-9_]{4,}\b")
    'ghp_xxxx'
    """
    nodes, _ = _alternatives(list(_PIECES.finditer(pattern)), 0)
    return _text(nodes, draw)


def _alternatives(pieces: list[re.Match[str]], at: int) -> tuple[list[list[Node]], int]:
    """Return the branches from a piece to the closing bracket or the end, and the index of that."""
    branches: list[list[Node]] = [[]]
    while at < len(pieces) and pieces[at].lastgroup != "close":
        kind, text = pieces[at].lastgroup, pieces[at][0]
        at += 1
        if kind == "or":
            branches.append([])
        elif kind == "times":
            branches[-1][-1] = Node(branches[-1][-1].content, *_times(text))
        elif kind == "open" or text == "(?i:":
            inner, at = _alternatives(pieces, at)
            branches[-1].append(Node(inner))
            at += 1
        elif kind == "class":
            branches[-1].append(Node(_members(text)))
        elif kind != "skip":
            branches[-1].append(Node(_CLASSES.get(text, text[-1])))
    return branches, at


def _times(text: str) -> tuple[int, int]:
    if text in "?*+":
        return (1, 3) if text == "+" else (0, 1)
    low, _, high = text[1:-1].partition(",")
    return int(low), int(high) if high else int(low) + (4 if "," in text else 0)


def _members(text: str) -> str:
    letters = re.compile(text, re.ASCII)
    return "".join(letter for letter in _ALL if letters.fullmatch(letter))


def _text(branches: list[list[Node]], draw: random.Random | None) -> str:
    parts = []
    for content, least, most in branches[0] if draw is None else draw.choice(branches):
        for _ in range(least if draw is None else draw.randint(least, min(most, least + 8))):
            if isinstance(content, list):
                parts.append(_text(content, draw))
            elif draw is None:
                parts.append(next((letter for letter in _PREFERRED if letter in content), content[0]))
            else:
                parts.append(draw.choice(content))
    return "".join(parts)
