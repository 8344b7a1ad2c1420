"""Proxy between an agent and a memory server over stdio: every byte is passed on at once and copied to the log."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING, BinaryIO

from malsim.base.limits import any_addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.agents.traffic_log import TrafficLog

Copies = queue.Queue["tuple[Callable[[bytes], None], bytes] | None"]
WAITING = 128  # messages in the queue of the log, the most that a killed recorder can lose
LOG_PATIENCE = 1.0  # seconds that a message waits for a full queue, before it is passed on unlogged
CHUNK = 1 << 16
LONGEST_LINE = 16 << 20  # a longer line is passed on, and not logged
PATIENCE = 5.0  # seconds that a server has to end after its client has left


def record(command: Sequence[str], log: TrafficLog, *, client: BinaryIO, answers: BinaryIO) -> int:
    """Run a server between `client` and `answers`, log its calls, and return its exit code.

    The server inherits stderr. It ends when the client closes, and the recorder ends with the server. A log that cannot be
    written is reported once on stderr, and messages are still passed on. Raises `OSError` if the command cannot start.
    """
    with any_addresses():
        server = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    copies: Copies = queue.Queue(WAITING)
    logger = threading.Thread(target=_log, args=(copies,))
    logger.start()

    def forward() -> None:
        if server.stdin:
            _pass_on(client, server.stdin, lambda line: _copy(copies, log.sent, line))
            with suppress(OSError):
                server.stdin.close()

    threading.Thread(target=forward, daemon=True).start()
    stopping = signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    try:
        if server.stdout:
            _pass_on(server.stdout, answers, lambda line: _copy(copies, log.answered, line))
        return _exit_code(server)
    finally:
        signal.signal(signal.SIGTERM, stopping)
        copies.put(None)
        logger.join()


def _pass_on(source: IO[bytes], target: IO[bytes], copy: Callable[[bytes], None]) -> None:
    """Pass on bytes until either side closes, and copy each line."""
    line = bytearray()
    with suppress(OSError):
        while chunk := os.read(source.fileno(), CHUNK):
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                copy(bytes(line + part))  # before the other side can answer
                line.clear()
            line += rest if len(line) < LONGEST_LINE else b""
            target.write(chunk)
            target.flush()


def _copy(copies: Copies, note: Callable[[bytes], None], line: bytes) -> None:
    """Queue a message for the log; report on stderr a message that is left out because the queue is full."""
    try:
        copies.put((note, line), timeout=LOG_PATIENCE)
    except queue.Full:
        sys.stderr.write("malsim agent record: the log is too slow; a message is missing from it\n")


def _log(copies: Copies) -> None:
    failed = False
    while (entry := copies.get()) is not None:
        note, line = entry
        try:
            note(line)
        except OSError as problem:
            if not failed:
                sys.stderr.write(f"malsim agent record: the log cannot be written: {problem}\n")
            failed = True


def _exit_code(server: subprocess.Popen[bytes]) -> int:
    try:
        return server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.terminate()
        return server.wait(PATIENCE)
