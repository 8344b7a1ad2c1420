"""Thread that runs the latest tuning, so that the page stays responsive."""

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

LONG = 0.4  # seconds after which a run is abandoned if a newer change waits
PROGRESS = 0.2  # seconds after which progress is reported
INTERVAL = 0.1  # seconds between two reports


class _AbandonedError(Exception):
    """Error raised inside a run to abandon it for a newer change."""


class Runner:
    """Runner of one tuning at a time. Of the tunings that arrive during a run, only the latest is kept.

    `schedule` calls a function on the page's thread. `done` receives the result, `failed` the tuning and an error message,
    and `progress` the share of completed ticks, or -1 at the end. With `at_once`, tunings run on the calling thread, as
    notebooks need.
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
        """Run a tuning after the current run, or immediately if the runner is idle."""
        if self._at_once:
            self._run(tuning)
            return
        with self._lock:
            self._next = tuning
            if self._busy:
                return
            self._busy = True
        work = partial(copy_context().run, self._work)  # keep the limits of this context
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
        except _AbandonedError:
            return
        except (MalsimError, OpError) as problem:
            self._tell(partial(self._failed, tuning, str(problem)))
        except (Exception, SystemExit) as crash:  # noqa: BLE001  # a crash of the engine must not end the page
            self._tell(partial(self._failed, tuning, f"the run raised {type(crash).__name__}: {crash}"))
        else:
            self._tell(partial(self._done, result))

    def _tell(self, show: Callable[[], None]) -> None:
        def tell() -> None:
            self._progress(-1.0)
            show()

        self._schedule(tell)

    def _watch(self, times: Sequence[int]) -> Iterator[int]:
        """Yield the ticks and report progress. Abandon the run if a newer change waits."""
        start = reported = time.monotonic()
        for index, time_ms in enumerate(times):
            now = time.monotonic()
            if now - start > LONG and self._next is not None:
                raise _AbandonedError
            if now - start > PROGRESS and now - reported > INTERVAL:
                reported = now
                self._schedule(partial(self._progress, index / len(times)))
            yield time_ms
