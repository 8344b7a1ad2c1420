"""Random mutations that turn valid inputs into hostile ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

__all__ = ["hostile_bytes", "hostile_text"]

NUMBERS = (
    "0", "-1", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "9" * 400, "0." + "3" * 400, "9e16", "2**63", "1_000", "0x10", "1e400",
    "99999999999999999999", "true", '"x"', "[]",
)  # fmt: skip
WORDS = (
    "", "../../etc/hostname", "/etc/hostname", "a\0b", "x" * 5_000, "\x1b[31m", "\u202e", "$$", "a\nb", "ä" * 300, "*", "-" * 50, "((((", "@",
    "C:\\x", "~", "..", ".", "con", "{}", "%s", "obs_a1a1", "'; drop table cells; --",
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_QUOTED = re.compile(r'"[^"\n]*"')


def hostile_text(text: str, draw: random.Random) -> str:
    """Return the text after one to three random changes to numbers, quoted words, lines, characters or brackets."""
    for _ in range(draw.randint(1, 3)):
        text = draw.choice((_number, _word, _line, _letters, _nested))(text, draw)
    return text


def _replaced(pattern: re.Pattern[str], text: str, draw: random.Random, put: str) -> str:
    spans = [match.span() for match in pattern.finditer(text)]
    if not spans:
        return text + put
    start, end = draw.choice(spans)
    return text[:start] + put + text[end:]


def _number(text: str, draw: random.Random) -> str:
    return _replaced(_NUMBER, text, draw, draw.choice(NUMBERS))


def _word(text: str, draw: random.Random) -> str:
    word = draw.choice(WORDS)
    return _replaced(_QUOTED, text, draw, '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"')


def _line(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at = draw.randrange(len(lines))
    what = draw.randrange(4)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, draw.choice(lines))
    elif what == 2:
        lines[at : at + 1] = [lines[at]] * draw.choice((2, 50))
    else:
        lines = lines[:at]
    return "\n".join(lines)


def _letters(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    letter = draw.choice(("\0", "\x1b", "\u202e", "[", "]", '"', "=", "(", "\\", "#", ".", "-", "𝒳"))
    return text[:at] + letter + text[at + draw.randint(0, 3) :]


def _nested(text: str, draw: random.Random) -> str:
    at, many = draw.randrange(len(text) + 1), draw.choice((3, 300, 3_000))
    left, right = draw.choice((("[", "]"), ("(", ")"), ("{a=", "}"), ("not ", "")))
    return text[:at] + left * many + right * many + text[at:]


def hostile_bytes(data: bytes, draw: random.Random) -> bytes:
    """Return the bytes after one to eight random truncations, replacements or bit flips."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(changed)) if changed else 0
        what = draw.randrange(3)
        if what == 0 and draw.random() < 0.2:
            del changed[at:]
        elif what == 1:
            changed[at : at + draw.randint(1, 8)] = draw.randbytes(draw.randint(1, 8))
        elif changed:
            changed[at % len(changed)] ^= 1 << draw.randrange(8)
    return bytes(changed)
