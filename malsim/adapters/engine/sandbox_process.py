"""What runs in a sandbox: a loop that reads calls, makes them under an alarm, and writes what they answered as JSON.

Only plain JSON leaves it: what a stranger's code could put into a pickle would be run by whoever opens it.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import pickle
import resource
import signal
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.host import MAKE, Ask, Host, OverLimit, Watch

if TYPE_CHECKING:
    from collections.abc import Mapping

IMPORTING = 60.0  # seconds: making a memory may also import what it is made of
PLACE = 8  # bytes of the place that is shared with the bench


def may_take(ask: Ask, limit: float) -> float:
    """Seconds that a call may take."""
    return max(limit, IMPORTING) if ask.call == MAKE else limit


class _Alarm(Watch):
    """Tells the bench which call is being made, and interrupts one that goes on for too long where Python lets it."""

    catches = (BaseException,)

    def __init__(self, limit: float, shared: mmap.mmap) -> None:
        self._limit, self._shared, self._process = limit, shared, os.getpid()
        self._allowed, self._armed, self._rang = limit, False, False
        signal.signal(signal.SIGALRM, self._ring)

    def begin(self, place: int, ask: Ask) -> None:
        self._shared[:PLACE] = place.to_bytes(PLACE, "little", signed=True)
        self._allowed, self._armed, self._rang = may_take(ask, self._limit), True, False
        signal.setitimer(signal.ITIMER_REAL, self._allowed)

    def end(self) -> None:
        self.over()
        if self._rang:  # it has swallowed what interrupted it
            raise OverLimit(self._allowed)

    def over(self) -> None:
        self._armed = False
        if os.getpid() != self._process:  # a child that came back from a call is not the one that was asked
            os._exit(0)

    def _ring(self, *_: object) -> None:
        if self._armed:
            self._armed, self._rang = False, True
            raise OverLimit(self._allowed)


def main(channel: int, shared: int) -> None:
    """Serve calls until the bench closes its end."""
    os.set_inheritable(channel, False)
    os.set_inheritable(shared, False)
    pipe, place = Connection(channel), mmap.mmap(shared, PLACE)
    settings = pickle.loads(pipe.recv_bytes())  # noqa: S301  # from the bench
    _limit(settings)
    faulthandler.enable()
    name, source = settings["name"], settings["source"]
    host = Host(source if isinstance(source, str) else _Pickled(source), name, _Alarm(settings["limit"], place))
    while True:
        try:
            asks = pickle.loads(pipe.recv_bytes())  # noqa: S301
        except (EOFError, OSError):
            os._exit(0)  # threads of the memory's own would keep it alive
        answers, broken = host.run(asks)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        pipe.send_bytes(json.dumps([answers, broken]).encode())


class _Pickled:
    """A factory that is unpickled when it is first asked, under the limit of a call that makes a memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._factory: Any = None

    def __call__(self) -> Any:
        if self._factory is None:
            self._factory = pickle.loads(self._data)  # noqa: S301  # from the bench
        return self._factory()


def _limit(settings: Mapping[str, Any]) -> None:
    """Bound what this process and its children may take: address space, memory of their own, a file's size."""
    for kind, number, firm in (
        (resource.RLIMIT_AS, settings["memory"], False),  # a server may lift it, and has the next
        (resource.RLIMIT_DATA, settings["memory"], True),
        (resource.RLIMIT_FSIZE, settings["file"], True),
        (resource.RLIMIT_CORE, 0, True),
    ):
        _, hard = resource.getrlimit(kind)
        soft = number if hard == resource.RLIM_INFINITY else min(number, hard)
        resource.setrlimit(kind, (soft, soft if firm else hard))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
