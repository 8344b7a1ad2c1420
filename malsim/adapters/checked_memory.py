"""Checked access to a user's memory for axioms, duties and prices. Calls are sent to a sandbox in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from itertools import count
from typing import Any

from malsim.adapters.calls import LIMIT
from malsim.adapters.contract import Claim, Item, Query
from malsim.adapters.engine.host import CLOSE, MAKE, TOO_LONG, Ask, Breakdown, Host, Source, error_of
from malsim.adapters.engine.sandbox import Sandbox
from malsim.base.errors import AdapterError

__all__ = ["LIMIT", "CheckedMemories", "CheckedMemory", "text_of_claim"]

MANY = 1000


class CheckedMemories:
    """Factory that makes memories of one kind in a single sandbox, or in this process if `trusted`."""

    def __init__(self, source: Source, name: str, *, limit: float = LIMIT, trusted: bool = False) -> None:
        self.name, self._numbers, self._hung = name, count(), dict[str, Breakdown]()
        self._host: Host | Sandbox = Host(source, name) if trusted else Sandbox(source, name, limit=limit)

    def make(self) -> CheckedMemory:
        """Return an empty memory. If making the memory fails, the first call that returns an answer raises the error."""
        return CheckedMemory(self.name, self._host, next(self._numbers), self._hung)

    def declares(self) -> Mapping[str, Any]:
        with closing(self.make()) as memory:
            return memory.declares()

    def close(self) -> None:
        self._host.stop()


class CheckedMemory:
    """Wrapper of a user's memory that limits the time of each call and validates the answers.

    Calls that return nothing are sent with the next call that returns an answer, or on closing. Once a call has exceeded
    its limit (`hung`) in this memory or another memory of its kind, the same call fails at once. Raises `AdapterError` if a
    call raises, exceeds its limit, ends its process, or returns something other than a list of items (of texts, of events),
    NaN, a belief outside 0 to 1 or an unknown status; the error names the memory and the call.
    """

    def __init__(self, name: str, host: Host | Sandbox, number: int, hung: dict[str, Breakdown]) -> None:
        self.name, self._host, self._number, self._hung = name, host, number, hung
        self._waiting = [Ask(number, MAKE)]
        self._now = 0.0
        self._last: Claim | None = None
        # `failed_at` states the day of the failed call and the last claim before it
        self._failed, self.failed_at = False, ""

    def declares(self) -> Mapping[str, Any]:
        return self._answers()[0]  # type: ignore[no-any-return]  # as the host makes it

    def write(self, claims: Sequence[Claim], now: float) -> None:
        self._waiting.append(Ask(self._number, "write", now, list(claims)))

    def tick(self, now: float) -> None:
        self._waiting.append(Ask(self._number, "tick", now))

    def read(self, query: Query, now: float) -> list[Item] | None:
        """Query an object, which counts as a use. Return None if the memory does not answer."""
        return self._items("read", query, now)

    def peek(self, query: Query, now: float, limit: int = MANY) -> list[Item]:
        """Query an object without counting it as a use."""
        return self._items("peek", query, now, limit) or []

    def perform(self, call: str, **arguments: Any) -> None:
        """Make an optional call that changes the memory, with arguments in the order that `contract` declares."""
        self._waiting.append(Ask(self._number, call, arguments.get("now", 0.0), arguments))

    def texts(self) -> list[str]:
        return self._ask(Ask(self._number, "texts", self._now))  # type: ignore[no-any-return]

    def log(self) -> list[Mapping[str, Any]]:
        return self._ask(Ask(self._number, "log", self._now))  # type: ignore[no-any-return]

    def close(self) -> None:
        with suppress(AdapterError) if self._failed else nullcontext():
            self._ask(Ask(self._number, CLOSE))

    def _items(self, call: str, query: Query, now: float, limit: int = MANY) -> list[Item] | None:
        items = self._ask(Ask(self._number, call, now, query, limit))
        return None if items is None else [item._asdict() for item in items]

    def _ask(self, ask: Ask) -> Any:
        self._waiting.append(ask)
        return self._answers()[-1]

    def _answers(self) -> list[Any]:
        asks, self._waiting = self._waiting, []
        self._now = max(self._now, *(ask.now for ask in asks))
        index = next((index for index, ask in enumerate(asks) if ask.call in self._hung), None)
        if index is None:
            answers, broken = self._host.run(asks)
        else:
            answers, broken = [], [self._hung[asks[index].call]._replace(position=index)]
        first = broken[0].position if broken else len(asks)
        self._last = next((ask.about[-1] for ask in asks[first::-1] if ask.call == "write" and ask.about), self._last)  # type: ignore[index]  # claims
        if broken:
            ask, self._failed = asks[first], True
            if broken[0].problem.startswith(TOO_LONG):
                self._hung[ask.call] = broken[0]
            after = f", last claim: {text_of_claim(self._last)}" if self._last else ""
            self.failed_at = f", day {ask.now:.6g}{after}"
            raise error_of(broken[0], f"{self.name}: {ask.call}")
        return answers


def text_of_claim(claim: Claim) -> str:
    return f"{claim.writer} on {claim.object}: {claim.value} at {claim.time:.6g} d"
