"""Calls of third-party ops, with a timeout, checked results, and errors that name the op."""

from __future__ import annotations

import os
import queue
import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache, update_wrapper
from typing import TYPE_CHECKING, Any

import numpy as np

from ops.pin.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["SECONDS", "Foreign", "Listener", "watch", "within_time"]

SECONDS, LONGEST = 10.0, 2000  # timeout of a call in seconds; maximum length of an error message in characters


class Listener:
    """Hooks that run before a third-party op is loaded and while it is called. By default they do nothing."""

    def before_loading(self, where: str) -> None:
        """Run before a third-party op is loaded. May raise an error to prevent loading."""

    def noted(self, where: str) -> AbstractContextManager[None]:  # noqa: ARG002  # what others note
        """Return a context manager that is active while the op is called."""
        return nullcontext()


watch: Any = Listener()  # `malsim.netlist` replaces the listener with its own


class Foreign:
    """Wrapper around the function of a third-party op that enforces a timeout and checks the results.

    Raises
    ------
    OpError
        If the function raises, exits, does not return in time, or returns anything but arrays of its pins.
    """

    def __init__(self, function: Callable[..., Any], name: str, pins: Collection[str]) -> None:
        update_wrapper(self, function)
        self.function, self.name, self.pins = function, name, frozenset(pins)

    def __call__(self, *arguments: Any, **keywords: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Call the third-party op and check the arrays that it returns."""
        answer = within_time(lambda: _quiet(self.function, arguments, keywords), self.name)
        if not isinstance(answer, dict) or not all(isinstance(array, np.ndarray) for array in answer.values()):
            raise OpError("did not return a dict of arrays keyed by pin", where=self.name, given=type(answer).__name__)
        if odd := sorted(set(answer) - self.pins):
            raise OpError("returned an array for an undeclared output", where=self.name, given=odd[0])
        rows = max((keyword.shape[-1] for keyword in (*arguments, *keywords.values()) if np.ndim(keyword)), default=1)
        for pin, array in answer.items():
            if not np.ndim(array) or array.shape[-1] not in (1, rows):
                where = f"{self.name}: {pin}"
                raise OpError("returned the wrong number of rows", where=where, given=array.shape, allowed=f"{rows}")
        return answer


def within_time(call: Callable[[], Any], name: str) -> Any:
    """Run a call on a worker thread and return its result. After a timeout, abandon the thread and raise `OpError`."""
    calls, answers = _worker()
    try:
        with watch.noted(f"op {name}"):
            calls.put(call)
            fine, answer = answers.get(timeout=SECONDS)
    except queue.Empty:
        _worker.cache_clear()
        raise OpError(f"did not return within {SECONDS:g} s", where=name, hint="report it to its author") from None
    if fine:
        return answer
    if isinstance(answer, KeyboardInterrupt | OpError):
        raise answer
    problem = f"raised {type(answer).__name__}: {_words(answer)}"
    raise OpError(problem, where=name, hint="report it to its author") from answer


def _words(problem: BaseException) -> str:
    try:
        return str(problem)[:LONGEST]
    except Exception:  # noqa: BLE001  # a stranger's
        return "its text cannot be read"


def _quiet(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return function(*arguments, **keywords)


@cache
def _worker() -> tuple[queue.SimpleQueue[Callable[[], Any]], queue.SimpleQueue[tuple[bool, Any]]]:
    calls: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
    threading.Thread(target=_serve, args=(calls, answers), daemon=True).start()
    return calls, answers


def _serve(calls: queue.SimpleQueue[Callable[[], Any]], answers: queue.SimpleQueue[tuple[bool, Any]]) -> None:
    process = os.getpid()
    while True:
        try:
            answer = True, calls.get()()
        except BaseException as problem:  # noqa: BLE001  # third-party code can raise anything, and may exit
            answer = False, problem
        if os.getpid() != process:  # if third-party code has forked, the child process must not answer
            os._exit(0)
        answers.put(answer)
