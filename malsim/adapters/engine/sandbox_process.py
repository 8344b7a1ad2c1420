"""Process of a sandbox: a loop that reads calls, runs each under an alarm, and writes the answers as JSON."""

from __future__ import annotations

import faulthandler
import json
import os
import pickle
import shutil
import signal
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from malsim.adapters.engine.host import MAKE, Ask, Host, OverLimit
from malsim.adapters.foreign_code import LOADING, MARK, noted
from malsim.base.limits import bound_memory

if TYPE_CHECKING:
    from collections.abc import Iterator


def main(channel: int) -> None:
    """Serve calls until the bench closes its end; then clear the folder, and end with the whole process group."""
    os.set_inheritable(channel, False)
    pipe = Connection(channel)
    settings = pickle.loads(pipe.recv_bytes())  # noqa: S301  # from the bench
    bound_memory(settings["memory"])
    faulthandler.enable()
    host = Host(settings["source"], settings["name"], _Alarm(settings["limit"]).during)
    while True:
        try:
            asks = pickle.loads(pipe.recv_bytes())  # noqa: S301
        except (EOFError, OSError):
            shutil.rmtree(os.environ[MARK], ignore_errors=True)
            os.killpg(0, signal.SIGKILL)
        pipe.send_bytes(json.dumps(list(host.each(asks))).encode())


class _Alarm:
    """Alarm that notes each call, and interrupts a call that exceeds its limit if Python allows it."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    @contextmanager
    def during(self, place: int, ask: Ask) -> Iterator[None]:
        allowed = max(self._limit, LOADING) if ask.call == MAKE else self._limit  # a memory may import as it is made

        def ring(*_: object) -> None:
            raise OverLimit(allowed)

        signal.signal(signal.SIGALRM, ring)
        with noted(str(place), allowed):
            signal.setitimer(signal.ITIMER_REAL, allowed)
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
