"""Subprocesses for foreign code: one for all memories of a kind, or one for a whole command.

A sandbox protects against accidents, not against malice. A call that exceeds its limit is interrupted if Python allows
it; otherwise its process is ended.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from malsim.adapters.engine.host import CLOSE, MAKE, Breakdown, ShownItem, seconds_for
from malsim.adapters.foreign_code import MARK, calls_in
from malsim.base.errors import AdapterError
from malsim.base.limits import Limits
from malsim.base.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.adapters.engine.host import Answers, Ask, Source

GRACE = 1.0  # seconds beyond a call's limit before its process is killed
LOOK = 0.25  # seconds between checks of the process
TAIL = 500  # number of characters that an error shows from the end of the output
COMMAND = "from malsim.cli import main; sys.exit(main())"


class Child:
    """Python subprocess that runs a line of code, with its own process group and temporary folder.

    The output goes to the folder, or to `streams`. The folder and the process group are removed with this object.
    """

    def __init__(self, code: str, *words: str, pass_fds: Sequence[int] = (), **streams: Any) -> None:
        self.folder = tempfile.mkdtemp(prefix="malsim-")
        command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}", *words]
        environment = {"PYTHONHASHSEED": "0"} | os.environ | dict.fromkeys(("TMPDIR", MARK), self.folder)
        with Path(self.folder, "output").open("wb") as output:
            given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output} | streams
            self.process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  # this interpreter
                command, env=environment, start_new_session=True, pass_fds=tuple(pass_fds), **given
            )
        self.clear = weakref.finalize(self, _clear, self.process, self.folder)

    def ending(self) -> str:
        """Return a message with the exit code or signal of the process and the end of its output."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)
        code = self.process.poll()
        how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
        text = one_line(Path(self.folder, "output").read_bytes()[-4 * TAIL :].decode("utf-8", "replace")[-TAIL:].strip())
        return f"its process ended ({how})" + (f"; it printed: {text}" if text else "")


def _clear(process: subprocess.Popen[bytes], folder: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


class Sandbox:
    """Collection of memories in one subprocess, which is started at the first call and restarted if it ends."""

    def __init__(self, source: Source, name: str, *, limit: float) -> None:
        code = source if isinstance(source, str) else cloudpickle.dumps(source)
        self._settings, self._limit = {"source": code, "name": name, "limit": limit}, limit
        self._living: set[int] = set()
        self._ends: dict[int, str] = {}  # maps a memory's number to the reason why its process ended
        self.child: Child | None = None
        self._pipe: Any = None

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """Return each call's answer (None if it has none) and the failed calls. Calls to a lost memory all fail."""
        answers: Answers = [None] * len(asks)
        broken = list[Breakdown]()
        calls = [ask for ask in asks if ask.rep not in self._ends]
        self._living.update(ask.rep for ask in calls if ask.call == MAKE)
        if calls:
            self._send(calls)
        for position, ask in enumerate(asks):
            if ask.rep not in self._ends:
                try:
                    answers[position], problem = self._answer(ask)
                except ChildProcessError as end:  # the process ended, so all memories in it are lost
                    self.stop()
                    self._ends |= dict.fromkeys(self._living, f"a call of another memory ended its process: {end}")
                    self._ends[ask.rep] = str(end)
                    self._living.clear()
                else:
                    broken += [Breakdown(*problem)._replace(position=position)] if problem else []
            if ask.rep in self._ends:
                broken.append(Breakdown(position, self._ends[ask.rep]))
        self._living.difference_update(ask.rep for ask in asks if ask.call == CLOSE)
        return answers, broken

    def _send(self, asks: list[Ask]) -> None:
        if self.child is None:
            self._pipe, theirs = Pipe()
            code = f"from malsim.adapters.engine.host import serve; serve({theirs.fileno()})"
            self.child = Child(code, pass_fds=[theirs.fileno()])
            theirs.close()
            self._pipe.send_bytes(pickle.dumps(self._settings | {"memory": Limits.memory_in_force()}))
        with suppress(OSError):  # raised if the process has ended; `_answer` gives the reason
            self._pipe.send_bytes(pickle.dumps(asks))

    def _answer(self, ask: Ask) -> tuple[Any, Any]:
        """Return a call's answer and its error, if any. Raises `ChildProcessError` if the process ends or hangs."""
        assert self.child is not None  # noqa: S101  # `_send` was called
        seconds = seconds_for(ask.call, self._limit)
        deadline = time.monotonic() + seconds + GRACE
        while not self._pipe.poll(LOOK) and self.child.process.poll() is None:
            if time.monotonic() > deadline:
                raise ChildProcessError(f"did not return within {seconds:g} s")
        message = b""
        with suppress(EOFError, OSError):
            message = self._pipe.recv_bytes() if self._pipe.poll() else b""
        if not message:
            raise ChildProcessError(self.child.ending())
        answer, problem = json.loads(message)
        if answer and ask.call in ("read", "peek"):
            answer = [ShownItem(*item) for item in answer]
        return answer, problem

    def stop(self) -> None:
        if self.child is not None:
            self.child.clear()
            self.child = None


def run_sandboxed(words: Sequence[str], *, given: str | None = None) -> int:
    """Run a command in a sandbox and return its exit code.

    `given` is the command's stdin if this process has already read it. Raises `AdapterError` if foreign code ends the
    process or does not return in time, even if the code holds the interpreter lock.
    """
    hint = "report it to its author"
    with _streams(given) as streams:
        child = Child(COMMAND, *words, **streams)
        try:
            while child.process.poll() is None:
                try:
                    child.process.wait(LOOK)
                except KeyboardInterrupt:  # passed on to the child, which has no terminal
                    child.process.send_signal(signal.SIGINT)
                except subprocess.TimeoutExpired:
                    for note in calls_in(child.folder):
                        if time.monotonic() > note.deadline + GRACE:
                            raise AdapterError(
                                f"did not return within {note.limit:g} s", where=note.where, hint=hint
                            ) from None
            calls = [note.where for note in calls_in(child.folder)]
            if child.process.returncode < 0 or calls:
                raise AdapterError(child.ending(), where=calls[0] if calls else "code of another package", hint=hint)
            return int(child.process.returncode)
        finally:
            child.clear()


@contextmanager
def _streams(text: str | None) -> Iterator[dict[str, Any]]:
    """Yield stdin, stdout and stderr for a child process. Output streams without a file descriptor use temporary files."""
    with ExitStack() as files:
        source: Any = sys.stdin if _is_file(sys.stdin) else subprocess.DEVNULL
        if text is not None:
            source = files.enter_context(tempfile.TemporaryFile())
            source.write(text.encode("utf-8", "replace"))
            source.seek(0)
        streams: dict[str, Any] = {"stdin": source}
        for name in ("stdout", "stderr"):
            stream = streams[name] = getattr(sys, name)
            if _is_file(stream):
                stream.flush()
            else:
                streams[name] = files.enter_context(tempfile.TemporaryFile())
                files.callback(_copy, streams[name], stream)
        yield streams


def _is_file(stream: Any) -> bool:
    try:
        return bool(stream.fileno() >= 0)
    except (AttributeError, OSError, ValueError):
        return False


def _copy(file: Any, stream: Any) -> None:
    file.seek(0)
    stream.write(file.read().decode("utf-8", "replace"))
