"""Views of a text that may reveal a credential: look-alike letters replaced, broken lines joined, one layer decoded."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Letters that look like others or like nothing: invisible, full width, mathematical, in circles, small forms.
DRESSED = (
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2070-\u209c"
    r"\u2460-\u24ff\u3164\ufe00-\ufe0f\ufe50-\ufe6f\ufeff\uff01-\uff5e\uffa0\U0001d400-\U0001d7ff\U0001f130-\U0001f189"
    r"\U000e0000-\U000e01ef]"
)
_DRESSED = re.compile(DRESSED)
_BREAK = re.compile(r"(?<=[A-Za-z0-9_+/=.~$:-])[\"']?[ \t]*\\?\r?\n[ \t>|#*]*[\"']?(?=[A-Za-z0-9_+/=.~$:-])")
_ESCAPE = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-z]{2,6});|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|\\u\{[0-9A-Fa-f]{1,5}\}|\\U000[0-9A-Fa-f]{5}"
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,4096}={0,2}(?![A-Za-z0-9+/_=-])")
_TAG = re.compile("[\U000e0020-\U000e007e]")  # letters of ASCII that are not shown
_INVISIBLE = ("Cf", "Mn")  # formatting, and marks that stand on nothing


class TextView(NamedTuple):
    """Text, with the start and end of each of its letters in the text that it was read from."""

    text: str
    starts: list[int]
    ends: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self.starts[start], self.ends[end - 1]

    @classmethod
    def of(cls, pieces: Iterator[tuple[str, int, int]]) -> TextView:
        """Build a view from (piece, start, end); all letters of a piece map to its start and end."""
        letters = [(letter, start, end) for piece, start, end in pieces for letter in piece]
        text, starts, ends = zip(*letters, strict=True) if letters else ((), (), ())
        return cls("".join(text), [*starts], [*ends])


def views(text: str) -> Iterator[TextView]:
    """Yield the decoded views of a text that differ from it, each decoded from the original text."""
    if _DRESSED.search(text):
        yield TextView.of(_undressed(text))
    if _TAG.search(text):
        yield TextView.of(_replaced(text, _TAG, lambda match: chr(ord(match[0]) - 0xE0000)))
    if _BREAK.search(text):
        yield TextView.of(_replaced(text, _BREAK, lambda _: ""))
    if _ESCAPE.search(text):
        yield TextView.of(_replaced(text, _ESCAPE, _decoded))


def decoded_blobs(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the decoded text, start and end of each piece of base64 that decodes to something printable.

    >>> list(decoded_blobs("see " + base64.b64encode(b"the pump is off today").decode()))
    [('the pump is off today', 4, 32)]
    """
    for match in _BLOB.finditer(text):
        body = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            plain = base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            continue
        if plain.replace("\n", "").isprintable():
            yield plain, *match.span()


def _undressed(text: str) -> Iterator[tuple[str, int, int]]:
    for index, letter in enumerate(text):
        if letter.isascii():
            yield letter, index, index + 1
        elif unicodedata.category(letter) not in _INVISIBLE and not unicodedata.name(letter, "").endswith("FILLER"):
            yield unicodedata.normalize("NFKC", letter), index, index + 1


def _replaced(text: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> Iterator[tuple[str, int, int]]:
    start = 0
    for match in chain(pattern.finditer(text), [None]):
        end = match.start() if match else len(text)
        yield from ((text[index], index, index + 1) for index in range(start, end))
        if match:
            yield change(match), *match.span()
            start = match.end()


def _decoded(match: re.Match[str]) -> str:
    piece = match[0]
    if piece.startswith("%"):
        return unquote(piece)
    if piece.startswith("\\"):
        return chr(int(piece[2:].strip("{}"), 16))
    return html.unescape(piece)
