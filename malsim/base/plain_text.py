"""Text of others as people may read it: control characters quoted, credentials withheld."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import TextIO

# Control characters but tab and newline; marks that turn the direction of text; what no encoding writes.
_QUOTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def plain_text(text: str) -> str:
    r"""The text with control characters, escapes and marks of direction written out, and each credential withheld.

    >>> plain_text("a\x1b[31mb\u202ec")
    'a\\u001b[31mb\\u202ec'
    """
    from malsim.base.screen import withheld  # its patterns are compiled when first needed

    return withheld(_QUOTED.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def one_line(text: str) -> str:
    r"""The same, in one line.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return plain_text(text).replace("\n", "\\n")


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text with `{name}` replaced by each word, and nothing worked out: no width, no attribute, no conversion.

    Raises `LookupError` for a field that is none of the words alone, `ValueError` for a brace that is not closed.

    >>> filled("{object} is {value} {{x}}", {"object": "valve", "value": "open"})
    'valve is open {x}'
    """
    parts = list[str]()
    for literal, name, width, conversion in Formatter().parse(text):
        parts.append(literal)
        if name is not None:
            if width or conversion:
                raise LookupError(name)
            parts.append(words[name])
    return "".join(parts)


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first few names, and how many more there are: three are read at a glance.

    >>> listed(["a", "b", "c", "d"]), listed(["a"])
    ('a, b, c and 1 more', 'a')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


class PlainStream:
    """A stream that writes all text as `plain_text` does; everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, plain."""
        self._stream.write(plain_text(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each, plain."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
