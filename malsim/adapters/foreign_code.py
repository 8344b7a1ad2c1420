"""Code of other packages: a command that meets some is begun again in a sandbox, which notes each call of it.

The environment says where a process is: without the mark, in a program of the user's, which loads what it names; with an
empty one, in a command, which loads nothing; with a folder, in a sandbox, where a call is noted in that folder.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from malsim.adapters.engine.sandbox_cleaner import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT, LOADING = 10.0, 60.0  # seconds that a call may take, and an import
NOTES, FORM, SIZE = "call-*", struct.Struct("Qd"), 512  # files of notes; their head, and bytes in all
_here = threading.local()


class CallNote(NamedTuple):
    """What a thread notes: how many beginnings and ends there were, odd during a call; seconds it may take; whose it is."""

    steps: int
    limit: float
    where: str


class NeedsSandboxError(BaseException):  # `except Exception` on the way is not to catch it
    """A command is about to load code of another package."""


@contextmanager
def command_process() -> Iterator[None]:
    """Let nothing of another package be loaded meanwhile, here or in workers, unless this is a sandbox already."""
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
    """Note in the sandbox's folder that a call is being made, and that it has ended; a fork that comes back from it ends."""
    process, note = os.getpid(), _note()
    if note is not None:
        text = where.encode("utf-8", "replace")[: SIZE - FORM.size - 1]
        note[FORM.size : FORM.size + len(text) + 1] = text + b"\0"
        FORM.pack_into(note, 0, _steps(note) + 1, limit)
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        if note is not None:
            FORM.pack_into(note, 0, _steps(note) + 1, limit)


def notes_in(folder: str) -> list[CallNote]:
    """The last note of every thread."""
    notes = []
    for path in Path(folder).glob(NOTES):
        with suppress(OSError, struct.error):
            data = path.read_bytes()
            steps, limit = FORM.unpack_from(data)
            where = data[FORM.size :].partition(b"\0")[0].decode("utf-8", "replace")
            notes.append(CallNote(steps, limit, where))
    return notes


def _steps(note: mmap.mmap) -> int:
    return int(FORM.unpack_from(note)[0])


def _note() -> mmap.mmap | None:
    """The note of a thread in a sandbox's folder; None where there is no sandbox."""
    folder = os.environ.get(MARK)
    if not folder:
        return None
    if getattr(_here, "owner", None) != (os.getpid(), folder):
        with Path(folder, f"call-{os.getpid()}-{threading.get_ident()}").open("w+b") as file:
            file.truncate(SIZE)
            _here.note = mmap.mmap(file.fileno(), SIZE)
        _here.owner = os.getpid(), folder
    note: mmap.mmap = _here.note
    return note
