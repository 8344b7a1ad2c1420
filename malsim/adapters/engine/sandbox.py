"""A process of its own for a stranger's memories: what may hang, crash, exit, fork or fill a disk does it there.

It has its own process group and temporary folder, limits of memory and file size, and no terminal. A call that goes on for
too long is interrupted where Python lets it, and ended with its process where it does not. When a sandbox stops, its
children and its folder go too; a cleaner sees to that should the bench itself be killed.
"""

from __future__ import annotations

import json
import mmap
import pickle
import tempfile
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Pipe
from typing import TYPE_CHECKING, Any

import cloudpickle

from malsim.adapters.engine.child import GRACE, Child
from malsim.adapters.engine.host import CLOSE, MAKE, Ask, Breakdown
from malsim.adapters.engine.sandbox_process import PLACE, may_take
from malsim.adapters.engine.shown_item import ShownItem, WrongAnswerError, shown_items
from malsim.base.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.host import Answers, Source

FILE = 2**30  # bytes of one file that it writes
ANSWER = 2**28  # bytes of the answers of one batch
SURE = 2**14  # bytes that a pipe takes though nobody reads
START = "from malsim.adapters.engine.sandbox_process import main; main({pipe}, {place})"


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
        with shared:
            places = {"pipe": theirs.fileno(), "place": shared.fileno()}
            self._child = Child(START.format(**places), pass_fds=[*places.values()], first=self._pipe.close)
        theirs.close()
        self.clear = self._child.clear
        settings = {"source": source, "name": name, "limit": limit, "memory": Limits.memory_in_force(), "file": FILE}
        self._deliver(pickle.dumps(settings))

    def send(self, calls: Sequence[Ask]) -> None:
        self._shared[:PLACE] = bytes(PLACE)
        self._deliver(pickle.dumps(calls))

    def _deliver(self, data: bytes) -> None:
        """Write to the process; one that does not read for as long as a call may take is ended, and `receive` says so."""
        timer = threading.Timer(self._limit + GRACE, self._child.process.kill)
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
            if self._child.process.poll() is not None and not self._pipe.poll():
                raise _EndedError(place, self._child.end())  # a child of its own still has the pipe open
            if too_large := self._child.too_large:
                raise _EndedError(place, too_large)
        try:
            answers, broken = json.loads(self._pipe.recv_bytes(ANSWER))
            return _checked(answers, calls), [Breakdown(*each) for each in broken if calls[each[0]]]
        except EOFError:
            raise _EndedError(self._place(calls), self._child.end()) from None
        except (OSError, ValueError, TypeError, LookupError, WrongAnswerError) as problem:
            text = f"its process answered more than {ANSWER} bytes, or what is no answer"
            raise _EndedError(self._place(calls), text) from problem

    def _place(self, calls: Sequence[Ask]) -> int:
        return min(max(int.from_bytes(self._shared[:PLACE], "little", signed=True), 0), len(calls) - 1)


def _checked(answers: Any, calls: Sequence[Ask]) -> list[Any]:
    """One answer a call, looked at again: who can write to the pipe need not have gone by the host's checks."""
    if not isinstance(answers, list) or len(answers) != len(calls):
        raise ValueError
    listed = (ask.call in ("read", "peek") and answer is not None for ask, answer in zip(calls, answers, strict=True))
    return [
        shown_items([dict(zip(ShownItem._fields, item, strict=True)) for item in answer], 0.0) if items else answer
        for items, answer in zip(listed, answers, strict=True)
    ]
