"""A process of its own for a stranger's memories: what may hang, crash, exit, fork or fill a disk does it there.

It has its own process group and temporary folder, limits of memory and file size, and no terminal. A call that goes on for
too long is interrupted where Python lets it, and ended with its process where it does not. When a sandbox stops, its
children and its folder go too; a cleaner sees to that should the bench itself be killed.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from malsim.adapters.engine import sandbox_cleaner
from malsim.adapters.engine.host import CLOSE, MAKE, Ask, Breakdown
from malsim.adapters.engine.sandbox_process import PLACE, may_take
from malsim.adapters.engine.shown_item import ShownItem, WrongAnswerError, shown_items
from malsim.base.limits import Limits
from malsim.base.plain_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.host import Answers, Source

__all__ = ["Sandbox"]

GRACE = 1.0  # seconds beyond a call's limit, after which its process is ended
FILE, FOLDER = 2**30, 2**32  # bytes of one file that it writes, and of all in its folder
ANSWER = 2**28  # bytes of the answers of one batch
SURE = 2**14  # bytes that a pipe takes though nobody reads
TAIL = 500  # characters of what it printed, in an error
START = "import sys; sys.path[:] = {path!r}; from malsim.adapters.engine.sandbox_process import main; main({pipe}, {place})"


class Sandbox:
    """Memories by number in a process that is started when it is first asked, and anew after it has ended."""

    def __init__(self, source: Source, name: str, *, limit: float) -> None:
        self._source = source if isinstance(source, str) else cloudpickle.dumps(source)
        self._name, self._limit = name, limit
        self._living: set[int] = set()
        self._problems: dict[int, str] = {}
        self._process: _Process | None = None
        self._asks: list[tuple[int, Ask]] = []
        self._unasked: list[Breakdown] = []

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """What each call answered, None where nothing; and what went wrong."""
        self.send(asks)
        return self.receive(len(asks))

    def send(self, asks: Sequence[Ask]) -> None:
        """Hand calls over; those of memories that went with their process are not made."""
        problems = self._problems
        self._unasked = [Breakdown(place, problems[ask.rep]) for place, ask in enumerate(asks) if ask.rep in problems]
        self._asks = [(place, ask) for place, ask in enumerate(asks) if ask.rep not in problems]
        self._living.update(ask.rep for _, ask in self._asks if ask.call == MAKE)
        if self._asks:
            self._process = self._process or _Process(self._source, self._name, self._limit)
            self._process.send([ask for _, ask in self._asks])

    def receive(self, count: int) -> tuple[Answers, list[Breakdown]]:
        """What the calls answered that were sent last, of which there were so many."""
        answers: Answers = [None] * count
        if not self._asks:
            return answers, self._unasked
        calls = [ask for _, ask in self._asks]
        try:
            part, broken = self._process.receive(calls)  # type: ignore[union-attr]  # it was sent to
        except _EndedError as end:
            part, broken = [None] * len(calls), self._ended(calls, end)
        for (place, _), answer in zip(self._asks, part, strict=True):
            answers[place] = answer
        self._living.difference_update(ask.rep for ask in calls if ask.call == CLOSE)
        broken = [each._replace(place=self._asks[each.place][0]) for each in broken]
        return answers, sorted(self._unasked + broken, key=lambda each: each.place)

    def _ended(self, calls: Sequence[Ask], end: _EndedError) -> list[Breakdown]:
        """Every memory that lived there is lost; the call that was being made says why."""
        self.stop()
        culprit = calls[end.place].rep
        others = f"went with its process, which another's call ended: {end.problem}"
        self._problems |= dict.fromkeys(self._living, others) | {culprit: end.problem}
        self._living.clear()
        first = {ask.rep: place for place, ask in reversed(list(enumerate(calls)))} | {culprit: end.place}
        return [Breakdown(place, self._problems[rep]) for rep, place in first.items() if rep in self._problems]

    def stop(self) -> None:
        """End the process with all that it started, and clear its folder."""
        if self._process is not None:
            self._process.clear()
            self._process = None


class _EndedError(Exception):
    """The process has ended, in the call at a place."""

    def __init__(self, place: int, problem: str) -> None:
        super().__init__(problem)
        self.place, self.problem = place, problem


class _Process:
    """The process, its pipe, and the place of the call that it is making."""

    def __init__(self, source: str | bytes, name: str, limit: float) -> None:
        self._limit = limit
        self._pipe, theirs = Pipe()
        shared = tempfile.TemporaryFile()  # noqa: SIM115  # it lives as long as its mapping
        shared.write(bytes(PLACE))
        shared.flush()
        self._shared = mmap.mmap(shared.fileno(), PLACE)
        self._folder = tempfile.mkdtemp(prefix="malsim-")
        places = {"pipe": theirs.fileno(), "place": shared.fileno()}
        with shared, Path(self._folder, "output").open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603  # this interpreter
                [sys.executable, "-c", START.format(path=sys.path, **places)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self._environment(),
                start_new_session=True, pass_fds=tuple(places.values()),
            )  # fmt: skip
        theirs.close()
        self.clear = weakref.finalize(self, _clear, self._process, self._pipe, self._folder)
        _tell_cleaner("+", self._process.pid, self._folder)
        settings = {"source": source, "name": name, "limit": limit, "memory": Limits.memory_in_force(), "file": FILE}
        self._deliver(pickle.dumps(settings))

    def _environment(self) -> dict[str, str]:
        """The user's own, but for the place of temporary files; the order of a set is the same in every run."""
        own = dict.fromkeys(("TMPDIR", "TMP", "TEMP", sandbox_cleaner.MARK), self._folder)
        return {"PYTHONHASHSEED": "0"} | os.environ | own

    def send(self, calls: Sequence[Ask]) -> None:
        self._shared[:PLACE] = bytes(PLACE)
        self._deliver(pickle.dumps(calls))

    def _deliver(self, data: bytes) -> None:
        """Write to the process; one that does not read for as long as a call may take is ended, and `receive` says so."""
        timer = threading.Timer(self._limit + GRACE, self._process.kill)
        if long := len(data) > SURE:
            timer.start()
        with suppress(OSError):
            self._pipe.send_bytes(data)
        if long:
            timer.cancel()

    def receive(self, calls: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """What the calls answered; raises `_EndedError`."""
        place, since = self._place(calls), time.monotonic()
        while not self._pipe.poll(min(self._limit / 4.0, 1.0)):
            before, place = place, self._place(calls)
            if place != before:
                since = time.monotonic()
            allowed = may_take(calls[place], self._limit)
            if time.monotonic() - since > allowed + GRACE:
                raise _EndedError(place, f"did not return within {allowed:g} s")
            if self._process.poll() is not None and not self._pipe.poll():
                raise _EndedError(place, self._end())  # a child of its own still has the pipe open
            if _bytes_in(self._folder) > FOLDER:
                raise _EndedError(place, f"wrote more than {FOLDER} bytes into its folder")
        try:
            answers, broken = json.loads(self._pipe.recv_bytes(ANSWER))
            return _checked(answers, calls), [Breakdown(*each) for each in broken if calls[each[0]]]
        except EOFError:
            raise _EndedError(self._place(calls), self._end()) from None
        except (OSError, ValueError, TypeError, LookupError, WrongAnswerError) as problem:
            text = f"its process answered more than {ANSWER} bytes, or what is no answer"
            raise _EndedError(self._place(calls), text) from problem

    def _place(self, calls: Sequence[Ask]) -> int:
        return min(max(int.from_bytes(self._shared[:PLACE], "little", signed=True), 0), len(calls) - 1)

    def _end(self) -> str:
        """How the process ended, and the last that it printed."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        code = self._process.poll()
        how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
        with suppress(OSError):
            text = plain_text(Path(self._folder, "output").read_text(encoding="utf-8", errors="replace")[-TAIL:].strip())
            return f"its process ended ({how})" + (f"; it printed: {text}" if text else "")
        return f"its process ended ({how})"


def _checked(answers: Any, calls: Sequence[Ask]) -> list[Any]:
    """One answer a call, looked at again: who can write to the pipe need not have gone by the host's checks."""
    if not isinstance(answers, list) or len(answers) != len(calls):
        raise ValueError
    listed = (ask.call in ("read", "peek") and answer is not None for ask, answer in zip(calls, answers, strict=True))
    return [
        shown_items([dict(zip(ShownItem._fields, item, strict=True)) for item in answer], 0.0) if items else answer
        for items, answer in zip(listed, answers, strict=True)
    ]


def _bytes_in(folder: str) -> int:
    return sum(_size(Path(path, name)) for path, _, names in os.walk(folder) for name in names)


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.lstat().st_blocks * 512
    return 0


def _clear(process: subprocess.Popen[bytes], pipe: Connection, folder: str) -> None:
    pipe.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.2)  # it ends by itself at the end of its pipe, and flushes nothing
    sandbox_cleaner.clear(process.pid, folder)
    process.wait()
    _tell_cleaner("-", process.pid, folder)


_cleaner: dict[int, int] = {}  # where to tell it, by the process that started it: a fork has none of its own


def _tell_cleaner(sign: str, group: int, folder: str) -> None:
    """Start the cleaner where there is none; without one, a bench that is killed leaves its folders."""
    here = os.getpid()
    if here not in _cleaner:
        theirs, ours = os.pipe()
        command = [sys.executable, "-I", "-S", sandbox_cleaner.__file__]
        actions = [(os.POSIX_SPAWN_DUP2, theirs, 0)]
        os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setpgroup=0)
        os.close(theirs)
        _cleaner.clear()
        _cleaner[here] = ours
    with suppress(OSError):
        os.write(_cleaner[here], f"{sign} {group} {folder}\n".encode())
