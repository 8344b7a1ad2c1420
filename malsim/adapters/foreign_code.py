"""Permission to load code of other packages in this process, and the notes of running calls.

The environment variable `MALSIM_SANDBOX` names the kind of process. Unset: a user's program, which loads the code that
it names. Empty: a command, which loads no foreign code and is restarted in a sandbox. A folder: a sandbox, in which each
call is noted in a file of that folder.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "MALSIM_SANDBOX"
LIMIT, LOADING = 10.0, 60.0  # seconds that a call may take, and an import
NOTES, FORM, SIZE = "call-*", struct.Struct("dd"), 512  # files of notes; deadline and limit at their head; bytes in all


class CallNote(NamedTuple):
    """Running call: its owner, its limit in seconds, and its deadline (`time.monotonic`)."""

    where: str
    limit: float
    deadline: float


class NeedsSandboxError(BaseException):  # `except Exception` on the way is not to catch it
    """Error of a command that is about to load code of another package."""


@contextmanager
def command_process() -> Iterator[None]:
    """Prevent loading of foreign packages within the block, here and in workers, unless this is a sandbox."""
    before = os.environ.get(MARK)
    os.environ.setdefault(MARK, "")
    try:
        yield
    finally:
        if before is None:
            del os.environ[MARK]


def before_loading(where: str) -> None:
    """Raise `NeedsSandboxError` where code of another package may not be loaded.

    >>> with command_process():
    ...     before_loading("theirs")
    Traceback (most recent call last):
        ...
    malsim.adapters.foreign_code.NeedsSandboxError: theirs
    """
    if os.environ.get(MARK) == "":
        raise NeedsSandboxError(where)


@contextmanager
def noted(where: str, limit: float = LIMIT) -> Iterator[None]:
    """Note a running call in the sandbox's folder. A forked process that returns from the call ends."""
    process, folder = os.getpid(), os.environ.get(MARK)
    note = _note(folder, process) if folder else None
    if note is not None:
        text = where.encode("utf-8", "replace")[: SIZE - FORM.size - 1] + b"\0"
        note[FORM.size : FORM.size + len(text)] = text
        FORM.pack_into(note, 0, time.monotonic() + limit, limit)
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        if note is not None:
            FORM.pack_into(note, 0, 0.0, 0.0)


def calls_in(folder: str) -> list[CallNote]:
    """Return the calls that the processes of a sandbox are making, or were making when they ended."""
    notes = []
    for path in Path(folder).glob(NOTES):
        with suppress(OSError, struct.error):
            data = path.read_bytes()
            deadline, limit = FORM.unpack_from(data)
            notes.append(CallNote(data[FORM.size :].partition(b"\0")[0].decode("utf-8", "replace"), limit, deadline))
    return [note for note in notes if note.deadline]


@cache
def _note(folder: str, process: int) -> mmap.mmap:
    with Path(folder, f"call-{process}").open("w+b") as file:
        file.truncate(SIZE)
        return mmap.mmap(file.fileno(), SIZE)
