"""Processes of their own for code of other packages; a sandbox runs the memories of one kind in one of them.

It protects from accidents, not from intent. A call that goes on for too long is interrupted where Python lets it, and ended
with its process where it does not.
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
from contextlib import suppress
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from malsim.adapters.engine.host import CLOSE, MAKE, Breakdown, seconds_for
from malsim.adapters.engine.shown_item import ShownItem
from malsim.adapters.foreign_code import MARK, calls_in
from malsim.base.limits import Limits
from malsim.base.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.adapters.engine.host import Answers, Ask, Source

GRACE = 1.0  # seconds beyond a call's limit, after which its process is ended
LOOK = 0.25  # seconds between two looks at the process
TAIL = 500  # characters of its output that an error shows


class EndedError(Exception):
    """Error of a process that ended or was given up; `where` names the call that it was making."""

    def __init__(self, problem: str, where: str = "") -> None:
        super().__init__(problem)
        self.where = where


class Child:
    """Child interpreter that runs a line of code, with a process group and a temporary folder of its own.

    Its output goes into the folder, or to `streams`. Folder and process group end with this object.
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

    def wait(self, ready: Callable[[float], bool]) -> None:
        """Wait until `ready`, called with a time-out in seconds, is true. Raises `EndedError` if a call takes too long."""
        while not ready(LOOK):
            for note in calls_in(self.folder):
                if time.monotonic() > note.deadline + GRACE:
                    raise EndedError(f"did not return within {note.limit:g} s", note.where)

    def check_end(self) -> None:
        if self.process.returncode < 0 or calls_in(self.folder):
            raise self.ended()

    def ended(self) -> EndedError:
        """Return an error with the exit code or signal, the call being made, and the end of the output."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)
        code = self.process.poll()
        how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
        text = one_line(Path(self.folder, "output").read_bytes()[-4 * TAIL :].decode("utf-8", "replace")[-TAIL:].strip())
        where = next((note.where for note in calls_in(self.folder)), "")
        return EndedError(f"its process ended ({how})" + (f"; it printed: {text}" if text else ""), where)


def _clear(process: subprocess.Popen[bytes], folder: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


class Sandbox:
    """Memories by number in one process, which is started at the first call and restarted after it has ended."""

    def __init__(self, source: Source, name: str, *, limit: float) -> None:
        code = source if isinstance(source, str) else cloudpickle.dumps(source)
        self._settings, self._limit = {"source": code, "name": name, "limit": limit}, limit
        self._living: set[int] = set()
        self._ends: dict[int, str] = {}  # by memory: what ended its process
        self.child: Child | None = None
        self._pipe: Any = None

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """Return the answer of each call (None if it has none) and the failed calls; calls of lost memories all fail."""
        answers: Answers = [None] * len(asks)
        broken = list[Breakdown]()
        calls = [ask for ask in asks if ask.rep not in self._ends]
        self._living.update(ask.rep for ask in calls if ask.call == MAKE)
        if calls:
            self._send(calls)
        for index, ask in enumerate(asks):
            if ask.rep not in self._ends:
                try:
                    answers[index], problem = self._answer(ask)
                except EndedError as end:
                    self._lose(ask.rep, str(end))
                else:
                    broken += [Breakdown(*problem)._replace(place=index)] if problem else []
            if ask.rep in self._ends:
                broken.append(Breakdown(index, self._ends[ask.rep]))
        self._living.difference_update(ask.rep for ask in asks if ask.call == CLOSE)
        return answers, broken

    def _send(self, asks: list[Ask]) -> None:
        if self.child is None:
            self._pipe, theirs = Pipe()
            code = f"from malsim.adapters.engine.host import serve; serve({theirs.fileno()})"
            self.child = Child(code, pass_fds=[theirs.fileno()])
            theirs.close()
            self._pipe.send_bytes(pickle.dumps(self._settings | {"memory": Limits.memory_in_force()}))
        with suppress(OSError):  # it has ended: `_answer` says how
            self._pipe.send_bytes(pickle.dumps(asks))

    def _answer(self, ask: Ask) -> tuple[Any, Any]:
        """Return the answer of a call and what went wrong in it. Raises `EndedError`."""
        assert self.child is not None  # noqa: S101  # `_send` was called
        seconds = seconds_for(ask.call, self._limit)
        deadline = time.monotonic() + seconds + GRACE
        while not self._pipe.poll(LOOK) and self.child.process.poll() is None:
            if time.monotonic() > deadline:
                raise EndedError(f"did not return within {seconds:g} s")
        try:
            message = self._pipe.recv_bytes() if self._pipe.poll() else b""
        except (EOFError, OSError):
            message = b""
        if not message:
            raise self.child.ended()
        answer, problem = json.loads(message)
        if answer and ask.call in ("read", "peek"):
            answer = [ShownItem(*item) for item in answer]
        return answer, problem

    def _lose(self, culprit: int, problem: str) -> None:
        """Record that every memory in the process is lost; the call being made gives the reason."""
        self.stop()
        self._ends |= dict.fromkeys(self._living, f"went with its process, which another's call ended: {problem}")
        self._ends[culprit] = problem
        self._living.clear()

    def stop(self) -> None:
        if self.child is not None:
            self.child.clear()
            self.child = None
