"""Bytes to sentences: decoding, continuation, limits, and the comment at the end of a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from malsim.netlist.faults import Fault
from malsim.netlist.lexicon import LIMITS

__all__ = ["Line", "comment_at", "read_lines"]

_BEFORE_COMMENT = re.compile(r'(?:[^"#]++|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))*+', re.DOTALL)
_BYTE_ORDER_MARK = "\ufeff"
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence's text, joined, the number of its first line, and where in it further lines begin."""

    text: str
    number: int
    joints: tuple[int, ...] = ()

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column, from 1, of a character of the joined text."""
        later = bisect_right(self.joints, offset)
        return self.number + later, offset + 1 - (self.joints[later - 1] if later else 0)


def read_lines(source: str | bytes, file: str) -> tuple[list[Line], list[Fault]]:
    """Split text into sentences, one a line; a backslash at a line's end joins the next to it.

    Parameters
    ----------
    source
        Text, or bytes taken as UTF-8.
    file
        What faults call it.
    """
    if len(source) > LIMITS["file_bytes"]:
        problem = f"{len(source)} bytes in one file are too many"
        return [], [Fault(problem=problem, file=file, allowed=f"at most {LIMITS['file_bytes']}")]
    text, faults = _decoded(source, file)
    lines: list[Line] = []
    physical = text.removeprefix(_BYTE_ORDER_MARK).split("\n")
    if not physical[-1]:
        physical.pop()
    position = 0
    while position < len(physical):
        taken, faulty = _joined(physical, position, file)
        faults += faulty
        if not faulty:
            lines.append(taken)
        position += len(taken.joints) + 1
    return lines, faults


def _decoded(source: str | bytes, file: str) -> tuple[str, list[Fault]]:
    if isinstance(source, str):
        half = _HALF.search(source)
        if half is None:
            return source, []
        before = source[: half.start()].split("\n")
        fault = Fault(
            problem="half a character, which no UTF-8 text holds", file=file, line=len(before), column=len(before[-1]) + 1,
            words=ascii(half[0])[1:-1], hint="read the file as UTF-8",
        )  # fmt: skip
        return source.encode(errors="replace").decode(), [fault]
    try:
        return source.decode(), []
    except UnicodeDecodeError as error:
        lines = source[: error.start].split(b"\n")
        fault = Fault(
            problem="this is not UTF-8 text", file=file, line=len(lines), column=len(lines[-1]) + 1,
            words=repr(source[error.start : error.start + 4])[2:-1], hint="save the file as UTF-8",
        )  # fmt: skip
        return source.decode(errors="replace"), [fault]


def _joined(physical: list[str], position: int, file: str) -> tuple[Line, list[Fault]]:
    """The sentence that begins at this line, with every line that a trailing backslash joins to it."""
    pieces: list[str] = []
    joints: list[int] = []
    faults: list[Fault] = []
    length = 0
    for number in range(position, len(physical)):
        piece = physical[number].rstrip(" \t\r")
        faults += _too_long(piece, number, file)
        goes_on = (len(piece) - len(piece.rstrip("\\"))) % 2 == 1
        pieces.append(piece[:-1] if goes_on else piece)
        if not goes_on:
            break
        length += len(piece) - 1
        joints.append(length)
    else:
        joints.pop()
        problem = "the last line ends with a backslash, and no line follows"
        faults.append(Fault(problem=problem, file=file, line=len(physical), column=len(piece), hint="take it away"))
    return Line("".join(pieces), position + 1, tuple(joints)), faults


def _too_long(piece: str, number: int, file: str) -> list[Fault]:
    most = LIMITS["line_bytes"]
    if len(piece) * 4 <= most or (size := len(piece.encode(errors="surrogatepass"))) <= most:
        return []
    hint = "break it with a backslash at the end"
    return [
        Fault(
            problem=f"{size} bytes on one line are too many",
            file=file,
            line=number + 1,
            allowed=f"at most {most}",
            hint=hint,
        )
    ]


def comment_at(text: str) -> int:
    """Where the comment begins: the first `#` outside quotes, or the end.

    >>> comment_at('body "a # b"  # c')
    14
    """
    if "#" not in text:
        return len(text)
    match = _BEFORE_COMMENT.match(text)
    return match.end() if match else len(text)
