"""Recorder between an agent and a memory server over stdio: a proxy that logs each event as one screened JSON line."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO

from malsim.agents.tool_calls import CallEvent, events_of, item_name
from malsim.base.errors import UsageError
from malsim.base.limits import any_addresses
from malsim.base.screen import withheld

DAY = 86_400.0
LONGEST = 4_000  # maximum number of characters per logged text
Copies = queue.Queue["tuple[Callable[[bytes], None], bytes] | None"]
WAITING = 128  # maximum number of messages waiting to be logged, which a killed recorder would lose
LOG_PATIENCE = 1.0  # maximum wait for a full queue, in seconds; after that, a message is passed on but not logged
CHUNK = 1 << 16
LONGEST_LINE = 16 << 20  # maximum length of a logged line in bytes; a longer line is passed on but not logged
PATIENCE = 5.0  # seconds that the server has to exit after the client has disconnected


class TrafficLog:
    """Log of the tool calls between a client and a memory server.

    A call is written when its answer arrives; days count from the first line of the file. With `hashes`, texts are replaced
    by their hashes. An existing file is appended to.
    """

    def __init__(
        self, path: Path, writer: str, *, hashes: bool = False, clock: Callable[[], datetime] | None = None
    ) -> None:
        self._now = clock or (lambda: datetime.now(UTC))
        self._writer, self._hashes = writer, hashes
        self._start, self._last, self._items_of = _resumed(path, hashes=hashes)
        self._path = path
        path.open("a", encoding="utf-8").close()  # raise now, before any message is passed on, if the log cannot be written
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}

    def sent(self, message: bytes) -> None:
        """Process a message from the client. A tool call is remembered until its answer arrives."""
        for item in _messages(message):
            params = item.get("params")
            if item.get("method") == "tools/call" and isinstance(params, dict) and "id" in item:
                arguments = params["arguments"] if isinstance(params.get("arguments"), dict) else {}
                self._calls[json.dumps(item["id"])] = (str(params.get("name")), arguments)

    def answered(self, message: bytes) -> None:
        """Process a message from the server. If the message answers a tool call, log the call with its answer."""
        for item in _messages(message):
            call = self._calls.pop(json.dumps(item.get("id")), None) if "method" not in item else None
            if call is not None:
                self._write(*call, item)

    def _write(self, tool: str, arguments: dict[str, Any], answer: dict[str, Any]) -> None:
        now = self._now()
        self._start = self._start or now
        self._last = max(self._last, (now - self._start).total_seconds() / DAY)
        text, failed = _text_of(answer)
        events = [CallEvent("error", query=text)] if failed else events_of(tool, arguments, text, self._items_of)
        writer = next((arguments[name] for name in ("writer", "agent_id", "agent", "user_id") if arguments.get(name)), None)
        with self._path.open("a", encoding="utf-8") as file:
            for event in events:
                for item in self._items(event):
                    fields = self._fields(event, item, str(writer or self._writer), None if failed else text)
                    line = {"t": self._last, **fields, "tool": withheld(tool)[:LONGEST], "at": now.isoformat()}
                    file.write(json.dumps(line) + "\n")

    def _items(self, event: CallEvent) -> list[str | None]:
        """Return the items that an event concerns: the written or deleted item, all items of a deleted object, or [None]."""
        if event.kind not in ("write", "delete") or event.object is None:
            return [None]
        item = item_name(self._text(event.object), self._text(event.value))
        if event.kind == "write":
            self._items_of.setdefault(event.object, {})[item] = None
            return [item]
        items = self._items_of.get(event.object, {})
        deleted = [item] if item in items else [*items] if event.value is None else []
        for name in deleted:
            del items[name]
        return [*deleted] or [None]

    def _fields(self, event: CallEvent, item: str | None, writer: str, text: str | None) -> dict[str, Any]:
        """Return the fields of a log line that are not None. With `hashes`, only tools and writers remain readable."""
        fields = {
            "event": event.kind, "item": item, "object": self._text(event.object), "value": self._text(event.value),
            "writer": withheld(writer),
            "belief": event.belief, "query": self._text(event.query),
            "answer": self._text(text) if event.kind == "read" else None,
        }  # fmt: skip
        return {name: value for name, value in fields.items() if value is not None}

    def _text(self, text: str | None) -> str | None:
        """Return the text without credentials, truncated to the maximum length, or its hash if `hashes` is set."""
        if not text:
            return None
        return f"h{hashlib.sha256(text.encode()).hexdigest()[:16]}" if self._hashes else withheld(text)[:LONGEST]


def _messages(line: bytes) -> list[dict[str, Any]]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [item for item in (message if isinstance(message, list) else [message]) if isinstance(item, dict)]


def _text_of(answer: dict[str, Any]) -> tuple[str, bool]:
    if "error" in answer:
        problem = answer["error"]
        return str(problem.get("message") if isinstance(problem, dict) else problem), True
    result = answer.get("result")
    result = result if isinstance(result, dict) else {}
    parts = result.get("content")
    texts = [str(part.get("text", "")) for part in (parts if isinstance(parts, list) else []) if isinstance(part, dict)]
    return "\n".join(texts), bool(result.get("isError"))


def _resumed(path: Path, *, hashes: bool) -> tuple[datetime | None, float, dict[str, dict[str, None]]]:
    """Read an existing log, and remove an incomplete last line.

    Return the time of day 0, the last day, and each object's items.
    """
    start, last, items = None, 0.0, dict[str, dict[str, None]]()
    if not path.is_file():
        return start, last, items
    whole = path.read_bytes()
    end = whole.rfind(b"\n") + 1
    for number, text in enumerate(whole[:end].decode("utf-8-sig", "replace").splitlines(), 1):
        try:
            line = json.loads(text)
            last = float(line["t"])
            start = start or datetime.fromisoformat(line["at"])
            if line["event"] == "write" and "object" in line and not hashes:
                items.setdefault(str(line["object"]), {})[str(line["item"])] = None
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            where, hint = f"{path}:{number}", "choose another file"
            raise UsageError("not a log written by `malsim agent record`", where=where, hint=hint) from None
    if start and end < len(whole):
        path.write_bytes(whole[:end])
    return start, last, items


def record(command: Sequence[str], log: TrafficLog, *, client: BinaryIO, answers: BinaryIO) -> int:
    """Run a server between `client` and `answers`, log the client's calls, and return the server's exit code.

    The server inherits stderr. It ends when the client does, and the recorder ends with the server. A log that cannot be
    written is reported once on stderr, while messages are still passed on. Raises `OSError` if the command cannot start.
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
    line = bytearray()
    with suppress(OSError):
        while chunk := os.read(source.fileno(), CHUNK):
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                copy(bytes(line + part))  # queued first, so that the log receives a call before its answer
                line.clear()
            line += rest if len(line) < LONGEST_LINE else b""
            target.write(chunk)
            target.flush()


def _copy(copies: Copies, note: Callable[[bytes], None], line: bytes) -> None:
    """Queue a message for the log. If the queue stays full, drop the message and report this on stderr."""
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
