"""Calls of a stranger's code, made one at a time on a thread that is left behind when one does not come back."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LIMIT", "Calls"]

LIMIT = 10.0  # seconds a call


class Calls:
    """A thread that makes calls for us.

    >>> calls = Calls()
    >>> calls.make(lambda: 2 + 2)
    4
    >>> calls.make(lambda: exit("no"))
    Traceback (most recent call last):
        ...
    RuntimeError: SystemExit: no
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._begin()

    def _begin(self) -> None:
        self._asked: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._given: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(self._asked, self._given), daemon=True).start()

    def make(self, call: Callable[[], Any]) -> Any:
        """What a call gives, or what it raises; `TimeoutError` after the limit, `RuntimeError` where it would exit."""
        self._asked.put(call)
        try:
            fine, found = self._given.get(timeout=self.limit)
        except queue.Empty:
            self.end()
            self._begin()  # what the old thread still answers is nobody's
            raise TimeoutError(f"did not return within {self.limit:g} s") from None
        if fine:
            return found
        if isinstance(found, Exception):
            raise found
        raise RuntimeError(f"{type(found).__name__}: {found}") from found

    def end(self) -> None:
        """Let the thread end when it has nothing left to do."""
        self._asked.put(None)


def _serve(asked: queue.SimpleQueue[Callable[[], Any] | None], given: queue.SimpleQueue[tuple[bool, Any]]) -> None:
    while (call := asked.get()) is not None:
        try:
            given.put((True, call()))
        except BaseException as problem:  # noqa: BLE001  # a stranger's code can raise anything, and may exit
            given.put((False, problem))
