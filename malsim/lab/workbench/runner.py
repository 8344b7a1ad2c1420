"""Thread that runs the newest change, so that the page stays responsive."""

from __future__ import annotations

import threading
import time
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING

from malsim.base.errors import MalsimError
from malsim.lab.workbench.changes import Result, Tuning, run_tuning
from ops import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LONG = 0.4  # seconds after which a run gives way to a newer change
PROGRESS = 0.2  # seconds after which a run shows how far it is
EVERY = 0.1


class _GivenUpError(Exception):
    """Raised in a run to abandon it for a newer change."""


class Runner:
    """Runner of one tuning at a time; of the tunings that arrive meanwhile only the newest is kept.

    `schedule` calls a function on the page's own thread. `done` is given the result, `failed` the message of an error and
    `progress` the share of the ticks that are made, -1 once none are awaited. With `at_once` a tuning is run on the thread
    that asks, as a notebook needs.
    """

    def __init__(
        self,
        schedule: Callable[[Callable[[], None]], None],
        *,
        done: Callable[[Result], None],
        failed: Callable[[Tuning, str], None],
        progress: Callable[[float], None],
        at_once: bool = False,
    ) -> None:
        self._at_once = at_once
        self._schedule, self._done, self._failed, self._progress = schedule, done, failed, progress
        self._lock = threading.Lock()
        self._next: Tuning | None = None
        self._busy = False

    def ask(self, tuning: Tuning) -> None:
        """Run a tuning after the run in progress, or immediately if there is none."""
        if self._at_once:
            self._run(tuning)
            return
        with self._lock:
            self._next = tuning
            if self._busy:
                return
            self._busy = True
        work = partial(copy_context().run, self._work)  # under the limits in force here
        threading.Thread(target=work, daemon=True, name="malsim workbench").start()

    def _work(self) -> None:
        while True:
            with self._lock:
                tuning, self._next = self._next, None
                if tuning is None:
                    self._busy = False
                    break
            self._run(tuning)

    def _run(self, tuning: Tuning) -> None:
        try:
            result = run_tuning(tuning, watch=self._watch)
        except _GivenUpError:
            return
        except (MalsimError, OpError) as problem:
            self._tell(partial(self._failed, tuning, str(problem)))
        except (Exception, SystemExit) as crash:  # noqa: BLE001  # an error of the engine never ends the page
            self._tell(partial(self._failed, tuning, f"the run broke off: {type(crash).__name__}: {crash}"))
        else:
            self._tell(partial(self._done, result))

    def _tell(self, show: Callable[[], None]) -> None:
        def tell() -> None:
            self._progress(-1.0)
            show()

        self._schedule(tell)

    def _watch(self, times: Sequence[int]) -> Iterator[int]:
        """Yield the ticks, report progress, and abandon the run if a newer change waits."""
        start = reported = time.monotonic()
        for number, at in enumerate(times):
            now = time.monotonic()
            if now - start > LONG and self._next is not None:
                raise _GivenUpError
            if now - start > PROGRESS and now - reported > EVERY:
                reported = now
                self._schedule(partial(self._progress, number / len(times)))
            yield at
