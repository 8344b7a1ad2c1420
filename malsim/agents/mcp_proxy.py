"""Proxy between an agent and a memory's server over stdio: every byte is passed on at once, and copied to the log."""

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
WAITING = 128  # messages that wait for the log; what a killed recorder loses at most, well under a second of calls
LOG_PATIENCE = 1.0  # seconds that a message waits for a log that is behind, before it goes on unlogged
CHUNK = 1 << 16
LONGEST_LINE = 16 << 20  # a longer one goes on, and is not read
PATIENCE = 5.0  # seconds that a server has to end once its client is gone


def record(command: Sequence[str], log: TrafficLog, *, client: BinaryIO, answers: BinaryIO) -> int:
    """Run a server between `client` and `answers`, and log its calls; return the server's exit code.

    The server inherits stderr. It ends when its client closes, and the recorder ends with the server. A log that cannot be
    written is reported once on stderr, and messages are passed on. Raises `OSError` if the command cannot be started.
    """
    with any_addresses():
        server = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    copies: Copies = queue.Queue(WAITING)
    logger = threading.Thread(target=_log, args=(copies,))
    logger.start()
    threading.Thread(target=_ask, args=(client, server, lambda line: _copy(copies, log.sent, line)), daemon=True).start()
    stopping = signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    try:
        if server.stdout:
            _pass_on(server.stdout, answers, lambda line: _copy(copies, log.answered, line))
        return _ended(server)
    finally:
        signal.signal(signal.SIGTERM, stopping)
        copies.put(None)
        logger.join()


def _ask(client: BinaryIO, server: subprocess.Popen[bytes], copy: Callable[[bytes], None]) -> None:
    """Pass on what the client sends; close the server's input when the client closes."""
    if server.stdin:
        _pass_on(client, server.stdin, copy)
        with suppress(OSError):
            server.stdin.close()


def _pass_on(source: IO[bytes], target: IO[bytes], copy: Callable[[bytes], None]) -> None:
    """Pass on bytes until either side closes, and copy each line."""
    line = bytearray()
    with suppress(OSError):
        while chunk := os.read(source.fileno(), CHUNK):
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                copy(bytes(line + part))  # before the other side can answer it
                line.clear()
            line += rest if len(line) < LONGEST_LINE else b""
            target.write(chunk)
            target.flush()


def _copy(copies: Copies, note: Callable[[bytes], None], line: bytes) -> None:
    """Queue a message for the log; if the log is behind, pass the message on unlogged and say so."""
    try:
        copies.put((note, line), timeout=LOG_PATIENCE)
    except queue.Full:
        sys.stderr.write("malsim agent record: the log is behind; a message is not in it\n")


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


def _ended(server: subprocess.Popen[bytes]) -> int:
    try:
        return server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.terminate()
        return server.wait(PATIENCE)
