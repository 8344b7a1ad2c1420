"""SimPy's environment with a clock in days, and one sentence for a process that goes wrong."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import Any

import simpy
from simpy.events import NORMAL

from malsim.adapters.calls import text_of
from malsim.base.errors import MalsimError, ProcessError
from malsim.sim.world.clock import DAY, days

_WRONG_YIELD = re.compile(r'File "(.*)", line (\d+), in (\w+)\n.*\nInvalid yield value "(.*)"', re.DOTALL)  # SimPy's words
_NOT_THE_USERS = str(Path(__file__).parents[2]), str(Path(simpy.__file__).parent)


class Environment(simpy.Environment):
    """SimPy environment of one replication: `now` and delays are in days, the clock counts whole milliseconds.

    What is due at a tick is therefore due at it exactly, and happens after it.

    >>> env = Environment()
    >>> _ = env.timeout(0.1), env.timeout(0.3)
    >>> env.advance(25_920_000)
    >>> env.now, env.peek() / DAY
    (0.3, 0.3)
    """

    @property
    def now(self) -> float:
        return float(self._now) / DAY

    def schedule(self, event: simpy.Event, priority: Any = NORMAL, delay: float = 0) -> None:
        """Put an event on the calendar, `delay` days from now."""
        super().schedule(event, priority, round(delay * DAY))

    def advance(self, at: int, *, where: str = "a process") -> None:
        """Advance to a time (ms), before what is due at it. Raises `ProcessError` with the place where a process failed."""
        if at <= self._now:
            return
        try:
            self.run(until=days(at))
        except Exception as problem:
            raise self._failure(problem, where) from problem

    def _failure(self, problem: Exception, where: str) -> ProcessError:
        """Return the failure as one sentence. SimPy raises a copy whose cause is the failure itself."""
        cause = problem.__cause__
        first = cause if isinstance(cause, Exception) and type(cause) is type(problem) else problem
        every = traceback.extract_tb(first.__traceback__)
        frames = [frame for frame in every if not frame.filename.startswith(_NOT_THE_USERS)]
        frames = [frame for frame in frames if frame.filename == frames[0].filename]  # the process's, no library's
        place = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}, " if frames else ""
        place += f"{where}, day {self.now:g}"
        if isinstance(first, ProcessError):
            at = ", ".join(part for part in (first.where, place) if part)
            return ProcessError(first.problem, where=at, given=first.given, allowed=first.allowed, hint=first.hint)
        if wrong := _WRONG_YIELD.search(str(first)):
            place = f"{wrong[1]}:{wrong[2]} in {wrong[3]}, {place}"
            allowed = "an event: env.timeout(…), env.event(), desk.ticked, a request, a get or a put"
            return ProcessError("it did not yield an event", where=place, given=wrong[4], allowed=allowed)
        text = f"raised {first}" if isinstance(first, MalsimError) else text_of(first)
        return ProcessError(f"it {text}", where=place)
