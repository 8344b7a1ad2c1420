"""Reader of UTF-8 text files with or without a byte order mark."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from malsim.base.errors import DataError, MalsimError

_OTHERS = (BOM_UTF16_LE, BOM_UTF16_BE)
IS_UTF16 = "the text is UTF-16, not UTF-8"


def is_utf16(head: bytes) -> bool:
    """Return whether the bytes start with a UTF-16 byte order mark, or with an ASCII character encoded in UTF-16."""
    return head.startswith(_OTHERS) or head[:2].count(0) == 1


def without_mark(data: bytes) -> bytes:
    return data.removeprefix(BOM_UTF8)


def read_text(path: str | Path, *, refused: type[MalsimError] = DataError) -> str:
    """Return the text of a UTF-8 file without its byte order mark and with Unix line endings.

    Raises `refused` for a file in UTF-16 or another encoding.
    """
    data = Path(path).read_bytes()
    if is_utf16(data):
        raise refused(IS_UTF16, where=str(path), hint="save the file as UTF-8")
    try:
        text = without_mark(data).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise refused("not UTF-8 text", where=f"{path}:{line}", hint="save the file as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
