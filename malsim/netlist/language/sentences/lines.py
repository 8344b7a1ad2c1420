"""Line splitter for netlist text: decoding, continuation lines, size limits and comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.files.text_files import IS_UTF16, is_utf16
from malsim.memory.schema import KINDS
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEFORE_COMMENT = re.compile(r'(?:[^"#]++|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))*+', re.DOTALL)
_FIELD_OF = re.compile(rf"(?:^|[\s(,^])(?:{'|'.join(KINDS)})_[\w.@~*<>]*\Z")
_FIELD = re.compile("#[A-Za-z_]")
_LONGEST_ADDRESS = 300  # maximum number of characters before a `#` that are searched for the start of an address
_BYTE_ORDER_MARK = "\ufeff"
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Line:
    """Logical line of a netlist: its text, its first physical line number, and the offsets of its continuation lines."""

    text: str
    number: int
    joints: tuple[int, ...] = ()

    def place(self, offset: int) -> tuple[int, int]:
        if not self.joints:
            return self.number, offset + 1
        later = bisect_right(self.joints, offset)
        return self.number + later, offset + 1 - (self.joints[later - 1] if later else 0)


def read_lines(source: str | bytes, file: str) -> tuple[list[Line], list[Fault]]:
    faults: list[Fault] = []
    return list(each_line(source, file, faults)), faults


def each_line(source: str | bytes, file: str, faults: list[Fault]) -> Iterator[Line]:
    """Split text into logical lines. A backslash at the end of a line joins it to the next line."""
    if len(source) > LIMITS["file_bytes"]:
        problem = f"the file is too large ({len(source)} bytes)"
        faults.append(Fault(problem=problem, file=file, allowed=f"at most {LIMITS['file_bytes']} bytes"))
        return
    text, bad_bytes = _decode(source, file)
    faults += bad_bytes
    physical = enumerate(_physical(text.removeprefix(_BYTE_ORDER_MARK)), 1)
    for number, piece in physical:
        line, wrong = _join(piece, number, physical, file)
        faults += wrong
        if not wrong:
            yield line


def _physical(text: str) -> Iterator[str]:
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield text[begin:end].rstrip(" \t\r")
        begin = end + 1


def _decode(source: str | bytes, file: str) -> tuple[str, list[Fault]]:
    if isinstance(source, str):
        half = _HALF.search(source)
        if half is None:
            return source, []
        before = source[: half.start()].split("\n")
        fault = Fault(
            problem="an unpaired surrogate, which UTF-8 cannot encode", file=file, line=len(before),
            column=len(before[-1]) + 1, words=ascii(half[0])[1:-1], hint="read the file as UTF-8",
        )  # fmt: skip
        return source.encode(errors="replace").decode(), [fault]
    if is_utf16(source):
        return "", [Fault(problem=IS_UTF16, file=file, line=1, column=1, words="", hint="save the file as UTF-8")]
    try:
        return source.decode(), []
    except UnicodeDecodeError as error:
        lines = source[: error.start].split(b"\n")
        fault = Fault(
            problem="not UTF-8 text", file=file, line=len(lines), column=len(lines[-1]) + 1,
            words=repr(source[error.start : error.start + 4])[2:-1], hint="save the file as UTF-8",
        )  # fmt: skip
        return source.decode(errors="replace"), [fault]


def _join(piece: str, number: int, more: Iterator[tuple[int, str]], file: str) -> tuple[Line, list[Fault]]:
    faults = _too_long(piece, number, file)
    if not piece.endswith("\\"):
        return Line(piece, number), faults
    pieces: list[str] = []
    joints: list[int] = []
    first, length = number, 0
    while (len(piece) - len(piece.rstrip("\\"))) % 2 == 1:
        pieces.append(piece[:-1])
        length += len(piece) - 1
        following = next(more, None)
        if following is None:
            problem = "the last line ends with a backslash, and no line follows"
            faults.append(Fault(problem=problem, file=file, line=number, column=len(piece), hint="remove it"))
            break
        joints.append(length)
        number, piece = following
        faults += _too_long(piece, number, file)
    else:
        pieces.append(piece)
    return Line("".join(pieces), first, tuple(joints)), faults


def _too_long(piece: str, number: int, file: str) -> list[Fault]:
    most = LIMITS["line_bytes"]
    if len(piece) * 4 <= most or (size := len(piece.encode(errors="surrogatepass"))) <= most:
        return []
    hint = "continue it on the next line with a backslash"
    return [
        Fault(problem=f"the line is too long ({size} bytes)", file=file, line=number, allowed=f"at most {most}", hint=hint)
    ]


def comment_at(text: str) -> int:
    """Return the offset of the first `#` outside quotes and addresses, or the length of the text if it has no comment.

    >>> comment_at('body "a # b"  # c'), comment_at("net low weak.in < dec_a3ee#scores.eff # why")
    (14, 38)
    """
    begin = 0
    while text.find("#", begin) >= 0:
        match = _BEFORE_COMMENT.match(text, begin)
        begin = match.end() if match else len(text)
        before = text[max(0, begin - _LONGEST_ADDRESS) : begin]
        if not (_FIELD.match(text, begin) and _FIELD_OF.search(before)):
            return begin
        begin += 1
    return len(text)
