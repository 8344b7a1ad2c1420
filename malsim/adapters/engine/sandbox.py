"""A process for a user's memories: what may hang, crash or exit does it there, and is an error of one sentence here.

It protects from accidents, not from intent. A call that goes on for too long is interrupted where Python lets it, and ended
with its process where it does not.
"""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from multiprocessing.connection import Pipe
from typing import TYPE_CHECKING, Any

import cloudpickle

from malsim.adapters.engine.child import Child, EndedError
from malsim.adapters.engine.host import CLOSE, MAKE, Breakdown
from malsim.adapters.engine.shown_item import ShownItem
from malsim.base.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.host import Answers, Ask, Source


class Sandbox:
    """Memories by number in one process, which is started at the first call and restarted after it has ended."""

    def __init__(self, source: Source, name: str, *, limit: float) -> None:
        code = source if isinstance(source, str) else cloudpickle.dumps(source)
        self._settings = {"source": code, "name": name, "limit": limit}
        self._living: set[int] = set()
        self._ends: dict[int, str] = {}  # what ended the process that a memory lived in
        self._process: _Process | None = None

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """Return what each call answered, None for nothing, and what went wrong; a lost memory's calls are not made."""
        answers: Answers = [None] * len(asks)
        places = [place for place, ask in enumerate(asks) if ask.rep not in self._ends]
        broken = [Breakdown(place, self._ends[ask.rep]) for place, ask in enumerate(asks) if ask.rep in self._ends]
        self._living.update(asks[place].rep for place in places if asks[place].call == MAKE)
        try:
            for place, (answer, problem) in zip(places, self._make([asks[place] for place in places]), strict=True):
                answers[place] = answer
                broken += [Breakdown(*problem)._replace(place=place)] if problem else []
        except EndedError as end:
            culprit = places[int(end.where or 0)]
            self._lose(asks[culprit].rep, str(end))
            broken += [Breakdown(place, self._ends[asks[place].rep]) for place in places if asks[place].rep in self._ends]
            broken = [each for each in broken if asks[each.place].rep != asks[culprit].rep or each.place >= culprit]
        self._living.difference_update(ask.rep for ask in asks if ask.call == CLOSE)
        return answers, sorted(broken, key=lambda each: each.place)

    def _make(self, asks: Sequence[Ask]) -> list[tuple[Any, Any]]:
        if not asks:
            return []
        self._process = self._process or _Process(self._settings)
        return self._process.answers(asks)

    def _lose(self, culprit: int, problem: str) -> None:
        """Record that every memory in the process is lost; the call being made gives the reason."""
        self.stop()
        self._ends |= dict.fromkeys(self._living, f"went with its process, which another's call ended: {problem}")
        self._ends[culprit] = problem
        self._living.clear()

    def stop(self) -> None:
        if self._process is not None:
            self._process.child.clear()
            self._process = None


class _Process:
    """Process with its pipe: calls go in, and their answers come back as JSON."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._pipe, theirs = Pipe()
        code = f"from malsim.adapters.engine.sandbox_process import main; main({theirs.fileno()})"
        self.child = Child(code, pass_fds=[theirs.fileno()])
        theirs.close()
        self._send(settings | {"memory": Limits.memory_in_force()})

    def answers(self, asks: Sequence[Ask]) -> list[tuple[Any, Any]]:
        """Return what the calls answered, each with what went wrong in it; raises `EndedError`."""
        self._send(asks)
        self.child.wait(lambda seconds: self._pipe.poll(seconds) or self.child.process.poll() is not None)
        try:
            pairs: list[Any] = json.loads(self._pipe.recv_bytes()) if self._pipe.poll() else []
        except (EOFError, OSError):
            pairs = []
        if not pairs:
            raise self.child.ended()
        for ask, pair in zip(asks, pairs, strict=True):
            if pair[0] and ask.call in ("read", "peek"):
                pair[0] = [ShownItem(*item) for item in pair[0]]
        return pairs

    def _send(self, what: object) -> None:
        with suppress(OSError):  # it has ended: `answers` says how
            self._pipe.send_bytes(pickle.dumps(what))
