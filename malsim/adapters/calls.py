"""Calls to foreign code, made one at a time on a thread that is abandoned if a call does not return."""

from __future__ import annotations

import inspect
import os
import queue
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from malsim.adapters.foreign_code import LIMIT, noted

__all__ = ["LIMIT", "Calls", "awaited", "cut", "every_coroutine_awaited", "plain", "takes_limit", "text_of"]

LONGEST = 2000  # maximum number of characters in an error message
_UNAWAITED = "coroutine '.*' was never awaited"
_thread = threading.local()  # holds one event loop for each thread that makes calls


def awaited(answer: Any) -> Any:
    """Return the result of a call. A coroutine is first run to completion on this thread's event loop."""
    if not hasattr(answer, "__await__"):
        return answer
    import asyncio

    if not hasattr(_thread, "loop"):
        _thread.loop = asyncio.new_event_loop()

    async def wait() -> Any:
        return await answer

    return _thread.loop.run_until_complete(wait())


@contextmanager
def every_coroutine_awaited() -> Iterator[None]:
    """Raise `RuntimeError` if a coroutine created in the block was never awaited, because its code never ran."""
    with warnings.catch_warnings(record=True) as messages:
        warnings.filterwarnings("always", message=_UNAWAITED, category=RuntimeWarning)
        yield
    for item in messages:
        if re.match(_UNAWAITED, str(item.message)):
            raise RuntimeError(f"{item.message}: its code never ran; await it in an `async def`".replace("\n", " "))
        warnings.warn_explicit(item.message, item.category, item.filename, item.lineno, source=item.source)


def end_loop() -> None:
    if hasattr(_thread, "loop"):
        _thread.loop.close()
        del _thread.loop


def text_of(problem: BaseException) -> str:
    """Return the error raised by a call as text of limited length, even if `str` fails on it."""
    try:
        words = str(problem)
    except Exception:  # noqa: BLE001  # foreign code
        words = "the error's text cannot be read"
    return f"raised {type(problem).__name__}: {cut(words)}"


def cut(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"


def plain(given: Any) -> Any:
    """Return a value in a form that fits into an error message: None, a number, or text of limited length."""
    if given is None or type(given) in (bool, int, float):
        return given
    try:
        return cut(given if type(given) is str else repr(given))
    except Exception:  # noqa: BLE001  # foreign code
        return type(given).__name__


def takes_limit(call: Callable[..., Any]) -> bool:
    """Return whether a function accepts a limit as an argument after the query and the day."""
    try:
        inspect.signature(call).bind(None, 0.0, 1)
    except TypeError:
        return False
    except ValueError:  # raised for some builtins, which have no signature
        return True
    return True


class Calls:
    """Thread that runs calls one at a time and is replaced after a call that exceeds the time limit."""

    def __init__(self, limit: float = LIMIT, *, name: str = "") -> None:
        self.limit, self.name = limit, name
        self._begin()

    def _begin(self) -> None:
        self._requests: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(self._requests, self._answers), daemon=True).start()

    def make(self, call: Callable[[], Any]) -> Any:
        """Run the call and return its result or raise its error.

        Raises `TimeoutError` after the limit, and `RuntimeError` if the call exits.
        """
        try:
            with noted(self.name):
                self._requests.put(call)
                fine, answer = self._answers.get(timeout=self.limit)
        except queue.Empty:
            self.end()
            self._begin()  # a late answer from the old thread is ignored
            raise TimeoutError(f"did not return within {self.limit:g} s") from None
        if fine:
            return answer
        if isinstance(answer, Exception):
            raise answer
        raise RuntimeError(f"{type(answer).__name__}: {answer}") from answer

    def end(self) -> None:
        self._requests.put(None)


def _serve(requests: queue.SimpleQueue[Callable[[], Any] | None], answers: queue.SimpleQueue[tuple[bool, Any]]) -> None:
    process = os.getpid()
    while (call := requests.get()) is not None:
        try:
            answer = True, awaited(call())
        except BaseException as problem:  # noqa: BLE001  # foreign code can raise anything, and may exit
            answer = False, problem
        if os.getpid() != process:  # a forked child must not continue past the block
            os._exit(0)
        answers.put(answer)
    end_loop()
