"""Safe display of foreign text: control characters are escaped and credentials are withheld."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import TextIO

# Control characters except tab and newline, direction marks, invisible characters (including tags), and surrogates.
_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_QUOTED, _QUOTED_IN_LINE = re.compile(f"[{_UNSAFE}]"), re.compile(f"[\n{_UNSAFE}]")
_PLANE = 0xFFFF
_ESCAPES = re.compile(r"\\(?:([\"\\n])|u([0-9a-f]{4})|U(000[0-9a-f]{5}))")


def plain_text(text: str) -> str:
    r"""Return the text with control characters and direction marks escaped and credentials withheld.

    >>> plain_text("a\x1b[31mb\u202ec")
    'a\\u001b[31mb\\u202ec'
    """
    # imported here because importing it compiles many patterns
    from malsim.base.screen import withheld

    return withheld(_QUOTED.sub(_escape, text))


def one_line(text: str) -> str:
    r"""Return the result of `plain_text` on one line, with line breaks and tabs escaped as well.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return plain_text(text).replace("\n", "\\n").replace("\t", "\\t")


def escaped(text: str) -> str:
    r"""Return the text on one line with every control or invisible character escaped. `unescaped` is the inverse.

    >>> escaped("a\n\x1b[0m\U000e0041"), escaped(r"a\n")
    ('a\\n\\u001b[0m\\U000e0041', 'a\\\\n')
    """
    return _QUOTED_IN_LINE.sub(_escape, text.replace("\\", "\\\\"))


def quoted(text: str) -> str:
    r"""Return the escaped text on one line in quotes, with inner quotes escaped as well.

    >>> print(quoted('say "no"'))
    "say \"no\""
    """
    return '"' + escaped(text).replace('"', '\\"') + '"'


def unescaped(text: str) -> str:
    r"""Return the original text from the output of `escaped` or `quoted`. Other backslashes stay unchanged.

    >>> unescaped(r"a\tb\u001b") == r"a\tb" + "\x1b"
    True
    """
    return _ESCAPES.sub(_unescape, text) if "\\" in text else text


def is_plain(text: str) -> bool:
    """Return whether `escaped` would leave the text unchanged, except for backslashes."""
    return _QUOTED_IN_LINE.search(text) is None


def block(text: str) -> str:
    r"""Return the text with a bar before each line, so that no line looks like the surrounding output.

    >>> print(block("a\nb"))
      | a
      | b
    """
    lines = plain_text(text).split("\n")  # the text is screened before the split because a key may span several lines
    return "\n".join(f"  | {one_line(line)}" for line in lines)


def _escape(match: re.Match[str]) -> str:
    letter = match[0]
    return "\\n" if letter == "\n" else f"\\u{ord(letter):04x}" if ord(letter) <= _PLANE else f"\\U{ord(letter):08x}"


def _unescape(match: re.Match[str]) -> str:
    sign, short, long = match.groups()
    return chr(int(short or long, 16)) if sign is None else "\n" if sign == "n" else sign


def filled(text: str, words: Mapping[str, str]) -> str:
    """Return the text with each `{name}` replaced by `words[name]`.

    Raises `LookupError` for any other field, and `ValueError` for an unclosed brace.

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
    """Return the first names (three by default) as text, followed by the number of names left out.

    >>> listed(["a", "b", "c", "d"]), listed(["a"])
    ('a, b, c and 1 more', 'a')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


class PlainStream:
    """Stream that passes all written text through `plain_text`. Other attributes are those of the wrapped stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(plain_text(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
