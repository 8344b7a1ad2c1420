"""Permission to load foreign code in this process, and records of running calls.

The environment variable `MALSIM_SANDBOX` names the kind of process. Unset: a user's program, which may load foreign code.
Empty: a command, which is restarted in a sandbox before it loads foreign code. A folder: a sandbox, where each call is noted
in a file of that folder.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

MARK = "MALSIM_SANDBOX"
LIMIT, LOADING = 10.0, 60.0  # time limits in seconds for a call and for an import
# note files: pattern of their names, format of (deadline, limit), and size in bytes
NOTES, FORM, SIZE = "call-*", struct.Struct("dd"), 512


class CallNote(NamedTuple):
    """Record of a running call: its owner, its limit in seconds, and its deadline (on the `time.monotonic` clock)."""

    where: str
    limit: float
    deadline: float


class NeedsSandboxError(BaseException):  # not an `Exception`, so that `except Exception` does not catch it
    """Error raised when a command tries to load foreign code outside a sandbox."""


@contextmanager
def command_process() -> Iterator[None]:
    """Forbid loading of foreign code in the block, here and in worker processes, unless this process is a sandbox."""
    before = os.environ.get(MARK)
    os.environ.setdefault(MARK, "")
    try:
        yield
    finally:
        if before is None:
            del os.environ[MARK]


def before_loading(where: str) -> None:
    """Raise `NeedsSandboxError` if this process may not load foreign code."""
    if os.environ.get(MARK) == "":
        raise NeedsSandboxError(where)


@contextmanager
def noted(where: str, limit: float = LIMIT) -> Iterator[None]:
    """Record a call in the sandbox's folder while the block runs. A forked child that leaves the block is terminated."""
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
    """Return the calls that are running in a sandbox, or were running when its processes ended."""
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
